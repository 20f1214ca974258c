import { openKey } from '#client/sdk/direct/envelope'
import { type Inner, openMessage, sealMessage } from '#client/sdk/direct/message'
import { safetyNumber } from '#client/sdk/direct/trust'
import { layouts } from '#shared/kit/sealed-layout'

export interface Vectors {
  keyHex: string
  dm: string
  epoch: string
  envelope: {
    device: string
    enc: string
    sealed: string
    sender: string
    recipient: { publicKey: JsonWebKey; privateKey: JsonWebKey }
  }
  message: { sender: string; client_msg_id: string; inner: Inner; text: string }
  safetyNumber: { devices: { address: string; deviceId: string; key: string }[]; groups: string[] }
}

const curve = { name: 'ECDH', namedCurve: 'P-256' }
const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
const hexOf = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Which of the vectors hold, in whatever runs this. */
export async function vectorsHold({ keyHex, dm, epoch, envelope, message, safetyNumber: number }: Vectors) {
  const { publicKey, privateKey } = envelope.recipient
  const keys = {
    publicKey: await crypto.subtle.importKey('jwk', publicKey, curve, true, []),
    privateKey: await crypto.subtle.importKey('jwk', privateKey, curve, false, ['deriveBits']),
  }
  const key = await openKey(envelope, keys, envelope.sender, { dm, epoch, device: envelope.device })
  const { sender, client_msg_id, inner, text } = message
  const place = { dm, sender, client_msg_id }
  const iv = bytesOf(text).slice(17, 29)
  return {
    key: hexOf(key) === keyHex,
    message: JSON.stringify(await openMessage(key, place, text)) === JSON.stringify(inner),
    sealedAgain: (await sealMessage(key, epoch, place, inner, iv)) === text,
    safetyNumber: (await safetyNumber(number.devices)).join() === number.groups.join(),
  }
}

export interface SharedKeyVectors {
  keyHex: string
  room: string
  sender: string
  messages: { client_msg_id: string; inner: Inner; text: string }[]
}

/** Which of the messages of version 2 are opened, and are sealed to the same bytes. */
export async function sharedKeyVectorsHold({ keyHex, room, sender, messages }: SharedKeyVectors) {
  const key = Uint8Array.from(keyHex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
  return Promise.all(
    messages.map(async ({ client_msg_id, inner, text }) => {
      const place = { dm: room, sender, client_msg_id }
      const opened = await openMessage(key, place, text, layouts['shared-key'])
      const again = await sealMessage(key, null, place, inner, bytesOf(text).slice(1, 13))
      return JSON.stringify(opened) === JSON.stringify(inner) && again === text
    }),
  )
}
