import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** What is kept of a stream key. */
export const digestOf = (key: string): string => createHash('sha256').update(key).digest('hex')

/** 128 bits and more, in letters that every program takes. */
export const newKey = (host: string): string => `${host}-${randomBytes(20).toString('hex')}`

export interface Keys<Value> {
  add(digest: string, value: Value): void
  remove(digest: string): void
  find(key: string): Value | null
}

const longest = 200

/** Finds the entry of a key by a secret hash, so that timing reveals no keys. */
export function createKeys<Value>(): Keys<Value> {
  const secret = randomBytes(32)
  const kept = new Map<string, { digest: Buffer; value: Value }>()
  const placeOf = (digest: string) => createHmac('sha256', secret).update(digest).digest('base64')
  return {
    add: (digest, value) => void kept.set(placeOf(digest), { digest: Buffer.from(digest, 'hex'), value }),
    remove: (digest) => void kept.delete(placeOf(digest)),
    find(key) {
      const digest = digestOf(key.slice(0, longest))
      const found = kept.get(placeOf(digest))
      return found && timingSafeEqual(found.digest, Buffer.from(digest, 'hex')) ? found.value : null
    },
  }
}
