import type { Action, Caller, Context, Node } from '#server/kernel/context'
import { holdAnswer } from '#server/kernel/http/streams'
import { sharedLook } from '#server/kernel/shared-look'
import type { RoomKey } from '#server/log/types'
import type { messages as contract } from '#shared/api/rooms/messages'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import { readableRoom } from './history.ts'
import { waitForRows } from './live.ts'
import { eventsOf, rowsAfter } from './pages.ts'

export const sync: Action<typeof contract.sync> = async (input, context) => {
  const after = startSeqOf(input)
  const now = await readableRoom(context, input.room)
  const { key, seq, epoch } = now
  if ((input.epoch && input.epoch !== epoch) || after > seq)
    return { events: [], next_after_seq: seq, head_seq: seq, complete: true, epoch, reset: true }
  if (input.allow_reset && seq - after > resetAbove)
    return { events: [], next_after_seq: seq, head_seq: seq, complete: false, epoch, reset: true }
  const mayWait = after === seq && (input.wait ?? 0) > 0
  const here = { ...now, caller: context.caller }
  const waited = mayWait ? await countedWait(context, here, after, input) : here
  const isElse = !isSameAccount(waited.caller.account, context.caller.account)
  if (isElse) await readableRoom({ node: context.node, caller: waited.caller }, input.room)
  // Rows above the checked head are left out: the next one may remove the caller.
  const head = isElse ? after : waited.seq
  const page = await pageAfter(context.node, key, after, Math.min(input.limit, head - after), waited.isInsider)
  const last = page.last
  context.http?.setHeader('ETag', `"${head}"`)
  return {
    events: page.events,
    next_after_seq: last,
    head_seq: head,
    complete: last >= head,
    epoch,
  }
}

/** The start of the requested events, by either name. */
function startSeqOf({
  after_seq,
  after = after_seq ?? 0,
}: {
  after_seq?: number | undefined
  after?: number | undefined
}): number {
  if (after_seq !== undefined && after_seq !== after)
    throw new AppError('VALIDATION_ERROR', { message: 'after: not together with another after_seq' })
  return after
}

const resetAbove = 5_000
const followPage = 100
const followSeconds = 25
/** The minimum of a wait that ends with the session. */
const shortestMilliseconds = 500

export const follow: Action<typeof contract.follow> = async ({ room, epoch, last_event_id, ...start }, context) => {
  const from = last_event_id ?? startSeqOf(start)
  const now = await readableRoom(context, room)
  if ((epoch && epoch !== now.epoch) || from > now.seq) throw anotherLog(now)
  return eventsAfter(from, now, context, room)
}

type ReadableHead = Awaited<ReturnType<typeof readableRoom>>

/** Yields pages up to the readable row, and checks the right to read before each. */
async function* eventsAfter(
  from: number,
  start: ReadableHead,
  context: Context,
  room: RoomRef,
): AsyncIterable<RoomEvent> {
  for (let last = from, now = { ...start, caller: context.caller }; ; ) {
    const limit = Math.min(followPage, now.seq - last)
    const page = await pageAfter(context.node, start.key, last, limit, now.isInsider)
    yield* page.events
    last = page.last
    if (context.signal.aborted) return
    const next = await headAfter(context, now, last, { room, wait: followSeconds })
    refuseEnded(context, next.caller)
    if (next.epoch !== start.epoch) throw anotherLog(next)
    if (next.isSuspended && !start.isSuspended) throw new AppError('SUSPENDED')
    now = next
  }
}

interface Page {
  events: RoomEvent[]
  /** The seq of its last row, or its start. */
  last: number
}

/** One page for all readers after the same seq with the same view. */
async function pageAfter(node: Node, key: RoomKey, after: number, limit: number, isInsider: boolean): Promise<Page> {
  if (limit <= 0) return { events: [], last: after }
  return sharedLook(node, JSON.stringify(['page', key, after, limit, isInsider]), async () => {
    const rows = await rowsAfter(node, key, after, limit)
    return { events: await eventsOf(rows, isInsider), last: rows.at(-1)?.seq ?? after }
  })
}

function refuseEnded({ caller: { account, session }, node }: Context, now: Caller): void {
  if (isSameAccount(now.account, account)) return
  throw new AppError(session && session.expiresAt <= node.now() ? 'SESSION_EXPIRED' : 'SESSION_NOT_FOUND')
}

const anotherLog = ({ epoch, seq }: ReadableHead) =>
  new AppError('CONFLICT', { message: 'That place is not in this log', details: { epoch, head_seq: seq } })

/** A wait by itself, which counts as an open answer. */
async function countedWait(...asked: Parameters<typeof headAfter>): ReturnType<typeof headAfter> {
  const [{ node, caller, connection }] = asked
  const release = holdAnswer(node, { caller, connection: connection?.wire ?? null })
  return headAfter(...asked).finally(release)
}

/**
 * Waits for new rows, until a timeout, a disconnect or a change of the session. Returns the readable head and the
 * present caller.
 */
async function headAfter(
  context: Context,
  { key, caller }: { key: RoomKey; caller: Caller },
  after: number,
  { room, wait = 0 }: { room: RoomRef; wait?: number | undefined },
): Promise<ReadableHead & { caller: Caller }> {
  const { node, signal } = context
  const release = await node.log.hold(key)
  try {
    const isThere = async () => (await node.log.head(key)).seq > after
    const left = (caller.session?.expiresAt ?? Number.POSITIVE_INFINITY) - node.now() + 1
    const milliseconds = Math.min(wait * 1_000, Math.max(left, shortestMilliseconds))
    await waitForRows(node, { room: key, account: caller.account }, milliseconds, signal, isThere)
    const readBy = JSON.stringify(['readable', room.type, room.id, caller.account])
    const head = await sharedLook(node, readBy, () => readableRoom(context, room))
    return { ...head, caller: await context.recognise() }
  } finally {
    release()
  }
}
