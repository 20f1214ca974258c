import { sounds } from './sounds.ts'

const megabyte = 1024 * 1024

/** A page of an Ogg (RFC 3533), whose sum nobody has reckoned. */
function oggPage(segments: Buffer, data: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(27)
  head.write('OggS', 'latin1')
  head[5] = flags
  head.writeUInt32LE(7, 14)
  head[26] = segments.length
  return Buffer.concat([head, segments, data])
}

const onePacket = (data: Buffer, flags = 0) => oggPage(Buffer.from([data.length]), data, flags)
const opusHead = onePacket(Buffer.from('4f70757348656164010100008000bb0000000000', 'hex').subarray(0, 19), 2)
const opusTags = onePacket(Buffer.from('OpusTags\0\0\0\0\0\0\0\0', 'latin1'))
const sound = onePacket(Buffer.from('08000000', 'hex'))
/** A page full of a packet that goes on in the next one. */
const fullPage = oggPage(Buffer.alloc(255, 255), Buffer.alloc(255 * 255, 'a'))

const box = (type: string, data: Buffer, length = data.length + 8): Buffer => {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(length)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, data])
}
const fileType = box('ftyp', Buffer.from('M4A \0\0\0\0', 'latin1'))

/** Boxes within boxes, each of eight bytes. */
function nested(types: readonly string[], depth: number): Buffer {
  const boxes = Buffer.alloc(depth * 8)
  for (let at = 0; at < depth; at++) {
    boxes.writeUInt32BE((depth - at) * 8, at * 8)
    boxes.write(types[Math.min(at, types.length - 1)] ?? '', at * 8 + 4, 'latin1')
  }
  return boxes
}

/** Sounds of at most 5 MB that are expensive to read. */
export const soundBombs: Readonly<Record<string, () => Buffer | Promise<Buffer>>> = {
  'an Ogg of 190,000 empty pages': () =>
    Buffer.concat([opusHead, opusTags, ...Array<Buffer>(190_000).fill(oggPage(Buffer.alloc(0), Buffer.alloc(0)))]),
  'an Ogg with 5 MB of tags': () => {
    const begin = oggPage(Buffer.alloc(255, 255), Buffer.from('OpusTags'.padEnd(255 * 255, 'a')))
    return Buffer.concat([opusHead, begin, ...Array<Buffer>(76).fill(fullPage), onePacket(Buffer.from('aa')), sound])
  },
  'an MP4 of 600,000 boxes': () => Buffer.concat([fileType, Buffer.alloc(600_000 * 8, box('free', Buffer.alloc(0)))]),
  'an MP4 of 600,000 boxes within one another': () =>
    Buffer.concat([fileType, nested(['moov', 'trak', 'mdia', 'minf', 'stbl', 'stbl'], 600_000)]),
  'an MP4 whose box is longer than any file': () =>
    Buffer.concat([
      fileType,
      box('mdat', Buffer.from('ffffffffffffffff', 'hex'), 1),
      Buffer.alloc(5 * megabyte - 1_000),
    ]),
  'a WebM of lying lengths': async () => {
    const webm = await sounds.webm({ packets: 100 })
    const cluster = webm.indexOf(Buffer.from('1f43b675', 'hex'))
    webm.fill(0xff, cluster + 5, cluster + 9)
    return Buffer.concat([webm, Buffer.alloc(4 * megabyte, 'a3ff', 'hex')])
  },
  'a WebM of two million empty elements': async () =>
    Buffer.concat([await sounds.liveWebm(), Buffer.alloc(4 * megabyte, 'ec80', 'hex')]),
}
