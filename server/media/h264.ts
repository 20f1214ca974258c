import { type BitReader, bitReader } from './bits.ts'
import type { VideoConfig } from './tracks.ts'

export const nalType = (nal: Uint8Array): number => (nal[0] ?? 0) & 31
export const nalTypes = { slice: 1, idr: 5, sps: 7, pps: 8 } as const

/** Of one picture. */
export const mostNals = 512
const most = { side: 8192, sets: 8 }
/** Profiles whose parameter sets say how colours are sampled. */
const withChroma = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135])

/** The size of the picture, from a sequence parameter set. Throws where it is malformed or absurdly large. */
export function readSps(sps: Uint8Array): {
  width: number
  height: number
  profile: string
  colours: readonly number[]
} {
  const read = bitReader(withoutEscapes(sps.subarray(1)))
  const profile = read.bits(8)
  const profileText = hex([profile, read.bits(8), read.bits(8)])
  read.unsigned()
  const colours = withChroma.has(profile) ? readColours(read) : []
  const [chroma = 1] = colours
  read.unsigned()
  const orderType = read.unsigned()
  if (orderType === 0) read.unsigned()
  if (orderType === 1) {
    read.flag()
    read.signed()
    read.signed()
    const cycle = read.unsigned()
    if (cycle > 255) throw new RangeError('The picture order is malformed')
    for (let index = 0; index < cycle; index++) read.signed()
  }
  read.unsigned()
  read.flag()
  const columns = read.unsigned() + 1
  const rows = read.unsigned() + 1
  const fields = read.flag() ? 1 : 2
  if (fields === 2) read.flag()
  read.flag()
  const [left, right, top, bottom] = read.flag()
    ? [read.unsigned(), read.unsigned(), read.unsigned(), read.unsigned()]
    : [0, 0, 0, 0]
  const width = columns * 16 - (left + right) * (chroma === 1 || chroma === 2 ? 2 : 1)
  const height = rows * 16 * fields - (top + bottom) * fields * (chroma === 1 ? 2 : 1)
  if (!(width > 0 && height > 0 && width <= most.side && height <= most.side))
    throw new RangeError('The size of the picture is not possible')
  return { width, height, profile: profileText, colours }
}

/** How colours are sampled, and how many bits beyond 8 brightness and colours have. */
function readColours(read: BitReader): number[] {
  const chroma = read.unsigned()
  if (chroma > 3) throw new RangeError('The colours are malformed')
  if (chroma === 3) read.flag()
  const depths = [read.unsigned(), read.unsigned()]
  read.flag()
  const lists = read.flag() ? (chroma === 3 ? 12 : 8) : 0
  for (let list = 0; list < lists; list++) if (read.flag()) skipScaling(read, list < 6 ? 16 : 64)
  return [chroma, ...depths]
}

function skipScaling(read: BitReader, size: number): void {
  let next = 8
  for (let index = 0, last = 8; index < size && next !== 0; index++) {
    next = (last + read.signed() + 256) % 256
    last = next === 0 ? last : next
  }
}

/** The description of a track (ISO/IEC 14496-15) from its parameter sets. */
export function avcConfig(spsList: readonly Uint8Array[], ppsList: readonly Uint8Array[]): VideoConfig {
  const [sps] = spsList
  if (!sps || sps.length < 4 || ppsList.length === 0 || spsList.length > most.sets || ppsList.length > most.sets)
    throw new RangeError('The parameter sets are incomplete')
  const { width, height, profile, colours } = readSps(sps)
  const [chroma = 1, luma = 0, chrominance = 0] = colours
  const listed = (sets: readonly Uint8Array[]) =>
    sets.flatMap((set) => [Buffer.from([set.length >> 8, set.length & 255]), set])
  const description = Buffer.concat([
    Buffer.from([1, ...sps.subarray(1, 4), 0xff, 0xe0 | spsList.length]),
    ...listed(spsList),
    Buffer.from([ppsList.length]),
    ...listed(ppsList),
    Buffer.from(colours.length > 0 ? [0xfc | chroma, 0xf8 | luma, 0xf8 | chrominance, 0] : []),
  ])
  return {
    kind: 'avc1',
    codec: `avc1.${profile}`,
    width,
    height,
    description,
    inBand: lengthPrefixed([...spsList, ...ppsList]),
  }
}

/** Reads a publisher's track description, and writes it again. `lengthSize` is the length prefix of its pictures. */
export function parseAvcDescription(bytes: Uint8Array): { config: VideoConfig; lengthSize: number } {
  const buffer = Buffer.from(bytes)
  let at = 5
  const sets = (count: number) =>
    Array.from({ length: count }, () => {
      const length = buffer.readUInt16BE(at)
      const set = buffer.subarray(at + 2, at + 2 + length)
      if (set.length !== length || length === 0) throw new RangeError('The description ends early')
      at += 2 + length
      return set
    })
  if (buffer.readUInt8(0) !== 1) throw new RangeError('The description is of another version')
  const lengthSize = (buffer.readUInt8(4) & 3) + 1
  if (lengthSize === 3) throw new RangeError('The description is malformed')
  const sps = sets(buffer.readUInt8(at++) & 31)
  const pps = sets(buffer.readUInt8(at++))
  return { config: avcConfig(sps, pps), lengthSize }
}

/** The units of a picture that is written with their lengths. Throws where they do not fit it. */
export function splitLengthPrefixed(data: Uint8Array, lengthSize = 4): Uint8Array[] {
  const buffer = Buffer.from(data.buffer, data.byteOffset, data.length)
  const nals: Uint8Array[] = []
  for (let at = 0; at < buffer.length; ) {
    const length = buffer.readUIntBE(at, lengthSize)
    at += lengthSize
    if (length > buffer.length - at || nals.length >= mostNals) throw new RangeError('A picture is malformed')
    if (length > 0) nals.push(buffer.subarray(at, at + length))
    at += length
  }
  return nals
}

export const lengthPrefixed = (nals: readonly Uint8Array[]): Buffer =>
  Buffer.concat(
    nals.flatMap((nal) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(nal.length)
      return [length, nal]
    }),
  )

/** Without the bytes that keep what looks like a start code out of a unit. */
export function withoutEscapes(nal: Uint8Array): Uint8Array {
  const kept: number[] = []
  let zeros = 0
  for (const byte of nal) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0
      continue
    }
    zeros = byte === 0 ? zeros + 1 : 0
    kept.push(byte)
  }
  return Uint8Array.from(kept)
}

export function withEscapes(bytes: Iterable<number>): Uint8Array {
  const written: number[] = []
  let zeros = 0
  for (const byte of bytes) {
    if (zeros >= 2 && byte <= 3) {
      written.push(3)
      zeros = 0
    }
    zeros = byte === 0 ? zeros + 1 : 0
    written.push(byte)
  }
  return Uint8Array.from(written)
}

const hex = (bytes: readonly number[]) => Buffer.from(bytes).toString('hex')
