import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'

/** A part of a blob: its first and last byte. */
export interface Range {
  start: number
  end: number
}

interface FoundBlob {
  /** Bytes of the whole blob. */
  size: number
  /** The whole blob, or the requested range. */
  bytes: Readable
}

export interface ListedBlob {
  key: string
  size: number
  storedAt: Date
}

/**
 * Keeps blobs under keys that this server makes: `bucket/path`, of letters, digits, `-`, `_`, `.` and `:`. A key is given once, so a blob never changes.
 * Everything throws UPSTREAM_ERROR or TIMEOUT where the storage is away, and `put` SERVICE_UNAVAILABLE where it has no room.
 */
export interface Storage {
  /** As shown in the table at start. */
  name: string
  /** Resolves when the blob is durable; it is invisible before. */
  put(key: string, blob: Blob): Promise<void>
  /** Null for an unknown blob. A range must lie within it. */
  read(key: string, range?: Range): Promise<FoundBlob | null>
  /** The size of a blob in bytes; null for an unknown one. */
  sizeOf(key: string): Promise<number | null>
  /** What is not there is removed already. */
  remove(key: string): Promise<void>
  /** Removes unfinished writes that began before this moment. */
  removeUnfinished(before: Date): Promise<void>
  /** Every blob of a bucket. */
  list(bucket: string): AsyncIterable<ListedBlob>
}

const name = /^[a-z\d](?:[a-z\d-]{1,61}[a-z\d])(?:\/[\w-][\w.:-]*)+$/i

/** Whether a key is valid. No other name reaches a file or server. */
export const isKey = (key: string): boolean => key.length <= 512 && name.test(key)

/** Whether a key is in the folder `private` of its bucket. Such blobs have no address; operations read them. */
export const isPrivate = (key: string): boolean => key.split('/')[1] === 'private'

/** Archives of accounts: private, in no backup, and removed when their time is over. */
export const archiveFolder = 'media/private/archives/'
export const isArchive = (key: string): boolean => key.startsWith(archiveFolder)

/** The address of a blob that is served below this one. */
export const addressOf = (storageUrl: string, key: string): string => `${below(storageUrl)}${key}`

/** The key of an address; null for a foreign or unnormalised one. */
export function keyAt(storageUrl: string, address: string): string | null {
  const key = address.startsWith(below(storageUrl)) ? address.slice(below(storageUrl).length) : ''
  return isKey(key) ? key : null
}

const below = (storageUrl: string) => `${storageUrl.replace(/\/+$/, '')}/`

/** What was found, to be put under another key. Its bytes are read once, as they are written there. */
export const blobOf = ({ size, bytes }: FoundBlob): Blob =>
  Object.defineProperties(new Blob(), { size: { value: size }, stream: { value: () => Readable.toWeb(bytes) } })

/** The bytes of a blob, as they are read. */
export const bytesOf = (blob: Blob): Readable => Readable.fromWeb(blob.stream() as ReadableStream)
