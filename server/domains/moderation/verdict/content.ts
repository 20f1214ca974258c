import type { MessageType } from '#shared/api/moderation/verdict'
import type { Attachment, Mention } from '#shared/api/rooms/message'
import type { Asked } from '#shared/api/rooms/polls'
import {
  type ContentKind,
  contentOfFile,
  type OwnStorage,
  ownBlob,
  ownFile,
  readMarker,
  storageBaseOf,
} from './markers.ts'

/** The content of a message by a person, which is stored and judged. */
export interface MessageDraft {
  type: MessageType
  text: string
  attachments: readonly Attachment[]
  mentions: readonly Mention[]
  /** The poll of the message, whose text is the question. */
  poll: Asked | null
  replyTo: string | null
  /** Paths of the sender's own files that the message declares. */
  blobs?: readonly string[] | undefined
}

export const textDraft = (type: MessageType, text: string): MessageDraft => ({
  type,
  text,
  attachments: [],
  mentions: [],
  poll: null,
  replyTo: null,
})

/**
 * How a verdict reads a field. `prose` is displayed: words, links and length count. A `label` is sent along: words and
 * links count. An `address` is that of an upload: words count. `none` contains no personal text.
 */
type Reading = 'prose' | 'label' | 'address' | 'none'
type ReadingsOf<T> = T extends readonly (infer One)[]
  ? ReadingsOf<One>
  : T extends object
    ? { readonly [Field in keyof T]-?: ReadingsOf<NonNullable<T[Field]>> }
    : Reading

/** The reading of every field of a draft; the compiler requires new fields here. */
const readings: ReadingsOf<MessageDraft> = {
  type: 'none',
  text: 'prose',
  attachments: { url: 'address', name: 'prose', mime: 'label', size: 'none' },
  mentions: { kind: 'none', id: 'label', start: 'none', len: 'none' },
  poll: { question: 'none', options: 'prose', allowsMultiple: 'none', endsAt: 'none', isAnonymous: 'none' },
  replyTo: 'none',
  blobs: 'none',
}

export interface MessagePart {
  reading: Exclude<Reading, 'none'>
  text: string
}

type Readings = Reading | { readonly [field: string]: Readings }

/** The texts of a draft, its own text first. */
export function messagePartsOf(draft: MessageDraft): readonly MessagePart[] {
  const { attachments, mentions, poll } = draft
  if (attachments.length === 0 && mentions.length === 0 && poll === null)
    return [{ reading: 'prose', text: draft.text }]
  return collect(draft, readings)
}

function collect(value: unknown, reading: Readings): MessagePart[] {
  if (Array.isArray(value)) return value.flatMap((one) => collect(one, reading))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([field, its]) =>
      typeof reading === 'object' && reading[field] !== undefined ? collect(its, reading[field]) : [],
    )
  return typeof value === 'string' && typeof reading === 'string' && reading !== 'none'
    ? [{ reading, text: value }]
    : []
}

const contentOfExtension: Readonly<Record<string, ContentKind>> = {
  ...extensions('jpg jpeg jfif png apng webp avif heic heif bmp ico svg tif tiff', 'photo'),
  ...extensions('mp4 m4v mov webm mkv avi', 'photo'),
  ...extensions('gif', 'gif'),
  ...extensions('mp3 m4a aac ogg oga opus wav flac weba', 'voice'),
}

function extensions(names: string, kind: ContentKind): Record<string, ContentKind> {
  return Object.fromEntries(names.split(' ').map((name) => [name, kind]))
}

/** The kinds of an attachment by its type, name, URL or storage folder; empty for a plain file. */
export function contentsOf({ url, name, mime }: Attachment, storage: OwnStorage): readonly ContentKind[] {
  const found = [contentOfMime(mime), byExtension(name), byExtension(pathOf(url)), contentOfFile(url, storage)]
  return [...new Set(found.filter((kind) => kind !== null))]
}

export function contentOfMime(mime: string | null | undefined): ContentKind | null {
  const [kind, format] = (mime ?? '').trim().toLowerCase().split(/[/;]/)
  if (kind === 'audio') return 'voice'
  if (kind !== 'image' && kind !== 'video') return null
  return format?.trim() === 'gif' ? 'gif' : 'photo'
}

function byExtension(name: string | undefined): ContentKind | null {
  const extension = /\.([a-z0-9]{2,5})$/.exec((name ?? '').trim().toLowerCase())?.[1]
  return extension !== undefined && Object.hasOwn(contentOfExtension, extension)
    ? (contentOfExtension[extension] ?? null)
    : null
}

const pathOf = (url: string): string => decodedUrl(URL.canParse(url) ? new URL(url).pathname : url)

/** A URL with its percent-encoding decoded, as browsers show it. */
export function decodedUrl(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}

/** A file of the sender's storage, by the URL or path in a message. */
export interface NamedFile {
  url: string
  key: string
  /** Its size as the message has it, for a file of any type. */
  bytes?: number | undefined
}

type Naming = Pick<MessageDraft, 'type' | 'text' | 'attachments' | 'blobs'>

/** Further files of a text are not kept for it. */
const mostInText = 20

/** The sender's own files that a message names: by marker, attachments, declared blobs, or a URL in the text. */
export function namedFiles({ type, text, attachments, blobs = [] }: Naming, storage: OwnStorage): NamedFile[] {
  const marked = readMarker(type, text)?.rest ?? null
  const named = (url: string) => ({ url, size: undefined })
  const inText = storedUrlsIn(text, storage.publicUrl).map(named)
  const found = new Map<string, NamedFile>()
  for (const { url, size } of [...(marked === null ? [] : [named(marked)]), ...attachments, ...inText]) {
    const file = ownFile(url, storage)
    const bytes = file?.stored === 'file' ? size : undefined
    if (file) found.set(`${url} ${bytes}`, { url, key: file.key, bytes })
  }
  for (const path of blobs) {
    const key = ownBlob(path, storage.sender)?.key
    if (key !== undefined) found.set(path, { url: path, key })
  }
  return [...found.values()]
}

/** The distinct keys of such files; no field if there are none. */
export const keysOf = (files: readonly NamedFile[]): { media?: string[] } =>
  files.length === 0 ? {} : { media: [...new Set(files.map(({ key }) => key))] }

/** The URLs of the storage in a text. */
export function storedUrlsIn(text: string, publicUrl: string): string[] {
  const pieces = text.split(storageBaseOf(publicUrl)).slice(1, 1 + mostInText)
  return pieces.map((piece) => `${storageBaseOf(publicUrl)}${/^[\w.:%/-]*/.exec(piece)?.[0].replace(/[.:]+$/, '')}`)
}
