import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Settings } from './context.ts'

type Keys = Settings['sessionKeys']

const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** Encrypts a text with our newest key: `key id.base64url`. Decryption needs the same `boundTo`. */
export function seal(keys: Keys, text: string, boundTo = ''): string {
  const newest = keys[0]
  if (!newest) throw new Error('There is no key to seal with')
  const nonce = randomBytes(nonceBytes)
  const sealing = createCipheriv(cipher, keyOf(newest.secret), nonce, { authTagLength: tagBytes })
  sealing.setAAD(Buffer.from(boundTo))
  const sealed = Buffer.concat([nonce, sealing.update(text, 'utf8'), sealing.final(), sealing.getAuthTag()])
  return `${newest.id}.${sealed.toString('base64url')}`
}

/** Throws if the text was changed, is bound to another value, or its key was removed. */
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

/** Null where `unseal` throws, for answers that work without it after a key was removed. */
export function tryUnseal(keys: Keys, sealed: string, boundTo = ''): string | null {
  try {
    return unseal(keys, sealed, boundTo)
  } catch {
    return null
  }
}

const keyOf = (secret: Uint8Array) => Buffer.from(hkdfSync('sha256', secret, '', 'plaza sealed', 32))
