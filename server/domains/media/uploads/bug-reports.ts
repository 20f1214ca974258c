import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import type { Action } from '#server/kernel/context'
import type { uploads as contract } from '#shared/api/media/uploads'
import { AppError } from '#shared/errors'
import { storePicture } from './pictures.ts'
import { storageOf, storeFile } from './store.ts'

const allowed = 'JPEG, PNG, GIF or WebP image, nor an MP4, WebM or QuickTime film'
const largestImage = 10 * 1024 * 1024

/** Stores a picture or film of a fault; a film stays as it is. */
export const storeBugReport: Action<typeof contract.bugReport> = async ({ file }, context) => {
  storageOf(context.node)
  const ending = filmOf(await file.slice(0, 64).arrayBuffer())
  if (ending !== null)
    return { ...(await storeFile(context, storageFolders.bugReport, { ending, blob: file })), type: 'video' }
  if (file.size > largestImage) throw new AppError('PAYLOAD_TOO_LARGE', { message: 'file: an image has at most 10 MB' })
  return { ...(await storePicture(context, storageFolders.bugReport, file, allowed)), type: 'image' }
}

/** The kind of film by its first bytes: MPEG-4, QuickTime or WebM. */
function filmOf(head: ArrayBuffer): 'mp4' | 'mov' | 'webm' | null {
  const begin = Buffer.from(head).toString('latin1')
  if (begin.startsWith('\x1a\x45\xdf\xa3')) return begin.includes('webm') ? 'webm' : null
  const [box, brand] = [begin.slice(4, 8), begin.slice(8, 12)]
  if (box === 'ftyp') return brand === 'qt  ' ? 'mov' : isFilm.test(brand) ? 'mp4' : null
  return ['moov', 'mdat', 'wide'].includes(box) && begin.charCodeAt(0) <= lengthOfMost ? 'mov' : null
}

/** A box begins with its length; this is the first byte for 64 MB, and no character. */
const lengthOfMost = 3
/** Brands of films; others name pictures (AVIF, HEIC) and sound. */
const isFilm = /^(isom|iso[2-9]|mp4[12]|avc1|dash|M4V |MSNV|3g[gp2-9]\d?)/
