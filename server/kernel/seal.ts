import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Settings } from './context.ts'

type Keys = Settings['sessionKeys']

const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** Encrypts a text with our newest key: `key id.base64url`. What it is bound to must be said again to read it. */
export function seal(keys: Keys, text: string, boundTo = ''): string {
  const newest = keys[0]
  if (!newest) throw new Error('There is no key to seal with')
  const nonce = randomBytes(nonceBytes)
  const sealing = createCipheriv(cipher, keyOf(newest.secret), nonce, { authTagLength: tagBytes })
  sealing.setAAD(Buffer.from(boundTo))
  const sealed = Buffer.concat([nonce, sealing.update(text, 'utf8'), sealing.final(), sealing.getAuthTag()])
  return `${newest.id}.${sealed.toString('base64url')}`
}

/** Throws where the text was changed, is bound to something else, or was sealed with a key that is gone. */
export function unseal(keys: Keys, sealed: string, boundTo = ''): string {
  const dot = sealed.lastIndexOf('.')
  const key = keys.find(({ id }) => id === sealed.slice(0, dot))
  if (!key) throw new Error('The key this was sealed with is gone')
  const bytes = Buffer.from(sealed.slice(dot + 1), 'base64url')
  const opening = createDecipheriv(cipher, keyOf(key.secret), bytes.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
  opening.setAAD(Buffer.from(boundTo))
  opening.setAuthTag(bytes.subarray(-tagBytes))
  return opening.update(bytes.subarray(nonceBytes, -tagBytes), undefined, 'utf8') + opening.final('utf8')
}

/** Null where `unseal` would throw: for answers that hold without it, as keys are taken away. */
export function tryUnseal(keys: Keys, sealed: string, boundTo = ''): string | null {
  try {
    return unseal(keys, sealed, boundTo)
  } catch {
    return null
  }
}

const keyOf = (secret: Uint8Array) => Buffer.from(hkdfSync('sha256', secret, '', 'plaza sealed', 32))
