import { createECDH, randomBytes } from 'node:crypto'

/** A browser that has subscribed, as it says it itself: where its push service is asked, and its keys, in base64url. */
export interface Subscription {
  endpoint: string
  p256dh: string
  auth: string
}

export interface PushMessage {
  /** What the browser is given, of 3,000 bytes at most; the push service cannot read it. */
  text: string
  /** One that waits at the push service is replaced by the next of the same name: up to 32 letters of base64url. */
  topic: string
  /** How long the push service keeps it for a browser that is away. */
  seconds: number
  /** `high` wakes a device that saves its battery. */
  urgency: 'normal' | 'high'
}

/** Tells browsers something while no page of ours is open in them, by the push service of each. */
export interface Push {
  /** The key by which browsers subscribe: a point of P-256 in base64url. */
  readonly publicKey: string
  /** Throws INVALID_PARAMETER where the endpoint is of no push service that may be asked, or the keys are none. */
  check(subscription: Subscription): void
  /**
   * `gone`: the browser is subscribed no more. `refused`: the push service will not take this message, however often it is asked. Throws
   * INVALID_PARAMETER as `check` does, UPSTREAM_ERROR and TIMEOUT. An aborted signal throws its reason.
   */
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

/** The public key of a private one; throws where that is none. */
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
