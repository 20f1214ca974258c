import type { MessageDraft } from './content.ts'
import { type OwnStorage, ownBlob, ownFile, readMarker, storageBaseOf } from './markers.ts'

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
  const inText = addressesIn(text, storage.publicUrl).map(named)
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
export function addressesIn(text: string, publicUrl: string): string[] {
  const pieces = text.split(storageBaseOf(publicUrl)).slice(1, 1 + mostInText)
  return pieces.map((piece) => `${storageBaseOf(publicUrl)}${/^[\w.:%/-]*/.exec(piece)?.[0].replace(/[.:]+$/, '')}`)
}
