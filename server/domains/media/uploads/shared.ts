import type { Context } from '#server/kernel/context'
import type { FileKind } from '#server/ports/reader/port'
import { AppError } from '#shared/errors'
import { withCleaned } from './cleaned.ts'
import { type Place, storageOf, store } from './store.ts'

const largestIcon = 2 * 1024 * 1024

const pictures = 'JPEG, PNG, GIF or WebP image'
const withVoice = `${pictures}, nor a voice message (WebM, Ogg or MP4, as browsers record it)`

/** Stores a picture that everybody who has its address can see, without what is written about it. */
export const storePicture = (context: Context, place: Place, file: Blob, allowed = pictures) =>
  storeCleaned(context, place, file, ['picture'], allowed)

const pictureHeads = ['\xff\xd8\xff', '\x89PNG\r\n\x1a\n', 'GIF87a', 'GIF89a']

/** A client of the older SDK does not seal. A picture is known by its first bytes, as a sealed file begins with random ones. */
export async function isPlainPicture({ file, commitment }: { file: Blob; commitment?: string | undefined }) {
  const head = Buffer.from(await file.slice(0, 12).arrayBuffer()).toString('latin1')
  const isWebp = head.startsWith('RIFF') && head.endsWith('WEBP')
  return commitment === undefined && (isWebp || pictureHeads.some((one) => head.startsWith(one)))
}

/** The same for a picture or a voice message, which are known by their bytes. */
export const storeShown = (context: Context, place: Place, file: Blob) =>
  storeCleaned(context, place, file, ['picture', 'sound'], withVoice)

async function storeCleaned(
  context: Context,
  place: Place,
  file: Blob,
  kinds: readonly FileKind[],
  allowed: string,
): Promise<{ url: string; path: string }> {
  storageOf(context.node)
  return withCleaned(context, { file, kinds, refusal: `file: not a ${allowed}` }, ({ ending, bytes }) =>
    store(context, place, { ending, blob: new Blob([bytes]) }),
  )
}

/** As JSON an icon comes in base64, whose bytes no form has counted. */
export function refuseLargeIcon({ size }: Blob): void {
  if (size > largestIcon) throw new AppError('PAYLOAD_TOO_LARGE', { message: 'file: at most 2 MB' })
}
