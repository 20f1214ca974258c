import { createHmac, randomBytes } from 'node:crypto'
import type { z } from 'zod'
import type { Node, Settings } from '#server/kernel/context'
import { seal, unseal } from '#server/kernel/seal'
import { orderedPages } from '#server/kernel/store/pages'
import type { Row } from '#server/log/types'
import type { Attempt, Delivery } from '#shared/api/platform/webhooks'
import { AppError } from '#shared/errors'
import { roomOfKey } from '#shared/kit/primitives'
import { type StoredDelivery, type StoredWebhook, WebhookDeliveries } from './model.ts'

const prefix = 'whsec_'
const secretBytes = 32

type Keys = Settings['sessionKeys']

export const newSecret = (): string => prefix + randomBytes(secretBytes).toString('base64')

const boundTo = (webhook: string) => `webhook ${webhook}`
export const sealSecret = (keys: Keys, webhook: string, secret: string) => seal(keys, secret, boundTo(webhook))
/** Throws if the sealing key is gone. */
export const openSecret = (keys: Keys, webhook: string, sealed: string) => unseal(keys, sealed, boundTo(webhook))

/** The secrets that sign a delivery now. Throws if the sealing key is gone. */
function secretsOf(keys: Keys, hook: StoredWebhook, now: number): string[] {
  const { _id, secret, previous_secret, previous_until } = hook
  const isInOverlap = previous_secret !== null && previous_until !== null && previous_until.getTime() > now
  return [secret, ...(isInOverlap ? [previous_secret] : [])].map((sealed) => openSecret(keys, _id, sealed))
}

/** Signature headers of Standard Webhooks. */
function signedHeaders(secrets: readonly string[], id: string, now: number, body: string) {
  const seconds = Math.floor(now / 1_000)
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(prefix, ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': signatures.join(' ') }
}

const answerMilliseconds = 10_000
const reasons = {
  TIMEOUT: 'No answer within 10 seconds',
  UPSTREAM_ERROR: 'The receiver could not be reached',
  INVALID_PARAMETER: 'The URL may not be asked',
}

export type SendResult = z.infer<typeof Attempt> & { retryAfterSeconds: number | null }

/** Posts a body once to a public address, without redirects; only status and `Retry-After` are read. Throws the signal's reason. */
export async function postToHook(
  node: Node,
  hook: StoredWebhook,
  { id, ...rest }: { id: string; [field: string]: unknown },
  signal: AbortSignal,
): Promise<SendResult> {
  const now = node.now()
  const body = JSON.stringify({ id, ...rest })
  const begun = performance.now()
  const sent = (status: number | null, error: string | null, retryAfterSeconds: number | null = null): SendResult => {
    return { status, milliseconds: Math.round(performance.now() - begun), error, retryAfterSeconds }
  }
  const secrets = openSecrets(node, hook, now)
  if (secrets === null) return sent(null, 'The key of the secret is gone: make another one')
  const headers = { 'user-agent': 'Plaza-Webhooks', ...signedHeaders(secrets, id, now, body) }
  try {
    const request = { body, headers, onlyStatus: true, timeoutMilliseconds: answerMilliseconds, signal } as const
    const { status, headers: answered } = await node.services.web.ask(hook.url, request)
    const isTaken = status >= 200 && status < 300
    return sent(status, isTaken ? null : `The receiver answered ${status}`, secondsIn(answered['retry-after'], now))
  } catch (error) {
    if (signal.aborted || !(error instanceof AppError)) throw error
    return sent(null, reasons[error.code as keyof typeof reasons] ?? error.message)
  }
}

function openSecrets(node: Node, hook: StoredWebhook, now: number): string[] | null {
  try {
    return secretsOf(node.settings.sessionKeys, hook, now)
  } catch {
    return null
  }
}

/** Seconds of a `Retry-After`, given as seconds or a time. */
function secondsIn(given: string | undefined, now: number): number | null {
  if (given === undefined) return null
  const seconds = /^\d{1,9}$/.test(given.trim()) ? Number(given) : (Date.parse(given) - now) / 1_000
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null
}

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
