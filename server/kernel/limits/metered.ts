import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isProxy } from '#server/kernel/addresses'
import { onAnswerEnd } from '#server/kernel/http/answer-end'
import type { Door } from '#server/kernel/http/door'
import type { Media } from '#server/kernel/media'
import { budgets, scaledBudget } from './budgets.ts'
import { offerSeconds } from './request-meter.ts'
import type { RequestServer } from './turns.ts'

/** The seconds to wait after an empty bucket; viewers ask several times in each. */
const retryAfter = { request: 60, media: 2, offer: offerSeconds } as const
export type EmptyBucket = keyof typeof retryAfter
type Refuse = (
  request: IncomingMessage,
  response: ServerResponse,
  refusal: { path: string; emptied: EmptyBucket; retryAfter: number },
) => void

/**
 * Counts each request and refuses excess ones before any look-up. A client that continues after refusals loses its
 * connection.
 */
export function meterRequests(door: Door, media: Media, refuse: Refuse, answer: RequestListener): RequestServer {
  const { kernel, proxies, slots, meter } = door
  const { node } = kernel
  const mostRefused = scaledBudget(budgets.refusedRequests, node.limits.scale)
  const refused = new WeakMap<Socket, number>()

  /** The bucket that refuses a request; null if none does. */
  async function emptiedBy(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    address: string,
  ): Promise<EmptyBucket | null> {
    const kind = media.kindOf(request, path)
    if (kind !== null) response.setHeader('Access-Control-Allow-Origin', '*')
    if (kind === 'there' && !(await meter.takeMedia(address))) return 'media'
    if (kind === 'offer' && !(await meter.takeOffer(address))) return 'offer'
    const isCounted = kind === 'there' || kind === 'offer'
    if (!isCounted && !(await meter.takeRequest(request, address))) return 'request'
    if (kind !== null) return slots.view(request, response) ? null : 'media'
    const asker = () => meter.askerOf(request, address)
    return (await slots.arrive(request, response, asker, node.now())) ? null : 'request'
  }

  /** A proxy's connection carries other clients too. */
  const isShared = ({ remoteAddress = '' }: Socket) => isProxy(proxies, remoteAddress)

  const countRefusal = (socket: Socket) => void refused.set(socket, (refused.get(socket) ?? 0) + 1)

  /** Closes a connection with this answer after too many refusals. */
  function closeRefused(socket: Socket, response: ServerResponse): void {
    if ((refused.get(socket) ?? 0) < mostRefused || isShared(socket)) return
    node.logger.warn({ reason: 'too many refused requests' }, 'closed a connection')
    response.setHeader('Connection', 'close')
  }

  function turnAway(request: IncomingMessage, response: ServerResponse, path: string, emptied: EmptyBucket): void {
    node.metrics.turnedAway()
    countRefusal(request.socket)
    closeRefused(request.socket, response)
    refuse(request, response, { path, emptied, retryAfter: retryAfter[emptied] })
  }

  async function serve(request: IncomingMessage, response: ServerResponse, address: string): Promise<void> {
    const path = pathOf(request)
    const emptied = await emptiedBy(request, response, path, address)
    if (emptied !== null) return turnAway(request, response, path, emptied)
    closeRefused(request.socket, response)
    // Later refusals by budgets of accounts and operations count here too.
    onAnswerEnd(request, response, () => response.statusCode === 429 && countRefusal(request.socket))
    answer(request, response)
  }
  return (request, response, address) => {
    serve(request, response, address).catch((error: unknown) => {
      node.logger.error({ error }, 'a request was not counted')
      request.socket.destroy()
    })
  }
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? ''
