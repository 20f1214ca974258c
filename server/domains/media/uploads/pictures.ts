import type { Context } from '#server/kernel/context'
import type { FileKind } from '#server/ports/reader/port'
import { AppError } from '#shared/errors'
import { withCleanFile } from './cleaned.ts'
import { storageOf, storeFile, type UploadFolder } from './store.ts'

const largestIcon = 2 * 1024 * 1024

const pictures = 'JPEG, PNG, GIF or WebP image'
const withVoice = `${pictures}, nor a voice message (WebM, Ogg or MP4, as browsers record it)`

/** Stores a public picture without its metadata. */
export const storePicture = (context: Context, place: UploadFolder, file: Blob, allowed = pictures) =>
  storeCleaned(context, place, file, ['picture'], allowed)

const pictureHeads = ['\xff\xd8\xff', '\x89PNG\r\n\x1a\n', 'GIF87a', 'GIF89a']

/** Older SDKs send pictures unsealed. The first bytes tell: a sealed file begins with random ones. */
export async function isPlainPicture({ file, commitment }: { file: Blob; commitment?: string | undefined }) {
  const head = Buffer.from(await file.slice(0, 12).arrayBuffer()).toString('latin1')
  const isWebp = head.startsWith('RIFF') && head.endsWith('WEBP')
  return commitment === undefined && (isWebp || pictureHeads.some((one) => head.startsWith(one)))
}

/** Stores a picture or a voice message, which the first bytes tell apart. */
export const storeMedia = (context: Context, place: UploadFolder, file: Blob) =>
  storeCleaned(context, place, file, ['picture', 'sound'], withVoice)

async function storeCleaned(
  context: Context,
  place: UploadFolder,
  file: Blob,
  kinds: readonly FileKind[],
  allowed: string,
): Promise<{ url: string; path: string }> {
  storageOf(context.node)
  return withCleanFile(context, { file, kinds, refusal: `file: not a ${allowed}` }, ({ ending, bytes }) =>
    storeFile(context, place, { ending, blob: new Blob([bytes]) }),
  )
}

/** The form parser does not measure the base64 bytes of a JSON body. */
export function refuseLargeIcon({ size }: Blob): void {
  if (size > largestIcon) throw new AppError('PAYLOAD_TOO_LARGE', { message: 'file: at most 2 MB' })
}
