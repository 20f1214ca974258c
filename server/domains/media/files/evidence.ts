import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'

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
