import type { Node } from '#server/kernel/context'
import { RoomEvents } from '#server/log/model'
import { askedAgainOf } from './deliveries.ts'
import { hurry } from './lease.ts'
import { type StoredPosition, type StoredWebhook, WebhookPositions, Webhooks } from './model.ts'
import { settle } from './positions.ts'

const hooksAtOnce = 100
const positionsAtOnce = 200

/** Has every enabled webhook looked at that is behind, whichever node should have sent what it is behind; and tidies up what was left half done. */
export async function sweep(node: Node): Promise<void> {
  let waiting = 0
  for (let after = ''; ; ) {
    const hooks = await Webhooks.find({ enabled: true, _id: { $gt: after } }, { failing_since: 1 })
      .sort({ _id: 1 })
      .limit(hooksAtOnce)
      .lean<Pick<StoredWebhook, '_id' | 'failing_since'>[]>()
    if (hooks.length === 0) break
    const ids = hooks.map(({ _id }) => _id)
    await hurry(node, await behind(node, ids))
    waiting += hooks.filter(({ failing_since }) => failing_since !== null).length
    after = ids.at(-1) ?? ''
  }
  node.metrics.webhooksWaiting(waiting)
  await hurry(node, await askedAgainOf())
  await settle(node)
}

/** Those of these webhooks that have something to send now. */
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
