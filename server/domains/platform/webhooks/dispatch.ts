import { z } from 'zod'
import type { Node } from '#server/kernel/context'
import type { Stop } from '#server/kernel/domain'
import { nodeState } from '#server/kernel/operate/node-state'
import { definePeerMessage } from '#server/kernel/peer-message'
import { every } from '#server/kernel/work/every'
import { takeLease } from '#server/kernel/work/lease'
import { RoomEvents } from '#server/log/model'
import type { RoomKey } from '#server/log/types'
import { deliverWebhook, hookLease, makeHooksDue, releaseAllHooks } from './deliver.ts'
import { type StoredPosition, type StoredWebhook, WebhookPositions, Webhooks } from './model.ts'
import { createWebhookTurns, settlePositions } from './positions.ts'
import { webhooksToReplay } from './send.ts'

const lookMilliseconds = 10_000
/** The overlap with changes that were read before, as some are stored late. */
const overlapMilliseconds = 10_000
const mostDue = 200

const lookOn = nodeState(() => ({ soon: () => {} }))
/** A node without webhooks looks for them seldom, and looks soon after this message. */
export const enabledMessage = definePeerMessage('webhook-enabled', z.null(), (node) => lookOn(node).soon())

type Known = Pick<StoredWebhook, '_id' | 'account' | 'rooms' | 'enabled'>

/** Delivers webhooks, each on one node at a time. An event wakes its webhooks at the appending node; sweeps find the rest. */
export async function startDelivering(node: Node): Promise<Stop> {
  const stopping = new AbortController()
  const known = new Map<string, Known>()
  const inRoom = new Map<RoomKey, Set<string>>()
  /** Webhooks that another node delivers, to be tried at the next look. */
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

  const turns = createWebhookTurns(async (id) => {
    try {
      const hook = await takeLease(hookLease, node, { _id: id, enabled: true })
      if (hook !== null) return await deliverWebhook(node, hook, stopping.signal)
      // Another node delivers it, and may have read before this event.
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

  async function look(): Promise<boolean> {
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
    for (const { _id, account } of [...due, ...tried]) turns.request(_id, account)
    return known.size > 0
  }

  node.log.onRows((room, _rows, isOurs) => {
    if (!isOurs) return
    for (const id of inRoom.get(room) ?? []) turns.request(id, known.get(id)?.account ?? '')
  })
  if (node.alone) await releaseAllHooks(node)
  const ends = [
    enabledMessage.follow(node),
    every(node, lookMilliseconds, look, 'webhooks were not looked at', (soon) => Object.assign(lookOn(node), { soon })),
    every(node, lookMilliseconds, () => sweepWebhooks(node), 'webhooks that are behind were not found'),
  ]
  return () => {
    turns.end()
    stopping.abort()
    for (const end of ends) end()
  }
}

const hooksAtOnce = 100
const positionsAtOnce = 200

/** Makes all enabled webhooks with pending events due, and settles half-done changes. */
async function sweepWebhooks(node: Node): Promise<void> {
  let waiting = 0
  for (let after = ''; ; ) {
    const hooks = await Webhooks.find({ enabled: true, _id: { $gt: after } }, { failing_since: 1 })
      .sort({ _id: 1 })
      .limit(hooksAtOnce)
      .lean<Pick<StoredWebhook, '_id' | 'failing_since'>[]>()
    if (hooks.length === 0) break
    const ids = hooks.map(({ _id }) => _id)
    await makeHooksDue(node, await behind(node, ids))
    waiting += hooks.filter(({ failing_since }) => failing_since !== null).length
    after = ids.at(-1) ?? ''
  }
  node.metrics.webhooksWaiting(waiting)
  await makeHooksDue(node, await webhooksToReplay())
  await settlePositions(node)
}

/** The webhooks with something to send now. */
async function behind(node: Node, webhooks: readonly string[]): Promise<string[]> {
  const due_at = { $lte: new Date(node.now()) }
  const positions = await WebhookPositions.find({ webhook: { $in: [...webhooks] }, due_at }).lean<StoredPosition[]>()
  const found: string[] = []
  for (let at = 0; at < positions.length; at += positionsAtOnce) {
    const some = positions.slice(at, at + positionsAtOnce)
    const next = some.map(({ room, seq }) => ({ room, seq: seq + 1 }))
    const rows = await RoomEvents.find({ $or: next }, { room: 1, seq: 1 }).lean<{ room: string; seq: number }[]>()
    const there = new Set(rows.map(({ room, seq }) => `${room} ${seq}`))
    found.push(...some.filter(({ room, seq }) => there.has(`${room} ${seq + 1}`)).map(({ webhook }) => webhook))
  }
  return found
}
