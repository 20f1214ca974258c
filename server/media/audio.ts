import { bitReader } from './bits.ts'
import type { AudioConfig } from './tracks.ts'

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
