import type { SealedBy } from '#shared/kit/room-kinds'
import { layouts, tagBytes } from '#shared/kit/sealed-layout'

export const isBase64 = (text: string): boolean => /^[A-Za-z0-9+/]+={0,2}$/.test(text) && text.length % 4 === 0

/** The bytes of a text that has the form of a message under the shared key of its room; null where it has not. */
export function sharedKeyBytes(text: string): Buffer | null {
  const { version, cipherAt } = layouts['shared-key']
  const bytes = isBase64(text) ? Buffer.from(text, 'base64') : null
  return bytes?.[0] === version && bytes.length > cipherAt + tagBytes ? bytes : null
}

/** How many bytes are sealed in it. */
export const innerLength = (bytes: Buffer): number => bytes.length - layouts['shared-key'].cipherAt - tagBytes

/** Can nobody read it without a key? Before rooms with a shared key were sealed, their messages were stored in clear. */
export const isUnreadable = (by: SealedBy | null, text: string): boolean =>
  by === 'epoch' || (by === 'shared-key' && sharedKeyBytes(text) !== null)
