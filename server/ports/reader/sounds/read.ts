import { AppError } from '#shared/errors'
import { TooManyPieces, Unsound } from '../pictures/picture.ts'
import { readMp4 } from './mp4.ts'
import { readOgg } from './ogg.ts'
import { mostPieces, type Sound } from './sound.ts'
import { readWebm } from './webm.ts'

/** What a sound is known by: its first bytes, never its name or the type it is sent as. */
function readerOf(bytes: Buffer): ((bytes: Buffer) => Sound) | null {
  const begin = bytes.toString('latin1', 0, 12)
  if (begin.startsWith('\x1a\x45\xdf\xa3')) return readWebm
  if (begin.startsWith('OggS')) return readOgg
  return begin.slice(4, 8) === 'ftyp' ? readMp4 : null
}

/**
 * A voice message of a browser: Opus in WebM or Ogg, AAC or Opus in MP4. Null if it is none, has video, or is incomplete.
 * Throws PAYLOAD_TOO_LARGE if it has too many pieces.
 */
export function readSound(bytes: Buffer): Sound | null {
  const read = readerOf(bytes)
  if (read === null) return null
  try {
    return read(bytes)
  } catch (error) {
    if (error instanceof Unsound) return null
    if (!(error instanceof TooManyPieces)) throw error
    throw new AppError('PAYLOAD_TOO_LARGE', { message: `A voice message may be made of at most ${mostPieces} pieces` })
  }
}
