import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny'
import { describe, expect, test } from 'vitest'
import { fragment, initSegment } from '#server/media/fmp4'
import {
  aacConfig,
  aacOf,
  avcConfig,
  opusConfig,
  opusSamples,
  parseAvcDescription,
  readSps,
  splitLengthPrefixed,
  withEscapes,
  withoutEscapes,
} from '#server/media/h264'
import { readVp9Key, vp9Config } from '#server/media/rtp'
import type { AudioConfig, Sample, VideoConfig } from '#server/media/tracks'
import { pictures, silence, sounds, tone } from './pictures.ts'

const hex = (text: string) => Buffer.from(text, 'hex')
const sample = (time: number, duration: number, more: Partial<Sample> = {}): Sample => ({
  time,
  duration,
  offset: 0,
  key: true,
  data: silence,
  ...more,
})

async function readBack(bytes: Buffer) {
  const input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS })
  const tracks = await input.getTracks()
  return Promise.all(
    tracks.map(async (track) => {
      const found: { at: number; duration: number; type: string; bytes: number }[] = []
      for await (const packet of new EncodedPacketSink(track).packets())
        found.push({ at: packet.timestamp, duration: packet.duration, type: packet.type, bytes: packet.data.length })
      return { codec: await track.getCodec(), as: await track.getCodecParameterString(), track, found }
    }),
  )
}

describe('fragmented MP4, read by another', () => {
  test('H264 and AAC: size, codec, and each picture and sound at its time, over fragments', async () => {
    const { config, frames } = pictures(20)
    const video = frames.map((frame): Sample => ({ ...frame, duration: 9000 }))
    const audio = sounds(94).map((one): Sample => ({ ...one, offset: 0, key: true }))
    const bytes = Buffer.concat([
      initSegment({ video: config, audio: tone }),
      fragment(1, { video: video.slice(0, 10), audio: audio.slice(0, 47) }),
      fragment(2, { video: video.slice(10), audio: audio.slice(47) }),
    ])
    const [seen, heard] = await readBack(bytes)
    expect(seen).toMatchObject({ codec: 'avc', as: 'avc1.42c014' })
    expect(seen?.track.isVideoTrack() && [await seen.track.getCodedWidth(), await seen.track.getCodedHeight()]).toEqual(
      [320, 240],
    )
    expect(seen?.found.map(({ at }) => at)).toEqual(frames.map((_, index) => expect.closeTo(index / 10, 4)))
    expect(seen?.found.map(({ type }) => type)).toEqual(frames.map(({ key }) => (key ? 'key' : 'delta')))
    expect(seen?.found.map((one) => one.bytes)).toEqual(frames.map(({ data }) => data.length))
    expect(heard).toMatchObject({ codec: 'aac', as: 'mp4a.40.2' })
    expect(heard?.found).toHaveLength(94)
    expect(heard?.found.at(-1)).toMatchObject({ at: expect.closeTo((93 * 1024) / 48_000, 4), bytes: silence.length })
  })

  test.each<[string, VideoConfig | null, AudioConfig | null, string]>([
    ['VP9', vp9Config({ width: 640, height: 360 }), null, 'vp09.00.21.08.01.02.02.02.00'],
    ['Opus', null, opusConfig(2), 'opus'],
    ['AAC of 44,100 Hz', null, aacOf(44_100, 1), 'mp4a.40.2'],
  ])('%s', async (_name, video, audio, as) => {
    const [only] = await readBack(
      Buffer.concat([
        initSegment({ video, audio }),
        fragment(1, { video: video ? [sample(0, 3000)] : [], audio: audio ? [sample(960, 960)] : [] }),
      ]),
    )
    expect(only?.as).toBe(as)
    expect(only?.found).toHaveLength(1)
  })

  test('pictures that are shown in another order than they are decoded', async () => {
    const { config } = pictures(1)
    const video = [
      sample(0, 3000, { offset: 3000 }),
      sample(3000, 3000, { offset: 6000, key: false }),
      sample(6000, 3000, { key: false }),
    ]
    const [seen] = await readBack(
      Buffer.concat([initSegment({ video: config, audio: null }), fragment(1, { video, audio: [] })]),
    )
    expect(seen?.found.map(({ at }) => Math.round(at * 30))).toEqual([1, 3, 2])
  })
})

describe('parameter sets of H264', () => {
  // Written by x264, by OBS and by the encoder of Chromium.
  test.each([
    ['6764001facd940500 5bb016a02020280000003008000001e078c18cb', 1280, 720, '64001f', [1, 0, 0]],
    ['67640028acd9407802 27e5c05a808080a000000300200000065 1e30632c0', 1920, 1080, '640028', [1, 0, 0]],
    ['6742c01fda014016e9b808080a000003000200000300791e30654 0', 1280, 720, '42c01f', []],
  ])('%s', (text, width, height, profile, colours) => {
    expect(readSps(hex(text.replaceAll(' ', '')))).toEqual({ width, height, profile, colours })
  })

  test.each([
    ['nothing', ''],
    ['one byte', '67'],
    ['an early end', '6742c01f'],
    ['a picture larger than there are', '6742c01fda00000100000080'],
    ['zeros', `67${'00'.repeat(40)}`],
  ])('%s is refused', (_name, text) => {
    expect(() => avcConfig([hex(text)], [hex('68ce3c80')])).toThrow(RangeError)
  })

  test('a description is what it was when it is read', () => {
    const { config } = pictures(1)
    expect(parseAvcDescription(config.description)).toEqual({ config, lengthSize: 4 })
    for (let length = 0; length < config.description.length; length++)
      expect(() => parseAvcDescription(config.description.subarray(0, length))).toThrow(RangeError)
  })

  test('units are escaped and read again', () => {
    const bytes = [0, 0, 0, 0, 1, 0, 0, 3, 7, 0, 0, 2, 0, 0]
    expect([...withoutEscapes(withEscapes(bytes))]).toEqual(bytes)
    expect(Buffer.from(withEscapes(bytes)).includes(hex('000001'))).toBe(false)
  })

  test.each(['00000005 6588', 'ffffffff 65', '0000'])(
    'a picture of units that do not fit it is refused: %s',
    (text) => {
      expect(() => splitLengthPrefixed(hex(text.replace(' ', '')))).toThrow(RangeError)
    },
  )
})

describe('other codecs', () => {
  test('VP9: the size of a key frame, and nothing of others', () => {
    expect(readVp9Key(hex('824983420027f016f0'))).toEqual({ width: 640, height: 368 })
    expect(readVp9Key(hex('860040'))).toBeNull()
    expect(() => readVp9Key(hex('82498342'))).toThrow(RangeError)
  })

  test.each([
    ['1190', 48_000, 2],
    ['1208', 44_100, 1],
    ['2b92 0800', 22_050, 2],
  ])('AAC: %s', (text, sampleRate, channels) => {
    expect(aacConfig(hex(text.replace(' ', '')))).toMatchObject({ sampleRate, channels })
  })

  test.each(['', '11', 'ff', '1170', '0190'])('sound that nothing plays is refused: %s', (text) => {
    expect(() => aacConfig(hex(text))).toThrow(RangeError)
  })

  test.each([
    ['fc', 960],
    ['7c', 960],
    ['78', 960],
    ['fb03', 2880],
    ['18', 2880],
    ['', 480],
  ])('Opus: the length of %s', (text, samples) => expect(opusSamples(hex(text))).toBe(samples))
})
