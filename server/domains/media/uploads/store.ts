import { randomBytes } from 'node:crypto'
import type { StoredUpload } from '#server/domains/media/files/model'
import { type Context, type Node, signedIn } from '#server/kernel/context'
import { addressOf as addressIn, type Storage } from '#server/ports/storage/port'
import { AppError } from '#shared/errors'
import { fresh, storeOnce } from './store-once.ts'

const randomLetters = 25

/** Where files are kept; refuses where none are. */
export function storageOf({ services: { storage } }: Pick<Node, 'services'>): Storage {
  if (!storage) throw new AppError('SERVICE_UNAVAILABLE', { message: 'This server keeps no files' })
  return storage
}

/** A key in a bucket's folder of the caller. */
export const keyOf = (context: Context, { bucket, folder }: Place, ...below: string[]): string =>
  [bucket, folder, signedIn(context).account.toLowerCase(), ...below].join('/')

/** A name that nobody can guess. */
export const newName = ({ node }: Context): string => `${node.now()}_${randomName()}`

export interface Place {
  bucket: string
  folder: string
}

interface Given {
  ending: string
  blob: Blob
  /** By its bytes; what is there under such a name is the same. */
  name?: string
  /** What else its record says. */
  about?: Pick<StoredUpload, 'evidence_of' | 'is_as_sent'>
}

/** Stores a file that everybody who has its address can read, unless its place is private. */
export async function store(context: Context, place: Place, { ending, blob, name, about }: Given) {
  const { account } = signedIn(context)
  const { node } = context
  const storage = storageOf(node)
  const key = keyOf(context, place, `${name ?? newName(context)}.${ending}`)
  const { url } = addressOf(node, key)
  const record = { ...fresh(node), owner: account, bytes: blob.size, vector: key, content: key, url, ...about }
  await storeOnce(context, storage, { _id: key, ...record }, blob)
  return addressOf(node, key)
}

export const addressOf = ({ settings }: Pick<Node, 'settings'>, key: string): { url: string; path: string } => ({
  url: addressIn(settings.storageUrl, key),
  path: key.slice(key.indexOf('/') + 1),
})

/** As many letters and digits as 128 random bits need. */
const randomName = () =>
  BigInt(`0x${randomBytes(20).toString('hex')}`)
    .toString(36)
    .padStart(31, '0')
    .slice(-randomLetters)
