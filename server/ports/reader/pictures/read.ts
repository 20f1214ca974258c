import { crc32 } from 'node:zlib'
import { AppError } from '#shared/errors'
import {
  exifOf,
  keptOf,
  mostPieces,
  need,
  orientationOf,
  type Picture,
  slice,
  TooManyPieces,
  Unsound,
} from './picture.ts'
import { readWebp } from './webp.ts'

const [extension, image, trailer] = [0x21, 0x2c, 0x3b]
const [plainText, control, application] = [0x01, 0xf9, 0xff]
/** How often it is played again, in so few bytes. */
const loops = new Set(['NETSCAPE2.0', 'ANIMEXTS1.0'])
const longestLoop = 32
const profile = 'ICCRGBG1012'

/** Keeps the frames of a GIF, how long each is shown and how often all are played. */
function readGif(bytes: Buffer): Picture {
  const screen = slice(bytes, 0, 13)
  // A browser makes room for a frame that is larger than the screen.
  let [width, height] = [screen.readUInt16LE(6), screen.readUInt16LE(8)]
  need(width > 0 && height > 0)
  const kept = keptOf(bytes)
  let at = 13 + colorsAt(bytes, 10)
  kept.keep(0, at)
  let frames = 0
  let shown: { start: number; end: number } | null = null
  // Many have no end.
  for (let kind = bytes[at]; kind !== trailer && at < bytes.length; kind = bytes[at]) {
    kept.count()
    const start = at
    if (kind === image) {
      const frame = slice(bytes, start, 10)
      width = Math.max(width, frame.readUInt16LE(1) + frame.readUInt16LE(5))
      height = Math.max(height, frame.readUInt16LE(3) + frame.readUInt16LE(7))
      at = endOfBlocks(bytes, start + 10 + colorsAt(bytes, start + 9) + 1)
      if (shown) kept.keep(shown.start, shown.end)
      kept.keep(start, at)
      shown = null
      frames += 1
      continue
    }
    need(kind === extension)
    at = endOfBlocks(bytes, start + 2)
    const about = bytes[start + 1]
    if (about === control) {
      need(at - start === 8)
      shown = { start, end: at }
    }
    // The plain text extension uses up the control of the next frame.
    if (about === plainText) shown = null
    if (about === application && isOfFrames(bytes.subarray(start, at))) kept.keep(start, at)
  }
  need(frames > 0)
  kept.add(Buffer.from([trailer]))
  return { ending: 'gif', width, height, bytes: Buffer.concat(kept.parts()) }
}

function isOfFrames(whole: Buffer): boolean {
  const name = whole.toString('latin1', 3, 14)
  return name === profile || (loops.has(name) && whole.length <= longestLoop)
}

/** How many bytes the table of colors takes that these flags tell of. */
function colorsAt(bytes: Buffer, at: number): number {
  const flags = slice(bytes, at, 1).readUInt8()
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0
}

/** There may be millions of them, of a byte each. */
function endOfBlocks(bytes: Buffer, start: number): number {
  for (let at = start; ; ) {
    const length = bytes[at]
    need(length !== undefined)
    at += 1 + length
    if (length === 0) return at
  }
}

const [startOfImage, endOfImage, startOfScan] = [0xd8, 0xd9, 0xda]
const [app0, app1, app2, app14] = [0xe0, 0xe1, 0xe2, 0xee]
/** Tables, lengths and frames of all kinds: what a decoder reads. */
const isOfPicture = (code: number) => (code >= 0xc0 && code <= 0xcf && code !== 0xc8) || (code >= 0xda && code <= 0xdf)
const isFrame = (code: number) => code >= 0xc0 && code <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(code)

const segment = (code: number, data: Buffer): Buffer => {
  const head = Buffer.from([0xff, code, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([head, data])
}

/** Keeps frames, tables, scans, color profile and orientation of a JPEG up to the end of the image. */
function readJpeg(bytes: Buffer): Picture {
  const kept = keptOf(bytes)
  let jfif: Buffer | null = null
  let turned: number | null = null
  let size: { width: number; height: number } | null = null
  let scans = 0
  for (let at = 2; ; ) {
    kept.count()
    const code = codeAt(bytes, at)
    if (code.value === endOfImage) break
    // Of what fills the place before a marker nothing stays.
    const start = code.end - 2
    const data = slice(bytes, code.end + 2, lengthAt(bytes, code.end) - 2)
    at = code.end + 2 + data.length
    if (isFrame(code.value)) {
      need(size === null && data.length >= 6)
      size = { width: data.readUInt16BE(3), height: data.readUInt16BE(1) }
    }
    if (isOfPicture(code.value) || isProfile(code.value, data)) kept.keep(start, at)
    // Its colors are read wrongly without it.
    if (code.value === app14 && begins(data, 'Adobe') && data.length >= 12)
      kept.add(segment(app14, data.subarray(0, 12)))
    // What may stand in it beside that is a smaller picture.
    if (code.value === app0 && begins(data, 'JFIF\0') && data.length >= 14)
      jfif ??= segment(app0, Buffer.concat([data.subarray(0, 12), Buffer.alloc(2)]))
    if (code.value === app1 && begins(data, 'Exif\0\0')) turned ??= orientationOf(data.subarray(6))
    if (code.value !== startOfScan) continue
    need(size !== null)
    scans += 1
    const end = endOfScan(bytes, at)
    kept.keep(at, end)
    at = end
  }
  need(size !== null && scans > 0)
  const exif = turned === null ? null : exifOf(turned)
  const about = exif === null ? [] : [segment(app1, Buffer.concat([Buffer.from('Exif\0\0'), exif]))]
  const parts = [marker(startOfImage), ...(jfif === null ? [] : [jfif]), ...about, ...kept.parts(), marker(endOfImage)]
  return { ending: 'jpg', ...size, bytes: Buffer.concat(parts) }
}

const marker = (code: number) => Buffer.from([0xff, code])
const begins = (data: Buffer, name: string) => data.toString('latin1', 0, name.length) === name
const isProfile = (code: number, data: Buffer) => code === app2 && begins(data, 'ICC_PROFILE\0')

function codeAt(bytes: Buffer, start: number): { value: number; end: number } {
  let at = start
  need(bytes[at] === 0xff)
  while (bytes[at] === 0xff) at += 1
  const value = bytes[at]
  need(value !== undefined && value >= 0xc0 && !(value >= 0xd0 && value <= startOfImage))
  return { value, end: at + 1 }
}

function lengthAt(bytes: Buffer, at: number): number {
  const length = slice(bytes, at, 2).readUInt16BE()
  need(length >= 2)
  return length
}

/** The position of the next marker, without stuffed bytes and restarts. There may be millions of those, so a call for each is too slow. */
function endOfScan(bytes: Buffer, start: number): number {
  for (let at = start; ; at += 1) {
    if (bytes[at] !== 0xff) {
      need(at < bytes.length)
      continue
    }
    const next = bytes[at + 1]
    need(next !== undefined)
    if (next !== 0xff && next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at
  }
}

const signature = Buffer.from('89504e470d0a1a0a', 'hex')
const headLength = 25
/** The picture, its colors and its frames; what is written about it is in other chunks. */
const ofPicture = new Set(
  'IHDR PLTE IDAT IEND tRNS bKGD cHRM gAMA iCCP sBIT sRGB cICP mDCV cLLI pHYs acTL fcTL fdAT'.split(' '),
)

/** Keeps the picture, the color profile, the frames and the orientation of a PNG up to its end. */
function readPng(bytes: Buffer): Picture {
  const kept = keptOf(bytes)
  let turned: number | null = null
  let [width, height, drawn, at] = [0, 0, 0, signature.length]
  for (let type = ''; type !== 'IEND'; ) {
    kept.count()
    const data = slice(bytes, at + 8, slice(bytes, at, 4).readUInt32BE())
    const whole = slice(bytes, at, data.length + 12)
    type = whole.toString('latin1', 4, 8)
    need((type === 'IHDR') === (at === signature.length))
    if (type === 'IHDR') {
      need(data.length === 13)
      width = data.readUInt32BE(0)
      height = data.readUInt32BE(4)
    }
    if (type === 'IDAT') drawn += 1
    if (type === 'fcTL') need(isWithin(data, width, height))
    if (type === 'eXIf') turned ??= orientationOf(data)
    // What a decoder must know and we do not is no picture to us.
    need(ofPicture.has(type) || /^[a-z][A-Za-z]{3}$/.test(type))
    if (ofPicture.has(type)) {
      need(whole.readUInt32BE(whole.length - 4) === crc32(whole.subarray(4, -4)))
      if (type !== 'IHDR') kept.keep(at, at + whole.length)
    }
    at += whole.length
  }
  need(drawn > 0)
  const exif = turned === null ? null : exifOf(turned)
  const begin = bytes.subarray(0, signature.length + headLength)
  const about = exif === null ? [] : [chunkOf('eXIf', exif)]
  return { ending: 'png', width, height, bytes: Buffer.concat([begin, ...about, ...kept.parts()]) }
}

/** Whether the described frame has an area, and lies within the picture. */
function isWithin(frame: Buffer, width: number, height: number): boolean {
  if (frame.length !== 26) return false
  const [wide, high] = [frame.readUInt32BE(4), frame.readUInt32BE(8)]
  return wide > 0 && high > 0 && frame.readUInt32BE(12) + wide <= width && frame.readUInt32BE(16) + high <= height
}

function chunkOf(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}

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
