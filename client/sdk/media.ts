import type { uploadContexts } from '#shared/api/media/uploads'
import type { MessageType } from '#shared/api/moderation/verdict'
import type { OutputOf } from '#shared/kit/contract'
import { cleanFileName } from '#shared/kit/file-name'
import type { PlazaApi } from './table.ts'
import type { Abortable, Calls } from './types.ts'

const vectorBytes = 12
const keyBytes = 32

/** WebCrypto takes shorter keys, too, by which nobody else would open what was sealed. */
async function keyFrom(key: Uint8Array, use: 'encrypt' | 'decrypt'): Promise<CryptoKey> {
  if (key.length !== keyBytes)
    throw new RangeError(`The key of a conversation has ${keyBytes} bytes, not ${key.length}`)
  return crypto.subtle.importKey('raw', new Uint8Array(key), 'AES-GCM', false, [use])
}
const bytesOf = async (data: Blob | Uint8Array) =>
  new Uint8Array(data instanceof Blob ? await data.arrayBuffer() : data)

/** Seals media with the 32 bytes of a conversation's key: a new vector of 12 bytes, then AES-256-GCM with its tag (document 3, "Encrypted blob"). Rejects with a `RangeError` for another key. */
export async function encryptMedia(data: Blob | Uint8Array, key: Uint8Array): Promise<Blob> {
  const iv = crypto.getRandomValues(new Uint8Array(vectorBytes))
  const sealed = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv },
    await keyFrom(key, 'encrypt'),
    await bytesOf(data),
  )
  return new Blob([iv, sealed], { type: 'application/octet-stream' })
}

/** Opens what `encryptMedia` has sealed; rejects where the key is another, or a byte was changed, and with a `RangeError` where it is none of 32 bytes. */
export async function decryptMedia(sealed: Blob | Uint8Array, key: Uint8Array, type = 'image/jpeg'): Promise<Blob> {
  const bytes = await bytesOf(sealed)
  const iv = bytes.slice(0, vectorBytes)
  const from = await keyFrom(key, 'decrypt')
  const opened = crypto.subtle.decrypt({ name: 'AES-GCM', iv }, from, bytes.slice(vectorBytes))
  return new Blob([await opened.catch(refuse)], { type })
}

const saltBytes = 32

const toHex = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

async function commitmentBy(salt: Uint8Array, data: Blob | Uint8Array): Promise<string> {
  const committed = await new Blob([new Uint8Array(salt), await bytesOf(data)]).arrayBuffer()
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', committed)))
}

/** A new salt and the commitment to these media. The server gets the commitment, the people of the conversation the salt. */
export async function commitTo(data: Blob | Uint8Array): Promise<{ salt: string; commitment: string }> {
  const salt = crypto.getRandomValues(new Uint8Array(saltBytes))
  return { salt: toHex(salt), commitment: await commitmentBy(salt, data) }
}

/** Has the sender of the file at this address committed to these media? The server learns nothing about them. */
export async function isCommittedTo(
  { uploads }: Pick<Calls, 'uploads'>,
  { url, salt, data }: { url: string; salt: string; data: Blob | Uint8Array },
): Promise<boolean> {
  if (!/^[0-9a-f]{64}$/.test(salt)) return false
  const bytes = Uint8Array.from(salt.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  const { commitment } = await uploads.commitment({ url })
  return commitment !== null && commitment === (await commitmentBy(bytes, data))
}

/** Hands in opened media for a report of the message that names them; `evidence` of the answer is a field of that report. What is not as its sender has committed to goes without the salt, which shows nothing. */
export async function uploadEvidence(
  client: Pick<Calls, 'uploads'>,
  { messageId, url, salt, data }: { messageId: string; url: string; salt?: string | undefined; data: Blob },
  options: Abortable = {},
): Promise<OutputOf<PlazaApi['uploads']['evidence']>> {
  const isSalted = salt !== undefined && (await isCommittedTo(client, { url, salt, data }))
  const file = fileOf(data, 'evidence')
  return client.uploads.evidence({ file, messageId, url, ...(isSalted && { salt }) }, options)
}

function refuse(): never {
  throw new Error('This file cannot be opened: it was sealed with another key, or it was changed.')
}

interface Upload {
  /** The 32 bytes of the conversation's key. */
  key: Uint8Array
  conversationId: string
}

/** What an upload answers, with the text that a message names it by. */
type Uploaded<Operation extends keyof PlazaApi['uploads']> = OutputOf<PlazaApi['uploads'][Operation]> & {
  marker: string
}
/** With the salt of the commitment, which the message tells (`mediaSalt`). */
type Sealed<Operation extends 'image' | 'voice'> = Uploaded<Operation> & { salt: string }

/** Seals an image, uploads it, and says by which text a message names it. */
export async function uploadImage(
  { uploads }: Pick<Calls, 'uploads'>,
  { image, key, conversationId }: Upload & { image: Blob },
  options: Abortable = {},
): Promise<Sealed<'image'>> {
  const originalType = image.type || 'image/jpeg'
  const file = fileOf(await encryptMedia(image, key), 'image.enc')
  const { salt, commitment } = await commitTo(image)
  const answer = await uploads.image({ file, conversationId, originalType, commitment }, options)
  return { ...answer, salt, marker: `[ENC_IMAGE:${answer.originalType}]${answer.url}` }
}

/** Seals a voice message of so many whole seconds, uploads it, and says by which text a message names it. */
export async function uploadVoice(
  { uploads }: Pick<Calls, 'uploads'>,
  { voice, seconds, key, conversationId }: Upload & { voice: Blob; seconds: number },
  options: Abortable = {},
): Promise<Sealed<'voice'>> {
  const file = fileOf(await encryptMedia(voice, key), 'voice.enc')
  const { salt, commitment } = await commitTo(voice)
  const answer = await uploads.voice({ file, conversationId, duration: `${Math.round(seconds)}`, commitment }, options)
  return { ...answer, salt, marker: `[VOICE:${answer.duration}]${answer.url}` }
}

/** What everybody in a room may see or hear: a picture, or a voice message (Opus in WebM or Ogg; AAC or Opus in MP4) of so many seconds. */
type Shown = { picture: Blob } | { voice: Blob; seconds: number }

/** Uploads a picture or a voice message that everybody in the room can see or hear, and says by which text a message names it. */
export async function uploadPicture(
  { uploads }: Pick<Calls, 'uploads'>,
  { context, ...shown }: Shown & { context?: (typeof uploadContexts)[number] },
  options: Abortable = {},
): Promise<Uploaded<'picture'>> {
  const isVoice = 'voice' in shown
  const file = isVoice ? fileOf(shown.voice, 'voice') : fileOf(shown.picture, 'picture')
  const answer = await uploads.picture({ file, ...(context && { context }) }, options)
  const tag = isVoice ? `VOICE:${Math.round(shown.seconds)}` : answer.url.endsWith('.gif') ? 'GIF' : 'IMAGE'
  return { ...answer, marker: `[${tag}]${answer.url}` }
}

/** Uploads pixel art, a PNG, and says by which text a message names it. */
export async function uploadPixelArt(
  { uploads }: Pick<Calls, 'uploads'>,
  png: Blob,
  options: Abortable = {},
): Promise<Uploaded<'pixelArt'>> {
  const bytes = Array.from(await bytesOf(png), (byte) => String.fromCharCode(byte)).join('')
  const answer = await uploads.pixelArt({ imageData: `data:image/png;base64,${btoa(bytes)}` }, options)
  return { ...answer, marker: `[PIXEL_ART]${answer.ipfsUrl}` }
}

/** A file as a message names it. Only the sender's device knows the type of a sealed one. */
export interface UploadedFile {
  attachment: { url: string; name: string; size: number; mime: string }
  /** Of the commitment to a sealed file; null where it is not sealed. */
  salt: string | null
}

/** Uploads a file of any type, and says by which attachment a message names it. With the key of a conversation it is sealed first. */
export async function uploadFile(
  { uploads }: Pick<Calls, 'uploads'>,
  { file, name, seal }: { file: Blob; name: string; seal?: Upload },
  options: Abortable = {},
): Promise<UploadedFile> {
  const called = cleanFileName(name)
  if (!seal) {
    const { url, size, mime, ...answer } = await uploads.file({ file: fileOf(file, called), name: called }, options)
    return { attachment: { url, name: answer.name, size, mime }, salt: null }
  }
  const { key, conversationId } = seal
  const { salt, commitment } = await commitTo(file)
  const sealed = fileOf(await encryptMedia(file, key), 'file.enc')
  const { url } = await uploads.file({ file: sealed, name: called, conversationId, commitment }, options)
  return { attachment: { url, name: called, size: file.size, mime: file.type || 'application/octet-stream' }, salt }
}

const fileOf = (blob: Blob, name: string) => new File([blob], name, { type: blob.type })

/** Media that a message names: `image` is sealed with the key of the conversation, and so is a `voice` whose file is of `/api/upload/voice`; the others are for everybody. */
export type NamedMedia =
  | { kind: 'image'; type: string; url: string }
  | { kind: 'voice'; seconds: number; url: string }
  | { kind: 'picture' | 'gif' | 'pixel_art'; url: string }
  | { kind: 'place'; place: Place | null }

/** Degrees; null where the message does not tell them. */
export interface Place {
  latitude: number
  longitude: number
  name?: string
}

const kinds = { IMAGE: 'picture', GIF: 'gif', PIXEL_ART: 'pixel_art' } as const
const kindOfType: Partial<Record<MessageType, (typeof kinds)[keyof typeof kinds]>> = {
  photo: 'picture',
  gif: 'gif',
  pixel_art: 'pixel_art',
}

/** The media that a message names by its text, or by its type where the text is a bare address; null where it names none. */
export function mediaIn(text: string, type: MessageType = 'text'): NamedMedia | null {
  const image = /^\[ENC_IMAGE:([^\]]+)\](.+)$/s.exec(text)
  if (image) return { kind: 'image', type: image[1] ?? '', url: image[2] ?? '' }
  const voice = /^\[VOICE:(\d+)\](.+)$/s.exec(text)
  if (voice) return { kind: 'voice', seconds: Number(voice[1]), url: voice[2] ?? '' }
  const plain = /^\[(IMAGE|GIF|PIXEL_ART)\](.+)$/s.exec(text)
  if (plain) return { kind: kinds[plain[1] as keyof typeof kinds], url: plain[2] ?? '' }
  const place = /^\[LOCATION\](.*)$/s.exec(text)
  if (place) return { kind: 'place', place: placeIn(place[1] ?? '') }
  const kind = kindOfType[type]
  return kind && /^https?:\S+$/.test(text) ? { kind, url: text } : null
}

function placeIn(json: string): Place | null {
  try {
    const { latitude, lat, longitude, lng, lon, name } = JSON.parse(json) as Record<string, unknown>
    const place = { latitude: Number(latitude ?? lat), longitude: Number(longitude ?? lng ?? lon) }
    const isOnEarth = Math.abs(place.latitude) <= 90 && Math.abs(place.longitude) <= 180
    return isOnEarth ? { ...place, ...(typeof name === 'string' ? { name } : {}) } : null
  } catch {
    return null
  }
}

/** The text that a message names a place by. */
export const placeMarker = (place: Place): string => `[LOCATION]${JSON.stringify(place)}`
