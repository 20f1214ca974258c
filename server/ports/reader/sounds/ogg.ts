import { need } from '../pictures/picture.ts'
import { pieceCounter, type Sound } from './sound.ts'

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
export function readOgg(given: Buffer): Sound {
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
