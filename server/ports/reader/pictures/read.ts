import { AppError } from '#shared/errors'
import { readGif } from './gif.ts'
import { readJpeg } from './jpeg.ts'
import { mostPieces, need, type Picture, TooManyPieces, Unsound } from './picture.ts'
import { readPng } from './png.ts'
import { readWebp } from './webp.ts'

/** What a picture is known by: its first bytes, never its name or the type it is sent as. */
function readerOf(bytes: Buffer): ((bytes: Buffer) => Picture) | null {
  const begin = bytes.toString('latin1', 0, 12)
  if (begin.startsWith('\xff\xd8\xff')) return readJpeg
  if (begin.startsWith('\x89PNG\r\n\x1a\n')) return readPng
  if (/^GIF8[79]a/.test(begin)) return readGif
  return begin.startsWith('RIFF') && begin.endsWith('WEBP') ? readWebp : null
}

/** More than these a browser may not be able to hold. */
const mostPixels = 64 * 1024 * 1024
const longestSide = 16_384

const tooManyPixels = new AppError('PAYLOAD_TOO_LARGE', {
  message: `A picture may have at most ${mostPixels / 1024 / 1024} megapixels, and ${longestSide} on a side`,
})

/** A JPEG, PNG, GIF or WebP without what is not shown; null where it is none, or is not whole. Throws PAYLOAD_TOO_LARGE where it would be shown too large, or is of too many pieces. */
export function readPicture(bytes: Buffer): Picture | null {
  const read = readerOf(bytes)
  if (read === null) return null
  try {
    const picture = read(bytes)
    const { width, height } = picture
    need(width > 0 && height > 0)
    if (Math.max(width, height) > longestSide || width * height > mostPixels) throw tooManyPixels
    return picture
  } catch (error) {
    if (error instanceof Unsound) return null
    if (!(error instanceof TooManyPieces)) throw error
    throw new AppError('PAYLOAD_TOO_LARGE', { message: `A picture may be made of at most ${mostPieces} pieces` })
  }
}
