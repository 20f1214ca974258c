import { createHmac, randomBytes } from 'node:crypto'
import type { Settings } from '#server/kernel/context'
import { seal, unseal } from '#server/kernel/seal'
import type { StoredWebhook } from './model.ts'

const prefix = 'whsec_'
const secretBytes = 32

type Keys = Settings['sessionKeys']

export const newSecret = (): string => prefix + randomBytes(secretBytes).toString('base64')

const boundTo = (webhook: string) => `webhook ${webhook}`
export const sealSecret = (keys: Keys, webhook: string, secret: string) => seal(keys, secret, boundTo(webhook))
/** Throws if the sealing key is gone. */
export const openSecret = (keys: Keys, webhook: string, sealed: string) => unseal(keys, sealed, boundTo(webhook))

/** The secrets that sign a delivery now. Throws if the sealing key is gone. */
export function secretsOf(keys: Keys, hook: StoredWebhook, now: number): string[] {
  const { _id, secret, previous_secret, previous_until } = hook
  const isInOverlap = previous_secret !== null && previous_until !== null && previous_until.getTime() > now
  return [secret, ...(isInOverlap ? [previous_secret] : [])].map((sealed) => openSecret(keys, _id, sealed))
}

/** Signature headers of Standard Webhooks. */
export function signedHeaders(secrets: readonly string[], id: string, now: number, body: string) {
  const seconds = Math.floor(now / 1_000)
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(prefix, ''), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')}`
  })
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': signatures.join(' ') }
}
