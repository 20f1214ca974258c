import { crc32 } from 'node:zlib'
import { exifOf, orientationOf } from './orientation.ts'
import { need, type Picture, slice } from './picture.ts'

const signature = Buffer.from('89504e470d0a1a0a', 'hex')
/** The picture, its colors and its frames; what is written about it is in other chunks. */
const ofPicture = new Set(
  'IHDR PLTE IDAT IEND tRNS bKGD cHRM gAMA iCCP sBIT sRGB cICP mDCV cLLI pHYs acTL fcTL fdAT'.split(' '),
)

/** Keeps the picture, the color profile, the frames and the orientation of a PNG up to its end. */
export function readPng(bytes: Buffer): Picture {
  const chunks: Buffer[] = []
  let exif: Buffer | null = null
  let [width, height, drawn, at] = [0, 0, 0, signature.length]
  for (let type = ''; type !== 'IEND'; ) {
    const data = slice(bytes, at + 8, slice(bytes, at, 4).readUInt32BE())
    const whole = slice(bytes, at, data.length + 12)
    type = whole.toString('latin1', 4, 8)
    need((type === 'IHDR') === (chunks.length === 0))
    if (type === 'IHDR') {
      need(data.length === 13)
      width = data.readUInt32BE(0)
      height = data.readUInt32BE(4)
    }
    if (type === 'IDAT') drawn += 1
    if (type === 'eXIf') exif = exifOf(orientationOf(data))
    // What a decoder must know and we do not is no picture to us.
    need(ofPicture.has(type) || /^[a-z][A-Za-z]{3}$/.test(type))
    if (ofPicture.has(type)) {
      need(whole.readUInt32BE(whole.length - 4) === crc32(whole.subarray(4, -4)))
      chunks.push(whole)
    }
    at += whole.length
  }
  need(drawn > 0)
  const [head, ...rest] = chunks as [Buffer, ...Buffer[]]
  return {
    ending: 'png',
    width,
    height,
    parts: [signature, head, ...(exif === null ? [] : [chunkOf('eXIf', exif)]), ...rest],
  }
}

function chunkOf(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(named))
  return Buffer.concat([length, named, sum])
}
