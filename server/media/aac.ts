import { registerAacEncoder } from '@mediabunny/aac-encoder'
import { AdtsOutputFormat, AudioSample, AudioSampleSource, NullTarget, Output } from 'mediabunny'
import { OpusDecoder } from 'opus-decoder'
import { aacSamples, opusRate } from './audio.ts'
import type { AudioFrame } from './tracks.ts'

export interface AacEncoder {
  push(opus: AudioFrame): void
  close(): void
}

const channels = 2
const bitrate = 128_000
/** What the encoder puts before the sound. */
const priming = 1024
const longestSilence = 2 * opusRate
const mostWaiting = 200
/** The most that a sender may be ahead of real time, as silence costs as much to encode as sound. */
const mostAheadSamples = 10 * opusRate
/** What the decoder takes: 120 ms of the best sound there is. */
const mostPacketBytes = 7_680

/** Transcodes Opus to AAC for HLS players, at 48 kHz. Gaps become silence, so that sound stays with the picture. */
export async function createAacEncoder(
  hear: (frame: AudioFrame) => void,
  now: () => number = () => performance.now(),
): Promise<AacEncoder> {
  registerAacEncoder()
  const decoder = new OpusDecoder({ channels, forceStereo: true })
  await decoder.ready
  /** From samples that the encoder counts to the clock of the track; it grows where the sound jumps. */
  let shift: number | null = null
  let given = 0
  let made = 0
  let waiting = 0
  let isClosed = false
  const shifts: { from: number; shift: number }[] = []
  let credit = mostAheadSamples
  let creditedAt = now()
  const source = new AudioSampleSource({
    codec: 'aac',
    bitrate,
    onEncodedPacket(packet) {
      if (isClosed) return
      const at = made
      made += aacSamples
      while (shifts[1] && shifts[1].from <= at) shifts.shift()
      const time = at - priming + (shifts[0]?.shift ?? 0)
      hear({ time, duration: aacSamples, data: Buffer.from(packet.data) })
    },
  })
  const output = new Output({ format: new AdtsOutputFormat(), target: new NullTarget() })
  output.addAudioTrack(source)
  await output.start()
  let last: Promise<unknown> = Promise.resolve()

  function add(data: Float32Array, samples: number): void {
    const timestamp = given / opusRate
    given += samples
    credit -= samples
    waiting++
    last = last
      .then(async () => {
        const sample = new AudioSample({
          data,
          format: 'f32-planar',
          numberOfChannels: channels,
          sampleRate: opusRate,
          timestamp,
        })
        try {
          if (!isClosed) await source.add(sample)
        } finally {
          sample.close()
          waiting--
        }
      })
      .catch(() => undefined)
  }

  /** Where the sender is too far ahead, what it sends is left out. */
  function isAhead(): boolean {
    const at = now()
    credit = Math.min(mostAheadSamples, credit + ((at - creditedAt) / 1000) * opusRate)
    creditedAt = at
    return credit <= 0
  }

  function follow(time: number): boolean {
    const missing = shift === null ? 0 : time - shift - given
    if (missing < -aacSamples && missing > -longestSilence) return false
    if (shift === null || Math.abs(missing) > longestSilence) {
      shift = time - given
      // Of several jumps before the next sound the last one holds.
      if (shifts.at(-1)?.from === given) shifts.pop()
      shifts.push({ from: given, shift })
    } else if (missing > aacSamples) add(new Float32Array(missing * channels), missing)
    return true
  }

  return {
    push({ time, data }) {
      // Faster senders than the encoder lose packets.
      if (isClosed || waiting > mostWaiting || data.length > mostPacketBytes || isAhead() || !follow(time)) return
      const { channelData, samplesDecoded } = decoder.decodeFrame(data)
      if (samplesDecoded === 0) return
      const planes = new Float32Array(samplesDecoded * channels)
      for (const [index, plane] of channelData.slice(0, channels).entries())
        planes.set(plane.subarray(0, samplesDecoded), index * samplesDecoded)
      add(planes, samplesDecoded)
    },
    close() {
      if (isClosed) return
      isClosed = true
      decoder.free()
      output.cancel().catch(() => undefined)
    },
  }
}
