import { createECDH, randomBytes } from 'node:crypto'

/** A browser's subscription: the URL of its push service, and its keys in base64url. */
export interface Subscription {
  endpoint: string
  p256dh: string
  auth: string
}

export interface PushMessage {
  /** The content for the browser, at most 3,000 bytes; the push service cannot read it. */
  text: string
  /** A waiting notice is replaced by the next of the same topic: up to 32 letters of base64url. */
  topic: string
  /** How long the push service keeps it for an absent browser. */
  seconds: number
  /** `high` wakes a device that saves its battery. */
  urgency: 'normal' | 'high'
}

/** Notifies browsers without an open page, through their push services. */
export interface Push {
  /** The key by which browsers subscribe: a point of P-256 in base64url. */
  readonly publicKey: string
  /** Throws INVALID_PARAMETER for a forbidden endpoint, or invalid keys. */
  check(subscription: Subscription): void
  /** `gone`: the subscription ended. `refused`: never accepted. Throws INVALID_PARAMETER, UPSTREAM_ERROR, TIMEOUT, and the reason of an abort. */
  send(subscription: Subscription, message: PushMessage, signal?: AbortSignal): Promise<'sent' | 'gone' | 'refused'>
}

const curve = 'prime256v1'
const keyBytes = 32

/** A private key of P-256, in base64url. */
export function newPrivateKey(): string {
  const pair = createECDH(curve)
  for (;;) {
    try {
      const key = randomBytes(keyBytes)
      pair.setPrivateKey(key)
      return key.toString('base64url')
    } catch {
      // One of four billion is no key.
    }
  }
}

/** The public key of a private one; throws for an invalid one. */
export function publicKeyOf(privateKey: string): string {
  const pair = createECDH(curve)
  pair.setPrivateKey(Buffer.from(privateKey, 'base64url'))
  return pair.getPublicKey('base64url')
}

/** Is this the public key of somebody? */
export function isPublicKey(key: string): boolean {
  const pair = createECDH(curve)
  pair.generateKeys()
  try {
    pair.computeSecret(Buffer.from(key, 'base64url'))
    return true
  } catch {
    return false
  }
}
