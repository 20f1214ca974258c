import { need } from '../pictures/picture.ts'
import { pieceCounter, type Sound } from './sound.ts'

/** The content of an EBML element: elements, a number of at most eight bytes, a program's name, or media. */
type Holds = Shape | 'number' | 'name' | 'data'
interface Shape {
  readonly [id: number]: Holds
}

const [ebml, segment, cluster] = [0x1a_45_df_a3, 0x18_53_80_67, 0x1f_43_b6_75]
const [docType, codec, codecPrivate] = [0x42_82, 0x86, 0x63_a2]
const [simpleBlock, block] = [0xa3, 0xa1]

/** The elements of a voice message (RFC 9559). Tags, names, chapters, attachments and all that is unknown are not among them. */
const inCluster: Shape = {
  231: 'number',
  167: 'number',
  171: 'number',
  [simpleBlock]: 'data',
  160: { [block]: 'data', 155: 'number', 251: 'number', 30114: 'number' },
}
const inTrack: Shape = {
  ...numbers(0xd7, 0x73_c5, 0x83, 0xb9, 0x88, 0x55_aa, 0x9c, 0x6d_e7, 0x6d_f8),
  ...numbers(0x23_e3_83, 0x55_ee, codec, 0xaa, 0x56_aa, 0x56_bb),
  [codecPrivate]: 'data',
  225: numbers(0xb5, 0x78_b5, 0x9f, 0x62_64),
}
const inSegment: Shape = {
  290298740: { 19899: numbers(0x53_ab, 0x53_ac) },
  357149030: { ...numbers(0x2a_d7_b1, 0x44_89), 19840: 'name', 22337: 'name' },
  374648427: { 174: inTrack },
  [cluster]: inCluster,
  475249515: { 187: { 179: 'number', 183: numbers(0xf7, 0xf1, 0xf0, 0xb2, 0x53_78) } },
}
const inFile: Shape = {
  [ebml]: numbers(0x42_86, 0x42_f7, 0x42_f2, 0x42_f3, docType, 0x42_87, 0x42_85),
  [segment]: inSegment,
}

function numbers(...ids: readonly number[]): Shape {
  return Object.fromEntries(ids.map((id) => [id, 'number']))
}

/** A WebM with one track, of Opus. Throws `Unsound` where it is none, holds anything else that is played, or ends within an element. */
export function readWebm(given: Buffer): Sound {
  const bytes = Buffer.from(given)
  const count = pieceCounter()
  const seen = { tops: [] as number[], kinds: [] as string[], blocks: 0 }

  const look = (id: number, data: Buffer) => {
    if (id === docType) seen.kinds.push(nameIn(data))
    if (id === codec) seen.kinds.push(nameIn(data))
    if (id === codecPrivate) need(data.length <= mostAboutCodec && data.toString('latin1', 0, 8) === 'OpusHead')
    if (id === simpleBlock || id === block) seen.blocks += 1
  }
  /** Reads the content of an element, and returns its end. One without a length ends before the next element `around` it. */
  const walk = (from: number, to: number, shape: Shape, around: Shape | null = null): number => {
    let at = from
    while (at < to) {
      const { id, start, end } = elementAt(bytes, at, to)
      if (around?.[id] !== undefined) return at
      count()
      const holds = shape[id]
      if (shape === inFile) seen.tops.push(id)
      if (holds === undefined) {
        need(end !== null)
        blank(bytes, at, end)
        at = end
      } else if (typeof holds === 'object') {
        need(end !== null || id === segment || id === cluster)
        const stop = walk(start, end ?? to, holds, end === null ? shape : null)
        at = end ?? stop
      } else {
        need(end !== null && (holds !== 'number' || end - start <= 8))
        look(id, bytes.subarray(start, end))
        if (holds === 'name') bytes.fill(0, start, end)
        at = end
      }
    }
    return at
  }

  walk(0, bytes.length, inFile)
  need(seen.tops.length === 2 && seen.tops[0] === ebml && seen.tops[1] === segment)
  need(seen.kinds.join() === 'webm,A_OPUS' && seen.blocks > 0)
  return { ending: 'weba', bytes }
}

/** The head of Opus with a channel mapping of 255 channels. */
const mostAboutCodec = 21 + 255
const nameIn = (data: Buffer) => data.toString('latin1').replace(/\0+$/, '')

/** An element: where what it holds starts and ends; null where it has no length. */
function elementAt(bytes: Buffer, at: number, to: number): { id: number; start: number; end: number | null } {
  const idLength = lengthAt(bytes, at, to, 4)
  const id = bytes.readUIntBE(at, idLength)
  const sizeAt = at + idLength
  const sizeLength = lengthAt(bytes, sizeAt, to, 8)
  const start = sizeAt + sizeLength
  // Its first bit that is set says how long it is.
  const first = (bytes[sizeAt] ?? 0) & (0xff >> sizeLength)
  const rest = bytes.subarray(sizeAt + 1, start)
  if (first === 0xff >> sizeLength && rest.every((byte) => byte === 0xff)) return { id, start, end: null }
  const end = start + rest.reduce((sum, byte) => sum * 256 + byte, first)
  need(end <= to)
  return { id, start, end }
}

function lengthAt(bytes: Buffer, at: number, to: number, most: number): number {
  const length = Math.clz32(bytes[at] ?? 0) - 23
  need(at < to && length <= most && at + length <= to)
  return length
}

const voidId = 0xec

/** Puts an element of nothing in the place of another. */
function blank(bytes: Buffer, from: number, to: number): void {
  bytes.fill(0, from, to)
  bytes[from] = voidId
  const length = to - from
  if (length < 10) bytes[from + 1] = 0x80 | (length - 2)
  else {
    bytes[from + 1] = 0x01
    bytes.writeUIntBE(length - 9, from + 3, 6)
  }
}
