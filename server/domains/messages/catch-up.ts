import type { Action, Context } from '#server/kernel/context'
import type { RoomKey } from '#server/log/types'
import type { messages as contract } from '#shared/api/messages'
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
  const { seq: head, isInsider } = mayWait ? await headAfter(context, key, after, input) : now
  // Nothing above the head that was judged: with the very next row the caller may be out.
  const rows = after < head ? await rowsAfter(context.node, key, after, Math.min(input.limit, head - after)) : []
  const last = rows.at(-1)?.seq ?? after
  context.setHeader('ETag', `"${head}"`)
  return {
    events: await eventsOf(rows, isInsider),
    next_after_seq: last,
    head_seq: head,
    complete: last >= head,
    epoch,
  }
}

const resetAbove = 5_000

/** Waits for the next rows, as long as the caller wants to, is there, and is who they were; then up to where they may read, and as whom. */
async function headAfter(
  context: Context,
  key: RoomKey,
  after: number,
  { room, wait = 0 }: { room: RoomRef; wait?: number | undefined },
): Promise<{ seq: number; isInsider: boolean }> {
  const { caller, node, signal } = context
  const release = await node.log.hold(key)
  try {
    const isThere = async () => (await node.log.head(key)).seq > after
    const left = (caller.session?.expiresAt ?? Number.POSITIVE_INFINITY) - node.now() + 1
    await waitFor(node, { room: key, account: caller.account }, Math.min(wait * 1_000, left), signal, isThere)
    const { seq, isInsider } = await readable(context, room)
    const now = await context.recognise()
    if (now.account === caller.account) return { seq, isInsider }
    await readable({ node, caller: now }, room)
    return { seq: after, isInsider: false }
  } finally {
    release()
  }
}
