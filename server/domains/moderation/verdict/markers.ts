import { sealedImageType, voiceSeconds } from '#shared/api/media/uploads'
import type { MessageType } from '#shared/api/moderation/verdict'
import type { Attachment } from '#shared/api/rooms/message'
import { fileNameIn, fileTypeOf } from '#shared/kit/file-name'
import { allFolders, type StoredKind, storageFolders, storedKindOf } from './storage-folders.ts'

/** The kind of a message, for the permissions of a room. */
export type ContentKind = 'photo' | 'gif' | 'pixel_art' | 'poll' | 'location' | 'voice' | 'file'

export const contentOfType: Readonly<Record<MessageType, ContentKind | null>> = {
  text: null,
  photo: 'photo',
  gif: 'gif',
  pixel_art: 'pixel_art',
  poll: 'poll',
  location: 'location',
  voice: 'voice',
  encrypted_image: 'photo',
  voice_memo: 'voice',
  system: null,
  welcome: null,
}

const contentOfTag = {
  ENC_IMAGE: 'photo',
  VOICE: 'voice',
  IMAGE: 'photo',
  PIXEL_ART: 'pixel_art',
  GIF: 'gif',
  LOCATION: 'location',
  POLL: 'poll',
} as const satisfies Record<string, ContentKind>
type MarkerTag = keyof typeof contentOfTag

export const pollMarker = (question: string) => `[POLL]${question}`

/** A message text that stands for media. */
export interface Marker {
  /** Null: a bare URL, sent under a media type. */
  tag: MarkerTag | null
  content: ContentKind
  /** The valid kinds of the named file; empty if it names none. */
  holds: readonly StoredKind[]
  /** The text after the colon; null if there is none. */
  parameter: string | null
  /** The text after the marker; null if the marker is never closed. */
  rest: string | null
}

export interface OwnStorage {
  publicUrl: string
  sender: string
}

interface OwnFile {
  stored: StoredKind
  /** The key of the file in the storage. */
  key: string
}

// Invisible characters before the text, including the blank braille cell.
const leadingBlanks = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]+/u
const opening = new RegExp(`^\\[(${Object.keys(contentOfTag).join('|')})(?=[:\\]])`)

const sealed: readonly StoredKind[] = ['sealed']
/**
 * The valid files of each kind. GIFs and pixel art are pictures too. A sealed picture cannot be inspected, so only a
 * sealed marker names it.
 */
const filesOf: Readonly<Record<ContentKind, readonly StoredKind[]>> = {
  photo: ['photo', 'gif', 'pixel_art'],
  gif: ['gif'],
  pixel_art: ['pixel_art'],
  voice: ['voice', 'sealed_voice'],
  file: ['file'],
  poll: [],
  location: [],
}

/** The marker at the start of a text, after invisible characters, even if it is broken. */
export function readMarker(type: MessageType, text: string): Marker | null {
  const visible = text.replace(leadingBlanks, '').trimEnd()
  const tag = opening.exec(visible)?.[1]
  if (isTag(tag)) return dissect(tag, visible.slice(tag.length + 1))
  const content = contentOfType[type]
  if (content === null || filesOf[content].length === 0 || !isAddress(visible)) return null
  const holds = type === 'encrypted_image' ? sealed : filesOf[content]
  return { tag: null, content, holds, parameter: null, rest: visible }
}

/** Under a media type, a URL is that media, also behind brackets or signs, as other clients wrap it. */
function isAddress(visible: string): boolean {
  const plain = visible.normalize('NFKC')
  return /^[a-z][a-z0-9+.-]*:/i.test(plain) || wrapped.test(plain.replace(brackets, ''))
}
const wrapped = /^[^\p{L}\p{N}]*(?:[a-z][a-z0-9+.-]*:\/|data:|\/\/)/iu
const brackets = /[\p{Ps}<](?:(?!\/\/)[^\p{Ps}\p{Pe}<>]){0,64}[\p{Pe}>]/gu

function isTag(tag: string | undefined): tag is MarkerTag {
  return tag !== undefined && Object.hasOwn(contentOfTag, tag)
}

function dissect(tag: MarkerTag, afterTag: string): Marker {
  const content = contentOfTag[tag]
  const holds = tag === 'ENC_IMAGE' ? sealed : filesOf[content]
  const end = afterTag.indexOf(']')
  if (end === -1) return { tag, content, holds, parameter: null, rest: null }
  return { tag, content, holds, parameter: end === 0 ? null : afterTag.slice(1, end), rest: afterTag.slice(end + 1) }
}

/** Does the marker have a URL, which must be our own? */
export function isMediaMarker(marker: Marker): boolean {
  return marker.holds.length > 0
}

export const foreignMediaText = 'Media must be uploaded here by its sender'
const otherFileText = 'A file has the name and type that its upload was answered with'
const otherMediaText = 'This file is not of the kind that the message says it is'

/** The fault of a marker, as a message for its sender; null if it is valid. */
export function markerFault(marker: Marker, storage: OwnStorage): string | null {
  const { tag, parameter, rest } = marker
  if (rest === null) return 'The media marker is not closed'
  if (tag === 'ENC_IMAGE' && !sealedImageType.test(parameter ?? '')) return 'This image type is not supported'
  if (tag === 'VOICE' && !voiceSeconds.test(parameter ?? '')) return 'A voice message lasts whole seconds'
  if (tag !== 'ENC_IMAGE' && tag !== 'VOICE' && parameter !== null) return 'The media marker is not valid'
  if (tag === 'LOCATION') return isLocation(rest) ? null : 'The location is not valid'
  if (!isMediaMarker(marker)) return null
  return fileFault(rest, marker.holds, storage)
}

function fileFault(url: string, holds: readonly StoredKind[], storage: OwnStorage): string | null {
  const stored = ownFile(url, storage)?.stored
  if (stored === undefined) return foreignMediaText
  return holds.includes(stored) ? null : otherMediaText
}

/** The fault of an attachment of these kinds; null if it is an upload of the sender. Sealed files are named by a marker only; a file may hold any media. */
export function attachmentFault(
  { url, name, mime }: Attachment,
  contents: readonly ContentKind[],
  storage: OwnStorage,
): string | null {
  if (contents.includes('file') && !isAsStored(url, name, mime)) return otherFileText
  if (ownFile(url, storage) === null) return foreignMediaText
  const faults = contents.map((content) => fileFault(url, attachable(filesOf[content]), storage))
  return faults.find((fault) => fault !== null) ?? null
}

/** It is downloaded under the name and with the type that its address has. A name that is left out would not be judged. */
const isAsStored = (url: string, name: string | undefined, mime: string | undefined): boolean =>
  (name ?? null) === fileNameIn(url) && (mime === undefined || mime === fileTypeOf(url))

const attachable = (holds: readonly StoredKind[]): readonly StoredKind[] => [
  ...holds.filter((stored) => stored !== 'sealed_voice'),
  'file',
]

/** A location as our client reads it: long or short names, numbers or text. */
function isLocation(rest: string): boolean {
  try {
    const { latitude, lat, longitude, lng, lon } = JSON.parse(rest) as Record<string, unknown>
    return isDegree(latitude ?? lat, 90) && isDegree(longitude ?? lng ?? lon, 180)
  } catch {
    return false
  }
}

/** The texts in a location's JSON, which clients may show; '' if there are none. */
export function textsOfLocation({ tag, rest }: Marker): string {
  if (tag !== 'LOCATION' || rest === null || !isLocation(rest)) return ''
  const words: string[] = []
  const waiting: unknown[] = [JSON.parse(rest)]
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value === 'string') words.push(value)
    if (typeof value === 'object' && value !== null) waiting.push(...Object.values(value))
  }
  return words.join('\n')
}

const isDegree = (value: unknown, most: number): boolean =>
  (typeof value === 'number' || (typeof value === 'string' && /\d/.test(value))) && Math.abs(Number(value)) <= most

const keySegments = /^(?:[A-Za-z0-9_-][A-Za-z0-9._-]*\/)*[A-Za-z0-9_-][A-Za-z0-9._-]*$/

/** The folders whose files messages may name. */
const messageFolders = allFolders.flatMap(({ bucket, folder, stored }) =>
  stored === null ? [] : [{ stored, folder, key: `${bucket}/${folder}` }],
)

/**
 * The sender's own file at a URL; null if there is none. The text is compared, not parsed, because only this spelling
 * is served.
 */
export function ownFile(url: string, { publicUrl, sender }: OwnStorage): OwnFile | null {
  const base = storageBaseOf(publicUrl)
  return url.startsWith(base) ? fileAt(url.slice(base.length), 'key', sender) : null
}

/** The address of some file of the sender's own. */
export const exampleFile = ({ publicUrl, sender }: OwnStorage): string =>
  `${fileBaseOf(publicUrl)}${sender.toLowerCase()}/a.bin`

/** The sender's own file at an upload path; null if there is none. */
export const ownBlob = (path: string, sender: string): OwnFile | null => fileAt(path, 'folder', sender)

function fileAt(path: string, beginning: 'key' | 'folder', sender: string): OwnFile | null {
  const owner = sender.toLowerCase()
  for (const { stored, ...place } of messageFolders) {
    const prefix = `${place[beginning]}/${owner}/`
    const name = path.slice(prefix.length)
    if (owner === '' || !path.startsWith(prefix) || !keySegments.test(name)) continue
    return { stored: storedKindOf(stored, name), key: `${place.key}/${owner}/${name}` }
  }
  return null
}

export const storageBaseOf = (publicUrl: string): string => `${publicUrl.replace(/\/+$/, '')}/`
const fileBaseOf = (publicUrl: string): string =>
  `${storageBaseOf(publicUrl)}${storageFolders.file.bucket}/${storageFolders.file.folder}/`

/** The actual kind of the sender's own file, whatever the message claims; null if there is none. A file of others is no link. */
export function contentOfFile(url: string, storage: OwnStorage): ContentKind | null {
  const stored = ownFile(url, storage)?.stored ?? null
  if (stored === null && url.startsWith(fileBaseOf(storage.publicUrl))) return 'file'
  if (stored === 'sealed') return 'photo'
  return stored === 'sealed_voice' ? 'voice' : stored
}
