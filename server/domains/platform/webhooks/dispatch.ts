import type { Node } from '#server/kernel/context'
import type { Stop } from '#server/kernel/domain'
import { every } from '#server/kernel/every'
import { takeLease } from '#server/kernel/lease'
import type { RoomKey } from '#server/log/types'
import { deliver } from './deliver.ts'
import { freeAll, hookLease } from './lease.ts'
import { type StoredWebhook, Webhooks } from './model.ts'
import { sweep } from './sweep.ts'
import { createTurns } from './turns.ts'

const lookMilliseconds = 1_000
const sweepMilliseconds = 10_000
/** So much of what was changed before is read again, as it may have been stored late. */
const overlapMilliseconds = 10_000
const mostDue = 200

type Known = Pick<StoredWebhook, '_id' | 'account' | 'rooms' | 'enabled'>

/**
 * Delivers webhooks from this node, each by one node at a time. An event wakes the webhooks of its room on the node that appended it; what
 * is lost with a node is found by the others as they look through all positions.
 */
export async function startDelivering(node: Node): Promise<Stop> {
  const stopping = new AbortController()
  const known = new Map<string, Known>()
  const inRoom = new Map<RoomKey, Set<string>>()
  /** What another node delivers, to be tried at the next look. */
  const later = new Set<string>()
  let readAt = 0

  function forget(id: string): void {
    for (const room of known.get(id)?.rooms ?? []) inRoom.get(room)?.delete(id)
    known.delete(id)
  }

  function learn(hook: Known): void {
    forget(hook._id)
    if (!hook.enabled) {
      turns.drop(hook._id)
      return
    }
    known.set(hook._id, hook)
    for (const room of hook.rooms) inRoom.set(room, (inRoom.get(room) ?? new Set()).add(hook._id))
  }

  const turns = createTurns(async (id) => {
    try {
      const hook = await takeLease(hookLease, node, { _id: id, enabled: true })
      if (hook !== null) return await deliver(node, hook, stopping.signal)
      // Another node has it, and may have read on before the event that woke it here.
      if (await Webhooks.exists({ _id: id, enabled: true })) later.add(id)
      else {
        forget(id)
        turns.drop(id)
      }
    } catch (error) {
      if (!stopping.signal.aborted) node.logger.warn({ error, webhook: id }, 'a webhook was not delivered')
    }
    return { isMore: false, isSlow: null }
  })

  async function look(): Promise<void> {
    const now = node.now()
    const since = new Date(Math.min(readAt, now) - overlapMilliseconds)
    const changed = await Webhooks.find({ updated_at: { $gte: since } }, { account: 1, rooms: 1, enabled: 1 }).lean<
      Known[]
    >()
    for (const hook of changed) learn(hook)
    readAt = now
    const due = await Webhooks.find({ enabled: true, due_at: { $lte: new Date(now) } }, { account: 1 })
      .sort({ due_at: 1 })
      .limit(mostDue)
      .lean<Known[]>()
    const tried = [...later].flatMap((id) => known.get(id) ?? [])
    later.clear()
    for (const { _id, account } of [...due, ...tried]) turns.ask(_id, account)
  }

  node.log.onRows((room, _rows, isOurs) => {
    if (!isOurs) return
    for (const id of inRoom.get(room) ?? []) turns.ask(id, known.get(id)?.account ?? '')
  })
  if (node.alone) await freeAll(node)
  const ends = [
    every(node, lookMilliseconds, look, 'webhooks were not looked at'),
    every(node, sweepMilliseconds, () => sweep(node), 'webhooks that are behind were not found'),
  ]
  return () => {
    turns.end()
    stopping.abort()
    for (const end of ends) end()
  }
}
