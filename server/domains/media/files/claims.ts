import type { NamedFile } from '#server/domains/moderation/verdict/content'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { AppError } from '#shared/errors'
import { type StoredUpload, storedFile, UploadRecords } from './model.ts'

/** Keeps these files while `act` sends a message that names them. `missing` are addresses without a stored file of this account. */
export async function withKeptFiles<T>(
  node: Node,
  owner: string,
  files: readonly NamedFile[],
  act: (missing: ReadonlySet<string>) => Promise<T>,
): Promise<T> {
  if (files.length === 0) return act(new Set())
  const claim = newId()
  const missing = new Set<string>()
  for (const file of files) if (!(await claimFile(node, owner, file, claim))) missing.add(file.url)
  const claimed = files.filter(({ url }) => !missing.has(url)).map(({ key }) => key)
  const end = () =>
    UploadRecords.updateMany({ _id: { $in: claimed } }, { $pull: { claims: claim } }).catch((error: unknown) =>
      node.logger.warn({ error }, 'files that a message names are kept for a day more'),
    )
  try {
    const done = await act(missing)
    await end()
    return done
  } catch (error) {
    // A refused message names no file; after any other failure it may.
    if (error instanceof AppError && error.status < 500) await end()
    throw error
  }
}

async function claimFile(node: Node, owner: string, { key, bytes }: NamedFile, claim: string): Promise<boolean> {
  const { matchedCount } = await UploadRecords.updateOne(
    { _id: key, owner, ...(bytes !== undefined && { bytes }), ...storedFile },
    { $set: { claim, checked_at: new Date(node.now()) }, $addToSet: { claims: claim } },
  )
  return matchedCount === 1
}

/** The addresses without a stored file of this account. */
export async function missingFiles(owner: string, files: readonly NamedFile[]): Promise<ReadonlySet<string>> {
  if (files.length === 0) return new Set()
  const keys = files.map(({ key }) => key)
  const found = await UploadRecords.find({ _id: { $in: keys }, owner, ...storedFile }, { bytes: 1 }).lean<
    StoredUpload[]
  >()
  const sizes = new Map(found.map(({ _id, bytes }) => [_id, bytes]))
  const isStored = ({ key, bytes }: NamedFile) => sizes.has(key) && (bytes === undefined || bytes === sizes.get(key))
  return new Set(files.filter((file) => !isStored(file)).map(({ url }) => url))
}

const { bucket, folder } = storageFolders.evidence

/** The key of a piece of evidence, by its name, which its uploader alone knows. */
export const evidenceKey = (account: string, name: string): string =>
  `${bucket}/${folder}/${account.toLowerCase()}/${name}`

/** Formats that browsers show without running code: ending, type, first bytes. */
const kinds = [
  ['jpg', 'image/jpeg', /^\xff\xd8\xff/],
  ['png', 'image/png', /^\x89PNG\r\n/],
  ['gif', 'image/gif', /^GIF8[79]a/],
  ['webp', 'image/webp', /^RIFF.{4}WEBP/s],
  ['avif', 'image/avif', /^.{4}ftypavi[fs]/s],
  ['heic', 'image/heic', /^.{4}ftyp(hei[cx]|mif1)/s],
  ['weba', 'audio/webm', /^.E\xdf\xa3/s],
  ['ogg', 'audio/ogg', /^OggS/],
  ['m4a', 'audio/mp4', /^.{4}ftyp(M4A |isom|mp4[12])/s],
] as const

/** The ending by the first bytes, never by the declared type; null for an unknown format. */
export async function evidenceEnding(file: Blob): Promise<string | null> {
  const head = Buffer.from(await file.slice(0, 16).arrayBuffer()).toString('latin1')
  return kinds.find(([, , begins]) => begins.test(head))?.[0] ?? null
}

export const evidenceType = (key: string): string =>
  kinds.find(([ending]) => key.endsWith(`.${ending}`))?.[1] ?? 'application/octet-stream'
