import type { Action, Caller, Context } from '#server/kernel/context'
import type { RoomKey } from '#server/log/types'
import type { messages as contract } from '#shared/api/messages'
import type { RoomEvent } from '#shared/api/room-events'
import { AppError } from '#shared/errors'
import type { RoomRef } from '#shared/kit/primitives'
import { readable } from './history.ts'
import { eventsOf, rowsAfter } from './pages.ts'
import { waitFor } from './waiting.ts'

export const sync: Action<typeof contract.sync> = async (input, context) => {
  const after = input.after_seq ?? input.after ?? 0
  const now = await readable(context, input.room)
  const { key, seq, epoch } = now
  if ((input.epoch && input.epoch !== epoch) || after > seq)
    return { events: [], next_after_seq: seq, head_seq: seq, complete: true, epoch, reset: true }
  if (input.allow_reset && seq - after > resetAbove)
    return { events: [], next_after_seq: seq, head_seq: seq, complete: false, epoch, reset: true }
  const mayWait = after === seq && (input.wait ?? 0) > 0
  const here = { ...now, caller: context.caller }
  const heard = mayWait ? await headAfter(context, here, after, input) : here
  const isElse = heard.caller.account !== context.caller.account
  if (isElse) await readable({ node: context.node, caller: heard.caller }, input.room)
  // Nothing above the head at which the right to read was checked: the very next row may take the caller out.
  const head = isElse ? after : heard.seq
  const rows = after < head ? await rowsAfter(context.node, key, after, Math.min(input.limit, head - after)) : []
  const last = rows.at(-1)?.seq ?? after
  context.http?.setHeader('ETag', `"${head}"`)
  return {
    events: await eventsOf(rows, heard.isInsider),
    next_after_seq: last,
    head_seq: head,
    complete: last >= head,
    epoch,
  }
}

const resetAbove = 5_000
const followPage = 100
const followSeconds = 25
/** A wait is no shorter where it is to end with the session. */
const shortestMilliseconds = 500

export const follow: Action<typeof contract.follow> = async ({ room, after_seq, after = 0, epoch }, context) => {
  const from = after_seq ?? after
  const now = await readable(context, room)
  if ((epoch && epoch !== now.epoch) || from > now.seq) throw anotherLog(now)
  return eventsAfter(from, now, context, room)
}

type Readable = Awaited<ReturnType<typeof readable>>

/** Yields pages up to the row the caller may read, and checks the right to read again before each page. */
async function* eventsAfter(from: number, start: Readable, context: Context, room: RoomRef): AsyncIterable<RoomEvent> {
  for (let last = from, now = { ...start, caller: context.caller }; ; ) {
    const rows =
      last < now.seq ? await rowsAfter(context.node, start.key, last, Math.min(followPage, now.seq - last)) : []
    yield* await eventsOf(rows, now.isInsider)
    last = rows.at(-1)?.seq ?? last
    if (context.signal.aborted) return
    const next = await headAfter(context, now, last, { room, wait: followSeconds })
    refuseEnded(context, next.caller)
    if (next.epoch !== start.epoch) throw anotherLog(next)
    if (next.isSuspended && !start.isSuspended) throw new AppError('SUSPENDED')
    now = next
  }
}

function refuseEnded({ caller: { account, session }, node }: Context, now: Caller): void {
  if (now.account === account) return
  throw new AppError(session && session.expiresAt <= node.now() ? 'SESSION_EXPIRED' : 'SESSION_NOT_FOUND')
}

const anotherLog = ({ epoch, seq }: Readable) =>
  new AppError('CONFLICT', { message: 'That place is not in this log', details: { epoch, head_seq: seq } })

/** Waits for new rows until the time is up, the caller disconnects, or the session changes; then returns how far the caller may read, and the caller as they are now. */
async function headAfter(
  context: Context,
  { key, caller }: { key: RoomKey; caller: Caller },
  after: number,
  { room, wait = 0 }: { room: RoomRef; wait?: number | undefined },
): Promise<Readable & { caller: Caller }> {
  const { node, signal } = context
  const release = await node.log.hold(key)
  try {
    const isThere = async () => (await node.log.head(key)).seq > after
    const left = (caller.session?.expiresAt ?? Number.POSITIVE_INFINITY) - node.now() + 1
    const milliseconds = Math.min(wait * 1_000, Math.max(left, shortestMilliseconds))
    await waitFor(node, { room: key, account: caller.account }, milliseconds, signal, isThere)
    const head = await readable(context, room)
    return { ...head, caller: await context.recognise() }
  } finally {
    release()
  }
}
