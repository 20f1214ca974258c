import { createHmac, timingSafeEqual } from 'node:crypto'

const sealBytes = 16
const sealLength = Math.ceil((sealBytes * 8) / 6)

interface Seal {
  close(channel: string, message: string): string
  /** Null if the seal is not of our keys, or of another channel. */
  open(channel: string, sealed: string): string | null
}

/** Only holders of a key make messages, and damage is noticed. The first key seals, all verify. */
export function sealWith(secrets: readonly Uint8Array[]): Seal {
  const keys = secrets.map((secret) => createHmac('sha256', secret).update('messages between nodes').digest())
  const markOf = (key: Buffer, channel: string, message: string) =>
    createHmac('sha256', key).update(`${channel}\n${message}`).digest().subarray(0, sealBytes)
  const [first] = keys
  if (!first) throw new Error('There is no key to seal with.')
  return {
    close: (channel, message) => markOf(first, channel, message).toString('base64url') + message,
    open(channel, sealed) {
      const mark = Buffer.from(sealed.slice(0, sealLength), 'base64url')
      const message = sealed.slice(sealLength)
      if (mark.length !== sealBytes) return null
      return keys.some((key) => timingSafeEqual(mark, markOf(key, channel, message))) ? message : null
    },
  }
}
