import { createHash } from 'node:crypto'
import { base32nopad } from '@scure/base'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import type { Action, Context } from '#server/kernel/context'
import { type uploads as contract, pixelArtMegabytes } from '#shared/api/media/uploads'
import { AppError } from '#shared/errors'
import { withCleanFile } from './cleaned.ts'
import { storageOf, storeFile } from './store.ts'

const refusal = 'imageData: not a PNG'
const beginning = /^data:[\w.+/-]{0,100};base64,/

/** Stores pixel art under the hash of its bytes, and pins it in IPFS where that is configured. */
export const storePixelArt: Action<typeof contract.pixelArt> = async ({ imageData }, context: Context) => {
  storageOf(context.node)
  const bytes = bytesIn(imageData)
  if (bytes.length > pixelArtMegabytes * 1024 * 1024)
    throw new AppError('PAYLOAD_TOO_LARGE', { message: `imageData: at most ${pixelArtMegabytes} MB` })
  const given = { file: new Blob([bytes]), kinds: ['picture'] as const, refusal }
  const { name, blob, url, path } = await withCleanFile(context, given, async (picture) => {
    if (picture.ending !== 'png') throw new AppError('UNSUPPORTED_MEDIA_TYPE', { message: refusal })
    const [name, blob] = [cidOf(picture.bytes), new Blob([picture.bytes], { type: 'image/png' })]
    return { name, blob, ...(await storeFile(context, storageFolders.pixelArt, { name, ending: 'png', blob })) }
  })
  const { pinning } = context.node.services
  const ipfsHash = pinning === null ? name : await pinning.pin(`${name}.png`, blob)
  return { success: true as const, ipfsHash, ipfsUrl: url, path, alternativeUrls: pinning?.urlsOf(ipfsHash) ?? [] }
}

/** The bytes of a data URL. A pattern over the whole text would overflow the stack. */
function bytesIn(dataUrl: string): Buffer<ArrayBuffer> {
  const given = dataUrl.slice(beginning.exec(dataUrl)?.[0].length ?? dataUrl.length)
  const bytes = Buffer.from(given, 'base64')
  if (given === '' || bytes.toString('base64') !== given)
    throw new AppError('VALIDATION_ERROR', { message: 'imageData: not a PNG data URL' })
  return bytes
}

/** CID version 1, raw codec, SHA-256, its length. */
const prefix = [0x01, 0x55, 0x12, 0x20]

/** The hash (CID) of bytes as one block, as IPFS computes it. */
export const cidOf = (bytes: Uint8Array): string =>
  `b${base32nopad.encode(new Uint8Array([...prefix, ...createHash('sha256').update(bytes).digest()])).toLowerCase()}`
