import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { aacConfig, bitWriter, parseAvcDescription, readSps, splitLengthPrefixed } from '#server/media/h264'
import type { Fragment } from '#server/media/live'
import { type Amf, decodeAmf, encodeAmf, flvReader } from '#server/media/rtmp'
import { chunkReader } from '#server/media/rtmp-chunks'
import { createStream } from '#server/media/stream'
import { commandOf, mediaOf, tagOfAudio, tagOfVideo } from '#test/media/rtmp-client'
import { heavy } from '#test/support/heavy'
import { changes, damaged, isTaken, rounds } from './damage.ts'
import { fakeClock } from './fake-clock.ts'
import { begun, pictures, sounds, tone } from './pictures.ts'

const { config, frames } = pictures(12, { keyEvery: 4 })
const sps = splitLengthPrefixed(config.inBand)[0] ?? expect.fail()

/** Runs it with what is good and damaged, and with what is random, and expects that some is taken and some is not. */
function fuzz(good: Uint8Array, take: (bytes: Buffer) => unknown): void {
  const counts = { taken: 0, refused: 0 }
  const given = fc.oneof(
    { arbitrary: changes.map((list) => damaged(good, list)), weight: 3 },
    { arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)), weight: 1 },
  )
  fc.assert(
    fc.property(given, (bytes) => void counts[isTaken(() => take(bytes)) ? 'taken' : 'refused']++),
    rounds,
  )
  expect(counts.taken).toBeGreaterThan(0)
  expect(counts.refused).toBeGreaterThan(0)
}

describe('malformed bytes are refused as such, or are read', () => {
  test('sequence parameter sets say a size that is possible', () => {
    fuzz(sps, (bytes) => {
      const { width, height } = readSps(bytes)
      expect(width > 0 && height > 0 && width <= 8_192 && height <= 8_192).toBe(true)
    })
  })

  test('descriptions of H264 are written anew with little in them', () => {
    fuzz(config.description, (bytes) => {
      const read = parseAvcDescription(bytes)
      expect(read.config.description.length).toBeLessThanOrEqual(bytes.length + 8)
    })
  })

  test('pictures have no more units than a picture has', () => {
    fuzz(frames[0]?.data ?? expect.fail(), (bytes) => {
      expect(splitLengthPrefixed(bytes).length).toBeLessThanOrEqual(512)
    })
  })

  test('descriptions of AAC say a sound that can be played', () => {
    fuzz(Buffer.concat([tone.description, Buffer.alloc(4)]), (bytes) => {
      const { sampleRate, channels, description } = aacConfig(bytes)
      expect([sampleRate >= 7_350, sampleRate <= 96_000, channels <= 7, description.length <= 64]).not.toContain(false)
    })
  })

  test('a sound of one sample in a second is refused', () => {
    const write = bitWriter()
    for (const [value, count] of [
      [2, 5],
      [15, 4],
      [1, 24],
      [2, 4],
    ] as const)
      write.bits(value, count)
    expect(isTaken(() => aacConfig(Uint8Array.from(write.bytes())))).toBe(false)
  })

  test('commands have few values, and are what was written', () => {
    const { value } = fc.letrec<{ value: Amf; leaf: Amf }>((tie) => ({
      leaf: fc.oneof(fc.double({ noNaN: true }), fc.boolean(), fc.string({ maxLength: 20 }), fc.constant(null)),
      value: fc.oneof(
        { maxDepth: 3 },
        tie('leaf'),
        fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), tie('value'), { maxKeys: 4, noNullPrototype: true }),
      ),
    }))
    fc.assert(
      fc.property(fc.array(value, { maxLength: 5 }), (values) => {
        expect(decodeAmf(encodeAmf(...values))).toEqual(values)
      }),
      rounds,
    )
    const countOf = (one: Amf): number =>
      typeof one === 'object' && one !== null
        ? Object.values(one).reduce((sum: number, inner: Amf) => sum + countOf(inner), 1)
        : 1
    fuzz(encodeAmf('connect', 1, { app: 'live', nested: { deep: [1, 2, 'x', null] } }, true), (bytes) => {
      expect(decodeAmf(bytes).reduce((sum: number, one) => sum + countOf(one), 0)).toBeLessThanOrEqual(1_000)
    })
  })

  test('chunks make messages, however they are cut, in little memory', () => {
    const good = Buffer.concat([
      commandOf('connect', 1, { app: 'live' }),
      commandOf('publish', 4, null, 'key', 'live'),
      ...frames.slice(0, 3).map((frame, index) => mediaOf(9, index * 100, tagOfVideo(frame))),
    ])
    let pieces = 1
    fuzz(good, (bytes) => {
      pieces = (pieces * 7) % 4_093
      const reader = chunkReader(() => undefined)
      for (let at = 0; at < bytes.length; at += pieces) {
        reader.push(bytes.subarray(at, at + pieces))
        expect(reader.held).toBeLessThan(13 * 2 ** 20)
      }
    })
  })

  test('chunks smaller than each connection begins with are refused, as they are work for nothing', () => {
    const sized = (size: number) => Buffer.from([2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, size >> 8, size & 255])
    const reader = chunkReader(() => undefined)
    expect(isTaken(() => reader.push(sized(127)))).toBe(false)
    expect(isTaken(() => chunkReader(() => undefined).push(sized(128)))).toBe(true)
  })
})

describe('who publishes damaged tags', () => {
  const tags = [
    { type: 9, tag: tagOfVideo({ key: true, offset: 0, data: Buffer.from(config.description) }, 0) },
    { type: 8, tag: tagOfAudio(tone.description, 0) },
    ...frames.map((frame) => ({ type: 9, tag: tagOfVideo(frame) })),
    ...sounds(4).map(({ data }) => ({ type: 8, tag: tagOfAudio(data) })),
  ]
  const time = fc.oneof(fc.nat(3_000), fc.nat(3_000), fc.nat(2 ** 32 - 1), fc.constantFrom(0, 2 ** 32 - 1))
  const sent = fc.record({ which: fc.nat(tags.length - 1), time, list: fc.oneof(fc.constant([]), changes) })

  test('shows what can be shown, in order and in little, and ends without a fault', heavy, async () => {
    let shown = 0
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { maxLength: 60 }), fc.boolean(), async (list, isMeant) => {
        const clock = fakeClock()
        const parts: Fragment[] = []
        const stream = createStream({
          ...{ partMs: 200, segmentMs: 500, graceMs: 1_000, wasLive: false, clock },
          wall: () => begun + clock.now(),
          record: () => ({ add: (part) => parts.push(part), end: () => undefined }),
          tell: () => undefined,
        })
        const publisher = stream.publish(() => undefined)
        const flv = flvReader(publisher)
        const orderly = tags.slice(0, 8).map((_, which) => ({ which, time: which * 100, list: [] }))
        for (const { which, time, list: damage } of [...orderly, ...list]) {
          const { type, tag } = tags[which] ?? expect.fail()
          const bytes = damaged(tag, damage)
          isTaken(() => (type === 9 ? flv.video(time, bytes) : flv.audio(time, bytes)))
          clock.pass(20)
        }
        const live = stream.live() ?? expect.fail()
        publisher.end(isMeant)
        const playlist = live.playlist()
        clock.pass(30_000)
        const answer = await playlist
        stream.close()
        if (answer.status !== 200) return
        shown++
        expect(answer.text).not.toMatch(/NaN|Infinity|undefined|[=:]-/)
        const lengths = [...answer.text.matchAll(/#EXTINF:([\d.]+)/g)].map(([, seconds]) => Number(seconds))
        expect(Math.max(...lengths)).toBeLessThan(60)
        expect(parts.every(({ duration }) => duration > 0 && duration < 60)).toBe(true)
      }),
      rounds,
    )
    expect(shown).toBeGreaterThan(300)
  })
})
