import type { Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ErrorCode, errorHeaders, errors } from '#shared/errors'

/** Errors whose messages describe a fault of the installation. */
const operatorCodes = ['EBUSY', 'EDAMAGED', 'ENOSPC']

/**
 * The sentence for operators about an error of the start or of a tool; null for a bug. `known` are errors with messages
 * for operators. `variables` is the prefix of the variables of a listener, `variable` the one of a path.
 */
export function operatorSentenceOf(
  error: unknown,
  ...known: readonly (new (
    ...given: never[]
  ) => Error)[]
): string | null {
  if (!(error instanceof Error)) return null
  const { code, syscall, path, message, variables = '', variable } = error as NodeJS.ErrnoException & Blamed
  if (known.some((each) => error instanceof each)) return message
  if (typeof code !== 'string') return null
  if (code.startsWith('ERR_PARSE_ARGS')) return message
  if (syscall === 'listen') {
    const names = code === 'EADDRNOTAVAIL' ? `${variables}HOST` : `${variables}HOST or ${variables}PORT`
    return `${names} cannot be used: ${message.replace(/^listen \w+: /, '')} (${code}).`
  }
  if (syscall === 'getaddrinfo')
    return `${variables}HOST cannot be used: ${message.replace(/^getaddrinfo \w+ /, '')} is not known (${code}).`
  if (syscall && path)
    return `${variable ? `${variable}: ` : ''}${path} cannot be used: ${reasonIn(message)} (${code}).`
  return operatorCodes.includes(code) ? message : null
}

interface Blamed {
  variables?: string
  variable?: string
}

/** `not a directory` of `ENOTDIR: not a directory, mkdir '/data'`. */
const reasonIn = (message: string): string => /^\w+: ([^,]+)/.exec(message)?.[1] ?? message

/** The answers to unreadable requests, by the error of the parser. */
const refusals: Readonly<Record<string, readonly [status: number, reason: string, code: ErrorCode]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'PAYLOAD_TOO_LARGE'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Payload Too Large', 'PAYLOAD_TOO_LARGE'],
  ERR_HTTP_REQUEST_TIMEOUT: [errors.REQUEST_TIMEOUT[0], 'Request Timeout', 'REQUEST_TIMEOUT'],
}
const unreadable = [errors.VALIDATION_ERROR[0], 'Bad Request', 'VALIDATION_ERROR'] as const

/** Answers unreadable requests as Node does, without a body, but with a code; then the connection ends. */
export function refuseUnreadable(server: Server): void {
  const answers = new WeakMap<Duplex, ServerResponse>()
  server.on('request', (request, response) => void answers.set(request.socket, response))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const answer = answers.get(socket)
    const isWithin = answer?.headersSent === true && !answer.writableFinished
    if (!socket.writable || isWithin) return void socket.destroy(error)
    endUnreadable(socket, error.code, error)
  })
}

/** Answers on a connection that is no longer read, by the parser's error. */
export function endUnreadable(socket: Duplex, what = '', error?: Error): void {
  const [status, reason, code] = refusals[what] ?? unreadable
  const lines = [`HTTP/1.1 ${status} ${reason}`, `${errorHeaders.code}: ${code}`, 'Connection: close', '', '']
  socket.end(lines.join('\r\n'), () => void socket.destroy(error))
}
