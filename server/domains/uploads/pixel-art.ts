import { folders } from '#server/domains/verdict/storage-folders'
import type { Action, Context } from '#server/kernel/context'
import { type uploads as contract, pixelArtMegabytes } from '#shared/api/uploads'
import { AppError } from '#shared/errors'
import { cidOf } from './cid.ts'
import { readPicture } from './pictures/read.ts'
import { storageFor, store } from './store.ts'

const beginning = 'data:image/png;base64,'

/** Stores pixel art under the hash of its bytes, and pins it in IPFS where that is configured. */
export const storePixelArt: Action<typeof contract.pixelArt> = async ({ imageData }, context: Context) => {
  await storageFor(context)
  const bytes = bytesIn(imageData)
  if (bytes.length > pixelArtMegabytes * 1024 * 1024)
    throw new AppError('VALIDATION_ERROR', { message: `imageData: at most ${pixelArtMegabytes} MB` })
  const picture = readPicture(bytes)
  if (picture?.ending !== 'png') throw new AppError('VALIDATION_ERROR', { message: 'imageData: not a PNG data URL' })
  const png = Buffer.concat(picture.parts)
  const blob = new Blob([png], { type: 'image/png' })
  const name = cidOf(png)
  const { url, path } = await store(context, folders.pixelArt, { name, ending: 'png', blob })
  const { pinning } = context.node.services
  const ipfsHash = pinning === null ? name : await pinning.pin(`${name}.png`, blob)
  return { success: true as const, ipfsHash, ipfsUrl: url, path, alternativeUrls: pinning?.urlsOf(ipfsHash) ?? [] }
}

/** The bytes of a data URL of a PNG; none where it is something else. A pattern would need a stack as deep as the text is long. */
function bytesIn(dataUrl: string): Buffer {
  if (!dataUrl.startsWith(beginning)) return Buffer.alloc(0)
  const given = dataUrl.slice(beginning.length)
  const bytes = Buffer.from(given, 'base64')
  return bytes.toString('base64') === given ? bytes : Buffer.alloc(0)
}
