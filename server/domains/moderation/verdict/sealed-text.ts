import type { SealedBy } from '#shared/kit/room-kinds'
import { layouts, tagBytes } from '#shared/kit/sealed-layout'

export const isBase64 = (text: string): boolean => /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0

/** The bytes of a text in the form of a shared-key message; null for another form. */
export function sharedKeyBytes(text: string): Buffer | null {
  const { version, cipherAt } = layouts['shared-key']
  const bytes = isBase64(text) ? Buffer.from(text, 'base64') : null
  return bytes?.[0] === version && bytes.length > cipherAt + tagBytes ? bytes : null
}

/** The number of sealed bytes. */
export const innerLength = (bytes: Buffer): number => bytes.length - layouts['shared-key'].cipherAt - tagBytes

/** Is the text unreadable without a key? Older messages of shared-key rooms were stored in clear. */
export const isUnreadable = (by: SealedBy | null, text: string): boolean =>
  by === 'epoch' || (by === 'shared-key' && sharedKeyBytes(text) !== null)
