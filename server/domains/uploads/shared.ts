import type { Context, Node } from '#server/kernel/context'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { nodeState } from '#server/kernel/node-state'
import { AppError } from '#shared/errors'
import { readPicture } from './pictures/read.ts'
import { readSound } from './sounds/read.ts'
import { type Place, storageOf, store } from './store.ts'

/** So many pictures are held in the memory at a time. */
const atOnce = 4
const largestIcon = 2 * 1024 * 1024
const inTurn = nodeState(() => ({ run: fewAtOnce(atOnce) }))

const pictures = 'JPEG, PNG, GIF or WebP image'
const withVoice = `${pictures}, nor a voice message (WebM, Ogg or MP4, as browsers record it)`

/** Reads a picture while few others are read. */
export const pictureTurn = <T>(node: Node, work: () => Promise<T>): Promise<T> => inTurn(node).run(work)

/** Stores a picture that everybody who has its address can see, without what is written about it. */
export const storePicture = (context: Context, place: Place, file: Blob, allowed = pictures) =>
  storeRead(context, place, file, readPicture, allowed)

/** The same for a picture or a voice message, which are known by their bytes. */
export const storeShown = (context: Context, place: Place, file: Blob) =>
  storeRead(context, place, file, (bytes) => readPicture(bytes) ?? readSound(bytes), withVoice)

type Read = (bytes: Buffer) => { ending: string; bytes: Buffer<ArrayBuffer> } | null

async function storeRead(
  context: Context,
  place: Place,
  file: Blob,
  read: Read,
  allowed: string,
): Promise<{ url: string; path: string }> {
  storageOf(context.node)
  return pictureTurn(context.node, async () => {
    const found = read(Buffer.from(await file.arrayBuffer()))
    if (!found) throw new AppError('UNSUPPORTED_MEDIA_TYPE', { message: `file: not a ${allowed}` })
    return store(context, place, { ending: found.ending, blob: new Blob([found.bytes]) })
  })
}

/** As JSON an icon comes in base64, whose bytes no form has counted. */
export function refuseLargeIcon({ size }: Blob): void {
  if (size > largestIcon) throw new AppError('PAYLOAD_TOO_LARGE', { message: 'file: at most 2 MB' })
}
