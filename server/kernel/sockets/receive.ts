import { browserIdOf } from '#server/kernel/http/cookies'
import { whileStoreAnswers } from '#server/kernel/http/deadline'
import { guardPayload } from '#server/kernel/http/http-guards'
import { holdAnswer } from '#server/kernel/http/streams'
import type { Rate } from '#server/kernel/limits/limits'
import { countRefused } from '#server/kernel/limits/metered'
import { nodeState } from '#server/kernel/operate/node-state'
import { sendItems } from '#server/kernel/store/items'
import { AppError } from '#shared/errors'
import type { Namespace } from '#shared/kit/contract'
import { isLocalRequest } from '../addresses.ts'
import type { Bound, Caller, Node } from '../context.ts'
import { newId } from '../ids.ts'
import { invoke } from '../invoke.ts'
import { sharedLook } from '../shared-look.ts'
import type { LiveConnection } from './connection.ts'
import { eventLimitBytes, type SocketDoor } from './handshake.ts'
import { connectionMeterOf, endConnection } from './meter.ts'

/** The operations of a namespace by their events. */
export const eventsOf = (bound: readonly Bound[], namespace: Namespace) =>
  new Map(
    bound.flatMap((one) => {
      const { socket, alsoOn } = one.operation
      const [space, event] = socket?.split(' ') ?? []
      const isHere = space === namespace || space === '*' || alsoOn?.includes(namespace)
      return event !== undefined && isHere ? [[event, one] as const] : []
    }),
  )

type Ack = (answer: unknown) => void

/** Set by the pipeline during a call: the caller's rate, and the last check before the answer. */
interface Seen {
  rate?: Rate
  check?: () => void
}

/** Handles one event of a client. Never throws; always answers if the client asked for an answer. */
export async function receiveEvent(
  door: SocketDoor,
  known: ReadonlyMap<string, Bound>,
  live: LiveConnection,
  event: string,
  args: unknown[],
  isDraining: () => boolean,
) {
  const ack = typeof args.at(-1) === 'function' ? (args.pop() as Ack) : null
  const requestId = newId()
  const seen: Seen = {}
  const { node } = door.kernel
  const meter = connectionMeterOf(live.socket, node.limits.scale)
  try {
    if (!meter.event()) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: 1 })
    if (isDraining()) throw new AppError('SERVICE_UNAVAILABLE', { retryAfter: 1 })
    if (args.length > 1) throw new AppError('VALIDATION_ERROR', { message: 'One payload an event' })
    const bound = known.get(event)
    if (!bound) throw new AppError('NOT_FOUND', { message: 'Unknown event' })
    const { stream } = bound.operation
    if (stream && !ack) throw new AppError('VALIDATION_ERROR', { message: 'A stream is named by its ack' })
    const gone = stream ? live.beginStream(requestId) : null
    if (gone) holdUntil(gone.signal, holdAnswer(door.kernel.node, { caller: live.caller, connection: live.wire }))
    const data = await run(door, bound, live, args.length === 0 ? {} : args[0], requestId, seen, gone)
    seen.check?.()
    const answer = gone ? { stream: requestId } : data
    if (live.protocol === 1) ack?.({ ok: true, data: answer, meta: metaOf(door, requestId, seen) })
    else ack?.({ ok: true, data: bound.operation.lean?.of(answer, args[0] as never) ?? answer })
    if (gone) await sendItems(data as AsyncIterable<unknown>, live, requestId, gone.signal, door.kernel.node.metrics)
  } catch (thrown) {
    live.endStream(requestId)
    const asked = known.get(event)?.operation
    const error =
      asked && !seen.rate
        ? await countRefused(node, asked, live.caller, thrown, (rate) => {
            seen.rate = rate
          })
        : thrown
    const { code, message, status, retryAfter, verdict, details } =
      error instanceof AppError ? error : new AppError('INTERNAL_ERROR')
    if (!(error instanceof AppError)) door.kernel.node.logger.error({ request_id: requestId, error }, 'event failed')
    const extras = {
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...(verdict === undefined ? {} : { verdict }),
      ...(details ? { details } : {}),
    }
    ack?.({ ok: false, error: { code, message, status, ...extras }, meta: metaOf(door, requestId, seen) })
    // The refusal is written first.
    if (status < 500 && !meter.refusedEvent())
      setImmediate(endConnection, live.socket.conn, node.logger, 'too many refused events')
  } finally {
    live.answered(requestId)
  }
}

const metaOf = ({ kernel }: SocketDoor, requestId: string, seen: Seen) => ({
  request_id: requestId,
  server_time: new Date(kernel.node.now()).toISOString(),
  rate: seen.rate ?? null,
})

async function run(
  door: SocketDoor,
  bound: Bound,
  live: LiveConnection,
  raw: unknown,
  requestId: string,
  seen: Seen,
  gone: AbortController | null,
): Promise<unknown> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw new AppError('VALIDATION_ERROR', { message: 'The payload must be an object' })
  if (guardPayload(raw) > eventLimitBytes && JSON.stringify(raw).length > eventLimitBytes)
    throw new AppError('PAYLOAD_TOO_LARGE')
  const unknown = Object.keys(raw).find((key) => !Object.hasOwn(bound.operation.input.shape, key))
  if (unknown !== undefined)
    throw new AppError('VALIDATION_ERROR', { message: `Unrecognized key: ${unknown.slice(0, 40)}` })
  const askedAt = performance.now()
  const release = await takeSlotInTime(door.kernel.node, live, askedAt)
  try {
    const { output } = await invoke(door.kernel, bound, bound.operation.input, raw, {
      door: 'socket',
      caller: live.caller,
      recognise: () => stillSignedIn(door, live),
      requestId,
      askedAt,
      origin: live.socket.request.headers.host ?? null,
      isLocal: isLocalRequest(live.socket.request),
      connection: live,
      browser: browserIdOf(live.socket.request.headers.cookie, door.kernel.node.settings.publicUrl),
      http: null,
      gone: () => gone?.signal ?? live.signal,
      onAnswer(check) {
        seen.check = check
      },
      onRate(rate) {
        seen.rate = rate
      },
    })
    return output
  } finally {
    release()
  }
}

/** All sessions of one turn are looked up together. */
const askedOn = nodeState(() => new Set<string>())

async function stillSignedIn({ alive, kernel: { node } }: SocketDoor, { caller }: LiveConnection): Promise<Caller> {
  const { session } = caller
  if (!session) return caller
  const asked = askedOn(node)
  asked.add(session.id)
  const stored = await sharedLook(node, 'sessions', () => {
    const ids = [...asked]
    asked.clear()
    return alive(ids)
  })
  if (!stored.has(session.id))
    throw new AppError(session.expiresAt <= node.now() ? 'SESSION_EXPIRED' : 'SESSION_NOT_FOUND')
  return caller
}

function holdUntil(signal: AbortSignal, release: () => void): void {
  if (signal.aborted) release()
  else signal.addEventListener('abort', release, { once: true })
}

/** Releases a slot that is granted after its call has given up. */
async function takeSlotInTime(node: Node, live: LiveConnection, askedAt: number): Promise<() => void> {
  let isGivenUp = false
  const taking = live.takeSlot().then((release) => {
    if (isGivenUp) release()
    return release
  })
  return whileStoreAnswers(node, askedAt, taking).catch((error: unknown) => {
    isGivenUp = true
    throw error
  })
}
