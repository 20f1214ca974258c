import { sealedImageType, voiceSeconds } from '#shared/api/uploads'
import type { MessageType } from '#shared/api/verdict'
import { allFolders, type Stored, storedAs } from './storage-folders.ts'

/** What a message is, for the permissions of a room. */
export type ContentKind = 'photo' | 'gif' | 'pixel_art' | 'poll' | 'location' | 'voice'

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
  /** null: a bare address, sent under a type of media. */
  tag: MarkerTag | null
  content: ContentKind
  /** What the file that it names must be; nothing where it names none. */
  holds: readonly Stored[]
  /** What stands behind the colon; null where there is none. */
  parameter: string | null
  /** What follows the marker; null where the marker is never closed. */
  rest: string | null
}

export interface OwnStorage {
  publicUrl: string
  sender: string
}

/** A file of the sender's own. */
interface OwnFile {
  stored: Stored
  /** Under which the storage keeps it. */
  key: string
}

// What a reader does not see before the text begins, the blank braille cell among it.
const leadingBlanks = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]+/u
const opening = new RegExp(`^\\[(${Object.keys(contentOfTag).join('|')})(?=[:\\]])`)

const sealed: readonly Stored[] = ['sealed']
/** The files that media may be. A GIF and pixel art are pictures too; a sealed picture is seen by nobody here, so it is named as sealed alone. */
const filesOf: Readonly<Record<ContentKind, readonly Stored[]>> = {
  photo: ['photo', 'gif', 'pixel_art'],
  gif: ['gif'],
  pixel_art: ['pixel_art'],
  voice: ['voice', 'sealed_voice'],
  poll: [],
  location: [],
}

/** The marker a text begins with, whatever invisible characters stand before it and however broken it is. */
export function readMarker(type: MessageType, text: string): Marker | null {
  const visible = text.replace(leadingBlanks, '').trimEnd()
  const tag = opening.exec(visible)?.[1]
  if (isTag(tag)) return dissect(tag, visible.slice(tag.length + 1))
  const content = contentOfType[type]
  if (content === null || filesOf[content].length === 0 || !isAddress(visible)) return null
  const holds = type === 'encrypted_image' ? sealed : filesOf[content]
  return { tag: null, content, holds, parameter: null, rest: visible }
}

/** Under a type of media an address is that media, also behind brackets or signs, as other clients wrap it. */
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

/** Does the marker hold an address, which must be our own? */
export function isMedia(marker: Marker): boolean {
  return marker.holds.length > 0
}

export const foreignMedia = 'Media must be uploaded here by its sender'
const otherMedia = 'This file is not of the kind that the message says it is'

/** Why a marker cannot stand, in words for its sender; null where it is sound. */
export function markerFault(marker: Marker, storage: OwnStorage): string | null {
  const { tag, parameter, rest } = marker
  if (rest === null) return 'The media marker is not closed'
  if (tag === 'ENC_IMAGE' && !sealedImageType.test(parameter ?? '')) return 'This image type is not supported'
  if (tag === 'VOICE' && !voiceSeconds.test(parameter ?? '')) return 'A voice message lasts whole seconds'
  if (tag !== 'ENC_IMAGE' && tag !== 'VOICE' && parameter !== null) return 'The media marker is not valid'
  if (tag === 'LOCATION') return isPlace(rest) ? null : 'The location is not valid'
  if (!isMedia(marker)) return null
  return fileFault(rest, marker.holds, storage)
}

function fileFault(url: string, holds: readonly Stored[], storage: OwnStorage): string | null {
  const stored = ownFile(url, storage)?.stored
  if (stored === undefined) return foreignMedia
  return holds.includes(stored) ? null : otherMedia
}

/** Why an attachment that is these kinds cannot stand; null where it is sound. What is sealed is named by a marker alone. */
export function attachmentFault(url: string, contents: readonly ContentKind[], storage: OwnStorage): string | null {
  const faults = contents.map((content) => fileFault(url, attachable(filesOf[content]), storage))
  return faults.find((fault) => fault !== null) ?? null
}

const attachable = (holds: readonly Stored[]) => holds.filter((stored) => stored !== 'sealed_voice')

/** As our client reads it: by the long names or the short ones, in numbers or in text. */
function isPlace(rest: string): boolean {
  try {
    const { latitude, lat, longitude, lng, lon } = JSON.parse(rest) as Record<string, unknown>
    return isDegree(latitude ?? lat, 90) && isDegree(longitude ?? lng ?? lon, 180)
  } catch {
    return false
  }
}

/** The texts in a place, as whoever reads its JSON shows them; '' where there are none. */
export function wordsOfPlace({ tag, rest }: Marker): string {
  if (tag !== 'LOCATION' || rest === null || !isPlace(rest)) return ''
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

/** The folders that messages name files in. */
const places = allFolders.flatMap(({ bucket, folder, stored }) =>
  stored === null ? [] : [{ stored, folder, key: `${bucket}/${folder}` }],
)

/** The file of the sender's own that an address names; null where it names none. Compared as text, not parsed: under another spelling of it nothing is served. */
export function ownFile(url: string, { publicUrl, sender }: OwnStorage): OwnFile | null {
  const base = baseOf(publicUrl)
  return url.startsWith(base) ? fileAt(url.slice(base.length), 'key', sender) : null
}

/** The file of the sender's own that has this path, as its upload was answered; null where there is none. */
export const ownBlob = (path: string, sender: string): OwnFile | null => fileAt(path, 'folder', sender)

function fileAt(path: string, beginning: 'key' | 'folder', sender: string): OwnFile | null {
  const owner = sender.toLowerCase()
  for (const { stored, ...place } of places) {
    const prefix = `${place[beginning]}/${owner}/`
    const name = path.slice(prefix.length)
    if (owner === '' || !path.startsWith(prefix) || !keySegments.test(name)) continue
    return { stored: storedAs(stored, name), key: `${place.key}/${owner}/${name}` }
  }
  return null
}

export const baseOf = (publicUrl: string): string => `${publicUrl.replace(/\/+$/, '')}/`

/** What a file of the sender's own is seen to be, whatever its message says; null where it is none. */
export function seenContent(url: string, storage: OwnStorage): ContentKind | null {
  const stored = ownFile(url, storage)?.stored ?? null
  if (stored === 'sealed') return 'photo'
  return stored === 'sealed_voice' ? 'voice' : stored
}
