type Bytes = Uint8Array<ArrayBuffer>

const utf8 = new TextEncoder()
export const bytesOf = (text: string): Bytes => utf8.encode(text)
/** Parts that hold no line feed, as one text. */
export const lines = (...parts: readonly string[]): Bytes => bytesOf(parts.join('\n'))
export const textOf = (bytes: BufferSource): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes)
export const randomBytes = (count: number): Bytes => crypto.getRandomValues(new Uint8Array(count))
export const joined = (...parts: readonly Uint8Array[]): Bytes => {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

const chunk = 8_192

export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += chunk) binary += String.fromCharCode(...bytes.subarray(at, at + chunk))
  return btoa(binary)
}
export const fromBase64 = (text: string): Bytes => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
/** Base64url without padding. */
export const toBase64Url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
export const fromBase64Url = (text: string): Bytes => fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
