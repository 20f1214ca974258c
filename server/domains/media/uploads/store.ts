import { randomBytes } from 'node:crypto'
import type { StoredUpload } from '#server/domains/media/files/model'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import { addressOf as addressIn, type Storage } from '#server/ports/storage/port'
import { AppError } from '#shared/errors'
import { newUploadFields, storeFileOnce } from './store-once.ts'

const randomCharacters = 25

/** The storage of files; throws without one. */
export function storageOf({ services: { storage } }: Pick<Node, 'services'>): Storage {
  if (!storage) throw new AppError('SERVICE_UNAVAILABLE', { message: 'This server keeps no files' })
  return storage
}

/** A key in a bucket's folder of the caller. */
export const newFileKey = (context: Context, { bucket, folder }: UploadFolder, ...below: string[]): string =>
  [bucket, folder, signedIn(context).account.toLowerCase(), ...below].join('/')

/** A random name. */
export const newFileName = ({ node }: Context): string => `${node.now()}_${randomName()}`

export interface UploadFolder {
  bucket: string
  folder: string
}

interface Given {
  ending: string
  blob: Blob
  /** The hash of its bytes: a file of the same name is the same. */
  name?: string
  /** More fields of its record. */
  about?: Pick<StoredUpload, 'evidence_of' | 'is_as_sent'>
}

/** Stores a file that is public unless its folder is private. */
export async function storeFile(context: Context, place: UploadFolder, { ending, blob, name, about }: Given) {
  const { account } = signedIn(context)
  const { node } = context
  const storage = storageOf(node)
  const key = newFileKey(context, place, `${name ?? newFileName(context)}.${ending}`)
  const { url } = fileAddressOf(node, key)
  const record = {
    ...newUploadFields(node),
    owner: account,
    bytes: blob.size,
    vector: key,
    content: key,
    url,
    ...about,
  }
  await storeFileOnce(context, storage, { _id: key, ...record }, blob)
  return fileAddressOf(node, key)
}

export const fileAddressOf = ({ settings }: Pick<Node, 'settings'>, key: string): { url: string; path: string } => ({
  url: addressIn(settings.storageUrl, key),
  path: key.slice(key.indexOf('/') + 1),
})

/** As many characters as 128 random bits need. */
const randomName = () =>
  BigInt(`0x${randomBytes(20).toString('hex')}`)
    .toString(36)
    .padStart(31, '0')
    .slice(-randomCharacters)
