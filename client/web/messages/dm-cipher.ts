import { useEffect, useMemo, useState } from 'react'
import type { RoomRef } from '#shared/kit/primitives'
import { kindOf } from '../rooms/kind.ts'

const ivBytes = 12
const tagBytes = 16
const utf8 = new TextEncoder()

export interface DmCipher {
  encrypt(text: string): Promise<string>
  decrypt(content: string): Promise<string>
  /** The characters of the encrypted text. */
  lengthOf(text: string): number
}

/**
 * Not end-to-end encryption: both sides derive the key from the ids of the two people, so the server never needs the text to
 * carry it, but anyone who knows the ids can derive the key too.
 */
export function useDmCipher(ref: RoomRef): DmCipher | null {
  const id = kindOf(ref).isSealed ? ref.id : null
  return useMemo(() => (id === null ? null : cipherFor(id)), [id])
}

function cipherFor(pair: string): DmCipher {
  const key = deriveKey(pair)
  key.catch(() => {})
  return {
    async encrypt(text) {
      const iv = crypto.getRandomValues(new Uint8Array(ivBytes))
      const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await key, utf8.encode(text))
      return toBase64(new Uint8Array([...iv, ...new Uint8Array(sealed)]))
    },
    async decrypt(content) {
      const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0))
      const iv = bytes.slice(0, ivBytes)
      const open = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, await key, bytes.slice(ivBytes))
      return new TextDecoder().decode(open)
    },
    lengthOf: (text) => Math.ceil((ivBytes + utf8.encode(text).length + tagBytes) / 3) * 4,
  }
}

async function deriveKey(pair: string): Promise<CryptoKey> {
  if (!globalThis.crypto?.subtle) throw new Error('Direct messages need a page served over https, or from localhost.')
  const secret = await crypto.subtle.importKey('raw', utf8.encode(pair), 'HKDF', false, ['deriveKey'])
  const how = { name: 'HKDF', hash: 'SHA-256', salt: utf8.encode('plaza direct'), info: utf8.encode('v1') }
  return crypto.subtle.deriveKey(how, secret, { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

const toBase64 = (bytes: Uint8Array): string => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))

export interface ClearText {
  text: string
  state: 'clear' | 'opening' | 'locked'
}

/** The text to show: decrypted where the room has a cipher, else as it is. */
export function useClearText(content: string, cipher: DmCipher | null): ClearText {
  const [opened, setOpened] = useState<{ content: string; clear: ClearText } | null>(null)
  useEffect(() => {
    if (!cipher || !content) return
    let isOver = false
    const settle = (clear: ClearText) => {
      if (!isOver) setOpened({ content, clear })
    }
    cipher.decrypt(content).then(
      (text) => settle({ text, state: 'clear' }),
      () => settle({ text: 'This message cannot be opened here.', state: 'locked' }),
    )
    return () => {
      isOver = true
    }
  }, [content, cipher])
  if (!cipher || !content) return { text: content, state: 'clear' }
  return opened?.content === content ? opened.clear : { text: '', state: 'opening' }
}
