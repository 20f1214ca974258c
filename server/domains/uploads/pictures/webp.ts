import { exifOf, orientationOf } from './orientation.ts'
import { need, type Picture, slice } from './picture.ts'

interface Chunk {
  type: string
  data: Buffer
}

const ofPicture = new Set(['VP8X', 'ICCP', 'ANIM', 'ANMF', 'ALPH', 'VP8 ', 'VP8L'])
const ofFrame = new Set(['ALPH', 'VP8 ', 'VP8L'])
const frameHeader = 16
const [hasExif, hasXmp] = [0x08, 0x04]

/** Keeps the picture, the color profile, the frames and the orientation of a WebP, and nothing that its own length leaves out. */
export function readWebp(bytes: Buffer): Picture {
  const given = [...chunksOf(slice(bytes, 12, slice(bytes, 4, 4).readUInt32LE() - 4))]
  const first = given[0]
  need(first !== undefined)
  if (first.type !== 'VP8X') return pictureOf([first], first)
  const about = given.find(({ type }) => type === 'EXIF')?.data ?? Buffer.alloc(0)
  const exif = exifOf(orientationOf(about.toString('latin1', 0, 6) === 'Exif\0\0' ? about.subarray(6) : about))
  const kept = given.filter(({ type }) => ofPicture.has(type)).map(withoutMore)
  const head = kept[0]
  need(head !== undefined && head.data.length === 10 && kept.filter(({ type }) => type === 'VP8X').length === 1)
  need(kept.some(({ type }) => (type.startsWith('VP8') ? type !== 'VP8X' : type === 'ANMF')))
  const flags = Buffer.from(head.data)
  flags[0] = ((flags[0] ?? 0) & ~(hasExif | hasXmp)) | (exif === null ? 0 : hasExif)
  const chunks = [{ type: 'VP8X', data: flags }, ...kept.slice(1)]
  return pictureOf(exif === null ? chunks : [...chunks, { type: 'EXIF', data: exif }], head)
}

function pictureOf(chunks: readonly Chunk[], head: Chunk): Picture {
  const body = chunks.map(written)
  const start = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1')
  start.writeUInt32LE(4 + body.reduce((sum, { length }) => sum + length, 0), 4)
  return { ending: 'webp', ...sizeOf(head), parts: [start, ...body] }
}

function* chunksOf(body: Buffer): Generator<Chunk> {
  for (let at = 0; at < body.length; ) {
    const head = slice(body, at, 8)
    const data = slice(body, at + 8, head.readUInt32LE(4))
    yield { type: head.toString('latin1', 0, 4), data }
    at += 8 + data.length + (data.length % 2)
  }
}

function written({ type, data }: Chunk): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(data.length)
  return Buffer.concat([Buffer.from(type, 'latin1'), length, data, Buffer.alloc(data.length % 2)])
}

/** A frame is made of chunks of its own. */
function withoutMore(chunk: Chunk): Chunk {
  if (chunk.type !== 'ANMF') return chunk
  const parts = [...chunksOf(chunk.data.subarray(frameHeader))].filter(({ type }) => ofFrame.has(type))
  need(chunk.data.length > frameHeader && parts.some(({ type }) => type !== 'ALPH'))
  return { type: 'ANMF', data: Buffer.concat([chunk.data.subarray(0, frameHeader), ...parts.map(written)]) }
}

function sizeOf({ type, data }: Chunk): { width: number; height: number } {
  if (type === 'VP8X') return { width: data.readUIntLE(4, 3) + 1, height: data.readUIntLE(7, 3) + 1 }
  if (type === 'VP8L') {
    need(data[0] === 0x2f && data.length >= 5)
    const bits = data.readUInt32LE(1)
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  }
  need(type === 'VP8 ' && data.length >= 10 && data.readUIntBE(3, 3) === 0x9d012a)
  return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff }
}
