import { createHash } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { repeatWork } from '#server/kernel/beat'
import type { Caller, Node } from '#server/kernel/context'
import type { Callers } from '#server/kernel/domain'
import { onAnswerEnd } from '#server/kernel/http/deadline'
import { sessionInRequest } from '#server/kernel/http/http-input'
import { briefMemory } from '#server/kernel/store/kept-answers'
import { AppError, errorHeaders } from '#shared/errors'
import { type Budget, budgets } from './budgets.ts'

type Asker = Pick<Caller, 'account' | 'session'>
const nobody: Asker = { account: null, session: null }

/** The most addresses and sessions in memory. */
const mostRemembered = 10_000
/** A full bucket is not read again for this time, so that a flood costs no look-up. */
const fullMilliseconds = 1_000
/** A lost publisher has longer to reconnect. */
export const offerSeconds = 20
const knownMilliseconds = 5 * 60_000

/** Counts HTTP requests by address, then by account, before they are read. */
export function openRequestMeter(node: Pick<Node, 'limits' | 'settings'>, identify: Callers['identify']) {
  const full = briefMemory<true>(mostRemembered)
  const askers = briefMemory<Promise<Asker>>(mostRemembered)

  async function take(name: string, key: string, { most }: Budget, seconds = 60): Promise<boolean> {
    const bucket = `${name} ${key}`
    if (full.get(bucket)) return false
    if (await node.limits.throttle(name, key, most, seconds)) return true
    full.set(bucket, true, fullMilliseconds)
    return false
  }

  /**
   * The account of a request's session, only for counting: it may have ended. Anonymous if the address causes too many
   * look-ups.
   */
  async function askerOf(request: IncomingMessage, address: string): Promise<Asker> {
    const credential = sessionInRequest(request, node.settings.publicUrl)
    if (credential === null) return nobody
    const key = createHash('sha256').update(credential).digest('base64')
    const known = askers.get(key)
    if (known) return known
    if (!(await take('look', address, budgets.looksOfAddress))) return nobody
    const asked = identify(credential, { ip: address, userAgent: '' }).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.status !== 401) askers.delete(key)
      return nobody
    })
    askers.set(key, asked, knownMilliseconds)
    return asked
  }

  return {
    askerOf,
    /** Takes a request of an address, or of the account of its session; false if both are spent. */
    async takeRequest(request: IncomingMessage, address: string): Promise<boolean> {
      if (await take('http', address, budgets.requestsOfAddress)) return true
      const { account } = await askerOf(request, address)
      return account !== null && take('http', account, budgets.requestsOfAddress)
    },
    takeMedia: (address: string) => take('media', address, budgets.mediaOfAddress, 1),
    takeOffer: (address: string) => take('webrtc', address, budgets.offersOfAddress, offerSeconds),
  }
}
export type RequestMeter = ReturnType<typeof openRequestMeter>

const lookMilliseconds = 1_000
/**
 * The least bytes of a body in so many checks, 16 kB a second. A poor mobile line has twice that, and may be away for
 * half of the time.
 */
const looks = 20
const leastBytes = looks * 16_000

interface Coming {
  response: ServerResponse
  /** The bytes of the connection at the last sufficient check, and the checks since. */
  from: number
  seen: number
}

/**
 * Ends requests whose body is slower, by 408, because they hold memory and a connection. Waiting for this server does
 * not count. Checks count instead of time, because a blocked process has read nothing.
 */
export function endSlowBodies(server: Server): void {
  const coming = new Map<IncomingMessage, Coming>()
  server.on('request', (request, response) => {
    if (!hasBody(request)) return
    coming.set(request, { response, from: request.socket.bytesRead, seen: 0 })
    onAnswerEnd(request, response, () => coming.delete(request))
  })
  const stop = repeatWork(lookMilliseconds, () => {
    for (const [request, one] of coming)
      if (request.complete || request.socket.destroyed) coming.delete(request)
      else look(request, one)
  })
  server.once('close', stop)
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

function look(request: IncomingMessage, one: Coming): void {
  const { bytesRead } = request.socket
  one.seen++
  const isForUs = request.isPaused() || request.readableLength > 0
  if (!isForUs && one.seen < looks) return
  if (!isForUs && bytesRead - one.from < leastBytes) return void end(request, one.response)
  Object.assign(one, { from: bytesRead, seen: 0 })
}

/** An answer behind another one cannot be sent yet. The reader of the body is then notified by the request alone. */
function end(request: IncomingMessage, response: ServerResponse): void {
  const leave = () => void request.destroy()
  if (response.headersSent || response.socket === null) leave()
  else response.writeHead(408, { Connection: 'close', [errorHeaders.code]: 'REQUEST_TIMEOUT' }).end(leave)
}
