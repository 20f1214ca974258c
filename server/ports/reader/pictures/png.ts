import { crc32 } from 'node:zlib'
import { exifOf, orientationOf } from './orientation.ts'
import { keptOf, need, type Picture, slice } from './picture.ts'

const signature = Buffer.from('89504e470d0a1a0a', 'hex')
const headLength = 25
/** The picture, its colors and its frames; what is written about it is in other chunks. */
const ofPicture = new Set(
  'IHDR PLTE IDAT IEND tRNS bKGD cHRM gAMA iCCP sBIT sRGB cICP mDCV cLLI pHYs acTL fcTL fdAT'.split(' '),
)

/** Keeps the picture, the color profile, the frames and the orientation of a PNG up to its end. */
export function readPng(bytes: Buffer): Picture {
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
