import type { MessageDraft } from './content.ts'
import { baseOf, type OwnStorage, ownBlob, ownFile, readMarker } from './markers.ts'

/** A file of the sender's own storage, by the address or the path that a message has for it. */
export interface NamedFile {
  url: string
  key: string
}

type Naming = Pick<MessageDraft, 'type' | 'text' | 'attachments' | 'blobs'>

/** A text may name more; those are then not kept for it. */
const mostInText = 20

/** The sender's own files that a message names: by its marker, its attachments, what it declares beside its text, or an address in the text. */
export function namedFiles({ type, text, attachments, blobs = [] }: Naming, storage: OwnStorage): NamedFile[] {
  const marked = readMarker(type, text)?.rest ?? null
  const urls = [...(marked === null ? [] : [marked]), ...attachments.map(({ url }) => url)]
  const found = new Map<string, NamedFile>()
  for (const url of [...urls, ...addressesIn(text, storage.publicUrl)]) {
    const key = ownFile(url, storage)?.key
    if (key !== undefined) found.set(url, { url, key })
  }
  for (const path of blobs) {
    const key = ownBlob(path, storage.sender)?.key
    if (key !== undefined) found.set(path, { url: path, key })
  }
  return [...found.values()]
}

/** The keys of such files, each once; nothing where there are none. */
export const keysOf = (files: readonly NamedFile[]): { media?: string[] } =>
  files.length === 0 ? {} : { media: [...new Set(files.map(({ key }) => key))] }

/** The addresses below that of the storage which a text has. */
export function addressesIn(text: string, publicUrl: string): string[] {
  const pieces = text.split(baseOf(publicUrl)).slice(1, 1 + mostInText)
  return pieces.map((piece) => `${baseOf(publicUrl)}${/^[\w.:%/-]*/.exec(piece)?.[0].replace(/[.:]+$/, '')}`)
}
