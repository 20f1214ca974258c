import { AppError } from '#shared/errors'
import { need, TooManyPieces, Unsound } from '../pictures/picture.ts'
import { mostPieces, pieceCounter, type Sound } from './sound.ts'
import { readWebm } from './webm.ts'

interface Shape {
  readonly [type: string]: Shape | 'data'
}

const leaves = (...types: readonly string[]): Shape => Object.fromEntries(types.map((type) => [type, 'data']))

/** The boxes of a voice message (ISO/IEC 14496-12), in one piece or in fragments. What is written about it (`udta`, `meta`, `uuid`) is not among them. */
const shape: Shape = {
  ...leaves('ftyp', 'styp', 'sidx', 'mdat'),
  moov: {
    mvhd: 'data',
    trak: {
      tkhd: 'data',
      edts: leaves('elst'),
      mdia: {
        ...leaves('mdhd', 'hdlr'),
        minf: {
          smhd: 'data',
          dinf: leaves('dref'),
          stbl: leaves('stsd', 'stts', 'stsc', 'stsz', 'stz2', 'stco', 'co64', 'sgpd', 'sbgp'),
        },
      },
    },
    mvex: leaves('mehd', 'trex'),
  },
  moof: { mfhd: 'data', traf: leaves('tfhd', 'tfdt', 'trun', 'sgpd', 'sbgp', 'saiz', 'saio') },
  mfra: leaves('tfra', 'mfro'),
}

/** An MP4 with one track, of AAC or Opus. Throws `Unsound` where it is none, holds anything else that is played, or ends within a box. */
function readMp4(given: Buffer): Sound {
  const bytes = Buffer.from(given)
  const count = pieceCounter()
  const seen = { tracks: 0, codecs: 0, played: 0 }

  const look = (type: string, data: Buffer) => {
    if (type === 'trak') seen.tracks += 1
    if (type === 'mdat') seen.played += data.length
    if (type === 'hdlr') {
      need(data.length >= handlerName)
      data.fill(0, handlerName)
    }
    if (timed.includes(type)) blankTimes(data)
    if (type === 'dref') blankPlace(data)
    if (type === 'stsd') {
      need(data.length >= 16 && data.readUInt32BE(4) === 1)
      need(['mp4a', 'Opus'].includes(data.toString('latin1', 12, 16)))
      blankCodec(data, count)
      seen.codecs += 1
    }
  }
  const walk = (from: number, to: number, within: Shape) => {
    let at = from
    while (at < to) {
      count()
      const { type, start, end } = boxAt(bytes, at, to)
      const holds = Object.hasOwn(within, type) ? within[type] : undefined
      if (holds === undefined) bytes.write('free', at + 4, 'latin1') && bytes.fill(0, start, end)
      else look(type, bytes.subarray(start, end))
      if (typeof holds === 'object') walk(start, end, holds)
      at = end
    }
  }

  need(bytes.toString('latin1', 4, 8) === 'ftyp')
  walk(0, bytes.length, shape)
  need(seen.tracks === 1 && seen.codecs === 1 && seen.played > 0)
  return { ending: 'm4a', bytes }
}

/** What begins with when it was made and changed, behind its version: in 64 bits from version 1 on. */
const timed = ['mvhd', 'tkhd', 'mdhd']

function blankTimes(data: Buffer): void {
  const end = data[0] === 0 ? 12 : 20
  need(data.length >= end)
  data.fill(0, 4, end)
}

/** Its sound is in this file, and nowhere else. */
function blankPlace(data: Buffer): void {
  need(data.length >= 20 && data.readUInt32BE(4) === 1)
  data.write('url ', 12, 'latin1')
  data.fill(0, 16)
  data[19] = 1
}

/** The length of a sound entry's fields by version (ISO/IEC 14496-12; QuickTime). The boxes after them describe the decoding. */
const fieldsOfSound: Readonly<Record<number, number>> = { 0: 36, 1: 52, 2: 72 }
const decoding = ['esds', 'dOps', 'btrt', 'wave', 'chan', 'srat']

function blankCodec(data: Buffer, count: () => void): void {
  const entry = boxAt(data, 8, data.length)
  need(data.length >= 26)
  const fields = fieldsOfSound[data.readUInt16BE(24)]
  need(fields !== undefined && 8 + fields <= entry.end)
  for (let at = 8 + fields; at < entry.end; ) {
    count()
    const { type, start, end } = boxAt(data, at, entry.end)
    if (!decoding.includes(type)) data.write('free', at + 4, 'latin1') && data.fill(0, start, end)
    at = end
  }
  data.fill(0, entry.end)
}

/** Behind its version, what it was before, its type and three numbers. */
const handlerName = 24

/** A box: where what it holds starts and ends. */
function boxAt(bytes: Buffer, at: number, to: number): { type: string; start: number; end: number } {
  need(at + 8 <= to)
  const type = bytes.toString('latin1', at + 4, at + 8)
  const short = bytes.readUInt32BE(at)
  if (short !== 1) {
    // Without a length it reaches to the end of the file.
    const end = short === 0 && to === bytes.length ? to : at + short
    need(end >= at + 8 && end <= to)
    return { type, start: at + 8, end }
  }
  need(at + 16 <= to)
  const end = at + bytes.readUInt32BE(at + 8) * 2 ** 32 + bytes.readUInt32BE(at + 12)
  need(end >= at + 16 && end <= to)
  return { type, start: at + 16, end }
}

/** A page of an Ogg (RFC 3533). */
interface Page {
  start: number
  data: number
  end: number
  /** Of the stream that it is of. */
  serial: number
  isFirst: boolean
  /** Does a packet end where it ends? */
  isClosed: boolean
  /** Packets that end in it. */
  packets: number
}

const [capture, header] = ['OggS\0', 27]
/** What begins the packet of tags; behind it stand lengths, which are none where all is zero (RFC 7845, 5.2). */
const tags = 'OpusTags'
const leastTags = tags.length + 8

/** An Ogg with one stream, of Opus. Throws `Unsound` where it is none, holds another stream, or ends within a page. */
function readOgg(given: Buffer): Sound {
  const bytes = Buffer.from(given)
  const count = pieceCounter()
  const pages: Page[] = []
  for (let at = 0; at < bytes.length; at = pages.at(-1)?.end ?? at) {
    count()
    pages.push(pageAt(bytes, at))
  }
  const [first, ...rest] = pages
  need(first !== undefined && isOnePacket(first) && textAt(bytes, first, 8) === 'OpusHead')
  need(first.end - first.data === lengthOfHead(bytes, first))
  need(pages.every(({ serial, isFirst }, at) => serial === first.serial && isFirst === (at === 0)))
  const sound = rest.findIndex(({ packets }) => packets > 0) + 1
  const about = rest.slice(0, sound)
  const last = about.at(-1)
  need(last !== undefined && isOnePacket(last) && sound < rest.length)
  blankTags(bytes, about)
  return { ending: 'ogg', bytes }
}

function pageAt(bytes: Buffer, start: number): Page {
  need(start + header <= bytes.length && bytes.toString('latin1', start, start + 5) === capture)
  const segments = bytes[start + 26] ?? 0
  const data = start + header + segments
  const lengths = bytes.subarray(start + header, data)
  const end = data + lengths.reduce((sum, length) => sum + length, 0)
  need(data <= bytes.length && end <= bytes.length)
  return {
    start,
    data,
    end,
    serial: bytes.readUInt32LE(start + 14),
    isFirst: ((bytes[start + 5] ?? 0) & 2) !== 0,
    isClosed: segments > 0 && (lengths.at(-1) ?? 255) < 255,
    packets: lengths.filter((length) => length < 255).length,
  }
}

/** The length of the head, which has the number of channels and, above two, their mapping (RFC 7845, 5.1). */
const lengthOfHead = (bytes: Buffer, { data }: Page): number =>
  bytes[data + 18] === 0 ? 19 : 21 + (bytes[data + 9] ?? 0)

/** Does it end with the only packet that ends in it? */
const isOnePacket = ({ isClosed, packets }: Page) => isClosed && packets === 1

const textAt = (bytes: Buffer, { data, end }: Page, length: number) =>
  bytes.toString('latin1', data, Math.min(end, data + length))

function blankTags(bytes: Buffer, pages: readonly Page[]): void {
  const [first] = pages
  need(first !== undefined && first.end - first.data >= leastTags && textAt(bytes, first, tags.length) === tags)
  for (const page of pages) {
    bytes.fill(0, page === first ? page.data + tags.length : page.data, page.end)
    bytes.writeUInt32LE(0, page.start + 22)
    bytes.writeUInt32LE(sumOf(bytes.subarray(page.start, page.end)), page.start + 22)
  }
}

const polynomial = 0x04_c1_1d_b7
const sums = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte << 24
  for (let bit = 0; bit < 8; bit++) sum = sum & 0x80_00_00_00 ? (sum << 1) ^ polynomial : sum << 1
  return sum
})

/** The checksum of a page, whose own place is zero. */
const sumOf = (page: Buffer): number =>
  page.reduce((sum, byte) => (sum << 8) ^ (sums[((sum >>> 24) ^ byte) & 0xff] ?? 0), 0) >>> 0

/** What a sound is known by: its first bytes, never its name or the type it is sent as. */
function soundReaderOf(bytes: Buffer): ((bytes: Buffer) => Sound) | null {
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
  const read = soundReaderOf(bytes)
  if (read === null) return null
  try {
    return read(bytes)
  } catch (error) {
    if (error instanceof Unsound) return null
    if (!(error instanceof TooManyPieces)) throw error
    throw new AppError('PAYLOAD_TOO_LARGE', { message: `A voice message may be made of at most ${mostPieces} pieces` })
  }
}
