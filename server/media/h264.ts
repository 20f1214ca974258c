import type { AudioConfig, VideoConfig } from './tracks.ts'

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

const aacRates = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350]
const playedRates = { least: 7_350, most: 96_000 }
export const aacSamples = 1024
/** A frame of silence in AAC of two channels. */
export const aacSilence = Buffer.from('211004608c1c', 'hex')
export const opusRate = 48_000

/** From the AudioSpecificConfig of a publisher (ISO/IEC 14496-3). Throws where nothing can play it. */
export function aacConfig(specific: Uint8Array): AudioConfig {
  const read = bitReader(specific)
  const type = read.bits(5)
  const index = read.bits(4)
  const sampleRate = index === 15 ? read.bits(24) : aacRates[index]
  const channels = read.bits(4)
  const isPlayed = sampleRate !== undefined && sampleRate >= playedRates.least && sampleRate <= playedRates.most
  if (![1, 2, 3, 4, 5, 29].includes(type) || !isPlayed || channels === 0 || channels > 7)
    throw new RangeError('The sound is of no kind that can be played')
  if (specific.length > 64) throw new RangeError('The description of the sound is too long')
  return { kind: 'mp4a', codec: `mp4a.40.${type}`, channels, sampleRate, description: Buffer.from(specific) }
}

/** The description of AAC of the low-complexity profile, before its first frame is there. */
export function aacOf(sampleRate: number, channels: number): AudioConfig {
  const index = aacRates.indexOf(sampleRate)
  if (index < 0) throw new RangeError(`AAC has no rate of ${sampleRate}`)
  return aacConfig(Buffer.from([(2 << 3) | (index >> 1), ((index & 1) << 7) | (channels << 3)]))
}

/** Opus, whose decoder needs 80 ms to settle (RFC 7845). */
export function opusConfig(channels: number): AudioConfig {
  const description = Buffer.alloc(11)
  description.writeUInt8(channels, 1)
  description.writeUInt16BE(3840, 2)
  description.writeUInt32BE(opusRate, 4)
  return { kind: 'Opus', codec: 'opus', channels, sampleRate: opusRate, description }
}

/** How many samples of 48 kHz are in a packet (RFC 6716, 3.1). */
export function opusSamples(packet: Uint8Array): number {
  const [head = 0, second = 0] = packet
  const config = head >> 3
  const size =
    config < 12
      ? [480, 960, 1920, 2880][config & 3]
      : config < 16
        ? [480, 960][config & 1]
        : [120, 240, 480, 960][config & 3]
  const frames = [1, 2, 2, second & 63][head & 3] ?? 1
  return Math.min((size ?? 960) * frames, 5760)
}

/** Reads bits, and the numbers of variable length that video codecs write (Exp-Golomb). Throws beyond the end. */
interface BitReader {
  bits(count: number): number
  flag(): boolean
  unsigned(): number
  signed(): number
}

export function bitReader(bytes: Uint8Array): BitReader {
  let at = 0
  const bit = (): number => {
    const byte = bytes[at >> 3]
    if (byte === undefined) throw new RangeError('The bits end early')
    return (byte >> (7 - (at++ & 7))) & 1
  }
  const bits = (count: number): number => {
    let value = 0
    for (let index = 0; index < count; index++) value = value * 2 + bit()
    return value
  }
  const unsigned = (): number => {
    let zeros = 0
    while (bit() === 0) if (++zeros > 31) throw new RangeError('A number is too long')
    return 2 ** zeros - 1 + bits(zeros)
  }
  return {
    bits,
    flag: () => bit() === 1,
    unsigned,
    signed() {
      const value = unsigned()
      return value % 2 === 1 ? (value + 1) / 2 : -value / 2
    },
  }
}

export interface BitWriter {
  bits(value: number, count: number): void
  unsigned(value: number): void
  signed(value: number): void
  /** Zeros up to the next byte. */
  align(): void
  bytes(): number[]
}

export function bitWriter(): BitWriter {
  const bytes: number[] = []
  let used = 0
  const bit = (value: number): void => {
    if (used === 0) bytes.push(0)
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) | (value << (7 - used))
    used = (used + 1) & 7
  }
  const bits = (value: number, count: number): void => {
    for (let index = count - 1; index >= 0; index--) bit(Math.floor(value / 2 ** index) % 2)
  }
  const unsigned = (value: number): void => {
    const length = Math.floor(Math.log2(value + 1))
    bits(0, length)
    bits(value + 1, length + 1)
  }
  return {
    bits,
    unsigned,
    signed: (value) => unsigned(value > 0 ? 2 * value - 1 : -2 * value),
    align() {
      used = 0
    },
    bytes: () => bytes,
  }
}
