import { exifOf, type KeptParts, keptOf, need, orientationOf, type Picture, slice } from './picture.ts'

/** A chunk and its position, with the padding to an even length. */
interface Chunk {
  type: string
  data: Buffer
  start: number
  end: number
}

interface Size {
  width: number
  height: number
}

const ofPicture = new Set(['ICCP', 'ANIM', 'ALPH', 'VP8 ', 'VP8L'])
const ofFrame = new Set(['ALPH', 'VP8 ', 'VP8L'])
const isDrawn = (type: string) => type === 'VP8 ' || type === 'VP8L'
const [riffHeader, chunkHeader, frameHeader] = [12, 8, 16]
const [hasExif, hasXmp] = [0x08, 0x04]

/** Keeps the picture, color profile, frames and orientation of a WebP, within its own length. */
export function readWebp(bytes: Buffer): Picture {
  const body = slice(bytes, 0, 8 + slice(bytes, 4, 4).readUInt32LE())
  const kept = keptOf(body)
  const given = chunksOf(body, riffHeader, kept)
  const first = given.next().value
  need(first !== undefined)
  if (first.type !== 'VP8X') {
    keep(kept, body, first)
    return pictureOf(sizeOf(first), kept.parts())
  }
  need(first.data.length === 10)
  const canvas = sizeOf(first)
  let exif: Buffer | null | undefined
  let drawn = 0
  for (const chunk of given) {
    need(chunk.type !== 'VP8X')
    if (chunk.type === 'EXIF') exif ??= cleaned(chunk.data)
    if (chunk.type === 'ANMF') keepFrame(kept, body, chunk, canvas)
    if (ofPicture.has(chunk.type)) keep(kept, body, chunk)
    if (isDrawn(chunk.type)) need(isWithin(sizeOf(chunk), canvas))
    if (isDrawn(chunk.type) || chunk.type === 'ANMF') drawn += 1
  }
  need(drawn > 0)
  const flags = Buffer.from(first.data)
  flags[0] = ((flags[0] ?? 0) & ~(hasExif | hasXmp)) | (exif ? hasExif : 0)
  return pictureOf(canvas, [written('VP8X', flags), ...kept.parts(), ...(exif ? [written('EXIF', exif)] : [])])
}

function cleaned(about: Buffer): Buffer | null {
  return exifOf(orientationOf(about.toString('latin1', 0, 6) === 'Exif\0\0' ? about.subarray(6) : about))
}

function pictureOf(size: Size, parts: readonly Buffer[]): Picture {
  const start = Buffer.from('RIFF\0\0\0\0WEBP', 'latin1')
  const bytes = Buffer.concat([start, ...parts])
  bytes.writeUInt32LE(bytes.length - 8, 4)
  return { ending: 'webp', ...size, bytes }
}

function* chunksOf(body: Buffer, start: number, kept: KeptParts): Generator<Chunk, undefined> {
  for (let at = start; at < body.length; ) {
    kept.count()
    const head = slice(body, at, chunkHeader)
    const data = slice(body, at + chunkHeader, head.readUInt32LE(4))
    const end = at + chunkHeader + data.length + (data.length % 2)
    yield { type: head.toString('latin1', 0, 4), data, start: at, end }
    at = end
  }
}

/** The byte that fills it up may be missing, or say something. */
function keep(kept: KeptParts, body: Buffer, { type, data, start, end }: Chunk): void {
  if (data.length % 2 === 0 || body[end - 1] === 0) kept.keep(start, end)
  else kept.add(written(type, data))
}

function written(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(data.length)
  return Buffer.concat([Buffer.from(type, 'latin1'), length, data, Buffer.alloc(data.length % 2)])
}

/** A frame is made of chunks of its own. */
function keepFrame(kept: KeptParts, body: Buffer, { data, start }: Chunk, canvas: Size): void {
  need(data.length > frameHeader)
  const numberAt = (at: number) => data.readUIntLE(at, 3)
  const frame = { width: numberAt(6) + 1, height: numberAt(9) + 1 }
  need(isWithin({ width: 2 * numberAt(0) + frame.width, height: 2 * numberAt(3) + frame.height }, canvas))
  const inner = start + chunkHeader + frameHeader
  const all = body.subarray(0, start + chunkHeader + data.length)
  const chunks = [...chunksOf(all, inner, kept)].filter(({ type }) => ofFrame.has(type))
  const drawn = chunks.filter(({ type }) => isDrawn(type))
  need(drawn.length > 0 && drawn.every((chunk) => isWithin(sizeOf(chunk), frame)))
  const length = chunks.reduce((sum, chunk) => sum + chunk.end - chunk.start, frameHeader)
  const head = Buffer.from(body.subarray(start, inner))
  head.writeUInt32LE(length, 4)
  if (length === data.length) kept.keep(start, inner)
  else kept.add(head)
  for (const chunk of chunks) keep(kept, all, chunk)
}

const isWithin = (inner: Size, outer: Size) => inner.width <= outer.width && inner.height <= outer.height

function sizeOf({ type, data }: Chunk): Size {
  if (type === 'VP8X') return { width: data.readUIntLE(4, 3) + 1, height: data.readUIntLE(7, 3) + 1 }
  if (type === 'VP8L') {
    need(data[0] === 0x2f && data.length >= 5)
    const bits = data.readUInt32LE(1)
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
  }
  need(type === 'VP8 ' && data.length >= 10 && data.readUIntBE(3, 3) === 0x9d012a)
  return { width: data.readUInt16LE(6) & 0x3fff, height: data.readUInt16LE(8) & 0x3fff }
}
