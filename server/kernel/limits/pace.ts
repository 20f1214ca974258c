import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { repeatWork } from '#server/kernel/beat'
import { onAnswerEnd } from '#server/kernel/http/answer-end'
import { errorHeaders } from '#shared/errors'

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
