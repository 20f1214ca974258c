import { aacConfig, aacSamples } from './audio.ts'
import { lengthPrefixed, parseAvcDescription, splitLengthPrefixed } from './h264.ts'
import type { Ingest } from './live.ts'

/** Neither H264 nor AAC. */
export class UnknownCodec extends Error {}

const h264 = 7
const aac = 10
const ticksInMillisecond = 90

/** Pictures and sounds as RTMP carries them. What it is given may throw a RangeError where it is malformed. */
export function flvReader(to: Pick<Ingest, 'configure' | 'video' | 'audio'>) {
  let lengthSize: number | null = null
  let sampleRate: number | null = null

  return {
    video(time: number, tag: Buffer): void {
      if (tag.length === 0) return
      const head = tag.readUInt8(0)
      if (head >= 0x80 || (head & 15) !== h264) throw new UnknownCodec('The picture is not H264')
      const isKey = head >> 4 === 1
      const kind = tag.readUInt8(1)
      const rest = tag.subarray(5)
      if (kind === 0) {
        const read = parseAvcDescription(rest)
        lengthSize = read.lengthSize
        to.configure({ video: read.config })
      }
      if (kind !== 1 || lengthSize === null || head >> 4 > 2) return
      const nals = splitLengthPrefixed(rest, lengthSize)
      if (nals.length === 0) return
      const offset = tag.readIntBE(2, 3) * ticksInMillisecond
      const data = lengthSize === 4 ? rest : lengthPrefixed(nals)
      to.video({ time: time * ticksInMillisecond, offset, key: isKey, data })
    },

    audio(time: number, tag: Buffer): void {
      if (tag.length < 2) return
      if (tag.readUInt8(0) >> 4 !== aac) throw new UnknownCodec('The sound is not AAC')
      const data = tag.subarray(2)
      if (tag.readUInt8(1) === 0) {
        const audio = aacConfig(data)
        sampleRate = audio.sampleRate
        to.configure({ audio })
      } else if (sampleRate !== null && data.length > 0)
        to.audio({ time: Math.round((time * sampleRate) / 1000), duration: aacSamples, data })
    },
  }
}
