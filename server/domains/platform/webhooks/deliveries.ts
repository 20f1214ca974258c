import type { Node } from '#server/kernel/context'
import { orderedPages } from '#server/kernel/store/pages'
import type { Row } from '#server/log/types'
import type { Delivery } from '#shared/api/platform/webhooks'
import { roomOfKey } from '#shared/kit/primitives'
import { type StoredDelivery, type StoredWebhook, WebhookDeliveries } from './model.ts'
import type { SendResult } from './send.ts'

const dayMilliseconds = 86_400_000
const keptMilliseconds = { delivered: 3 * dayMilliseconds, other: 30 * dayMilliseconds }
const replayedAtOnce = 100

const counted = { delivered: 'delivered', retrying: 'retried', dead: 'failed' } as const

const idOf = (webhook: string, event: string) => `${webhook}|${event}`

/** Stores the outcome of an attempt. */
export async function noteDelivery(
  node: Node,
  webhook: string,
  { _id: event, room, seq, type }: Pick<Row, '_id' | 'room' | 'seq' | 'type'>,
  { status, milliseconds, error }: SendResult,
  { attempts, next_at, state }: Pick<StoredDelivery, 'attempts' | 'next_at' | 'state'>,
): Promise<void> {
  const at = new Date(node.now())
  const expires_at = new Date(at.getTime() + keptMilliseconds[state === 'delivered' ? state : 'other'])
  const outcome = { state, attempts, status, milliseconds, error, at, next_at, expires_at }
  await WebhookDeliveries.updateOne(
    { _id: idOf(webhook, event) },
    { $set: { webhook, event, room, seq, type, ...outcome } },
    { upsert: true },
  )
  if (state !== 'replaying') node.metrics.webhookAttempt(counted[state])
}

type DeliveringHook = Pick<StoredWebhook, '_id' | 'enabled'>

const newestFirst = orderedPages({ at: ['time', -1], _id: ['text', -1] })

interface Page {
  state?: Delivery['state'] | undefined
  limit: number
  cursor?: string | undefined
}

export async function deliveriesOf(hook: DeliveringHook, { state, limit, cursor }: Page) {
  const waits = hook.enabled ? 'retrying' : 'held'
  const list = `deliveries ${hook._id} ${state ?? ''}` as const
  const after = newestFirst.after(list, cursor)
  if ((state === 'retrying' || state === 'held') && state !== waits) return { deliveries: [], next_cursor: null }
  const stored = state === 'held' ? 'retrying' : state
  const found = await WebhookDeliveries.find({ webhook: hook._id, ...(stored && { state: stored }), ...after })
    .sort(newestFirst.sort)
    .limit(limit + 1)
    .lean<StoredDelivery[]>()
  const { rows, next_cursor } = newestFirst.cut(list, found, limit)
  return { deliveries: rows.map((delivery) => renderDelivery(hook, delivery)), next_cursor }
}

/** Requests the replay of one delivery, or of all dead ones; returns their number. */
export async function requestReplay(webhook: string, event: string | undefined): Promise<number> {
  const which = event === undefined ? { webhook, state: 'dead' as const } : { _id: idOf(webhook, event) }
  const { matchedCount } = await WebhookDeliveries.updateMany(which, { $set: { state: 'replaying' } })
  return matchedCount
}

/** Requested replays, in the order in which they were given up. */
export const requestedReplays = (webhook: string): Promise<StoredDelivery[]> =>
  WebhookDeliveries.find({ webhook, state: 'replaying' }).sort({ at: 1 }).limit(replayedAtOnce).lean<StoredDelivery[]>()

/** Ends a replay that cannot be sent, with its reason. */
export const endReplay = ({ _id }: StoredDelivery, error: string) =>
  WebhookDeliveries.updateOne({ _id, state: 'replaying' }, { $set: { state: 'dead', error, next_at: null } })

/** The webhooks with requested replays. */
export const webhooksToReplay = (): Promise<string[]> => WebhookDeliveries.distinct('webhook', { state: 'replaying' })

export const forgetDeliveries = (webhook: string) => WebhookDeliveries.deleteMany({ webhook })

const renderDelivery = ({ enabled }: DeliveringHook, delivery: StoredDelivery): Delivery => {
  const { event: id, room, seq, type, attempts, status, milliseconds, error, at, next_at } = delivery
  const state = delivery.state === 'retrying' && !enabled ? 'held' : delivery.state
  const times = { at: at.toISOString(), next_at: enabled ? (next_at?.toISOString() ?? null) : null }
  return { id, room: roomOfKey(room), seq, type, state, attempts, status, milliseconds, error, ...times }
}
