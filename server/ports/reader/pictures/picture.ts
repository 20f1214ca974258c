/** A picture without hidden data: author, location, program, and bytes after its end. */
export interface Picture {
  ending: 'jpg' | 'png' | 'gif' | 'webp'
  /** Of all that is drawn, in pixels. */
  width: number
  height: number
  bytes: Buffer<ArrayBuffer>
}

/** These bytes are not what their format asks for. */
export class Unsound extends Error {}

/** These bytes are of more pieces than a picture may be made of. */
export class TooManyPieces extends Error {}

/** The limit of segments, chunks and frames. Encoders cut PNG data in 8 kB, so 10 MB are 1,280 chunks. A frame is two or three. */
export const mostPieces = 16_384

export function need(isSound: boolean): asserts isSound {
  if (!isSound) throw new Unsound()
}

/** The next so many bytes, which must be there. */
export function slice(bytes: Buffer, start: number, length: number): Buffer {
  need(start + length <= bytes.length)
  return bytes.subarray(start, start + length)
}

/** What is kept of a picture, in order. */
export interface KeptParts {
  /** Each piece that is read, kept or not: each costs memory and time, however short it is. */
  count(): void
  /** These bytes as they stand; those that follow one another become one part. */
  keep(start: number, end: number): void
  /** Bytes that stand nowhere in it. */
  add(bytes: Buffer): void
  parts(): Buffer[]
}

export function keptOf(bytes: Buffer): KeptParts {
  const parts: Buffer[] = []
  let [pieces, from, to] = [0, 0, 0]
  const end = () => {
    if (to > from) parts.push(bytes.subarray(from, to))
    from = to
  }
  return {
    count() {
      pieces += 1
      if (pieces > mostPieces) throw new TooManyPieces()
    },
    keep(start, until) {
      if (start !== to) end()
      if (from === to) from = start
      to = until
    },
    add(made) {
      end()
      parts.push(made)
    },
    parts() {
      end()
      return parts
    },
  }
}

const tag = 0x01_12
const short = 3

/** The rotation of a picture by its Exif, from 1 to 8. 1 is upright, and the default. */
export function orientationOf(tiff: Buffer): number {
  const isLittle = tiff.toString('latin1', 0, 4) === 'II*\0'
  if (!isLittle && tiff.toString('latin1', 0, 4) !== 'MM\0*') return 1
  const readShort = (at: number) => (isLittle ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  try {
    const directory = isLittle ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
    const entries = readShort(directory)
    for (let at = directory + 2; at < directory + 2 + 12 * entries; at += 12) {
      if (readShort(at) !== tag || readShort(at + 2) !== short) continue
      const orientation = readShort(at + 8)
      return orientation >= 1 && orientation <= 8 ? orientation : 1
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return 1
}

/** Exif that says nothing else; null where there is nothing to say. */
export function exifOf(orientation: number): Buffer | null {
  if (orientation === 1) return null
  const tiff = Buffer.from('4d4d002a0000000800010112000300000001000000000000', 'hex')
  tiff.writeUInt16BE(orientation, 18)
  return Buffer.concat([tiff, Buffer.alloc(2)])
}
