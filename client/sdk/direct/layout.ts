import { layouts, tagBytes } from '#shared/kit/sealed-layout'
import { bytesOf } from './bytes.ts'

/** Has a text the form of a message under the shared key of its room: base64 of 30 bytes at least, of which the first is 2? */
export const isUnderSharedKey = (text: string): boolean =>
  text.length % 4 === 0 && /^A[g-v][A-Za-z0-9+/]{38,}={0,2}$/.test(text)

const overhead = layouts.epoch.cipherAt + tagBytes
/** How long a text becomes when it is sealed, with a reply and the usual fields. */
export const sealedLength = (text: string): number =>
  Math.ceil((overhead + 160 + bytesOf(JSON.stringify(text)).length) / 3) * 4
