import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny'
import { beforeEach, describe, expect, test } from 'vitest'
import { createLive, type Fragment, type Ingest, type Live } from '#server/media/live'
import { fakeClock } from './fake-clock.ts'
import { begun, pictures, sounds, tone } from './pictures.ts'

const first = begun / 1000
let clock = fakeClock()
let live: Live
beforeEach(() => {
  clock = fakeClock()
  live = createLive({ partMs: 330, segmentMs: 1000, clock, wall: () => begun + clock.now() })
})

/** Ten pictures a second, a key frame each second. */
function feed(ingest: Ingest, count: number, { from = 0, columns = 20, sound = true } = {}) {
  const { config, frames } = pictures(count, { from, columns })
  ingest.configure({ video: config, audio: sound ? tone : null })
  for (const [index, frame] of frames.entries()) {
    ingest.video(frame)
    if (sound)
      for (const one of sounds(
        Math.ceil((index + 1) * 4.6875) - Math.ceil(index * 4.6875),
        Math.ceil((from + index) * 4.6875),
      ))
        ingest.audio(one)
    clock.pass(100)
  }
}

async function text(sequence?: number, part?: number): Promise<string> {
  const answer = await live.playlist(sequence, part)
  return answer.status === 200 ? answer.text : String(answer.status)
}
const lines = (playlist: string, tag: string) => playlist.split('\n').filter((line) => line.startsWith(tag))
const state = (waiting: Promise<unknown>) =>
  Promise.race([waiting.then(() => 'answered'), Promise.resolve().then(() => 'waits')])

describe('the playlist', () => {
  test('names segments that begin with key frames, and the parts of the newest, from the second of the epoch on', async () => {
    feed(live.begin(), 25)
    const playlist = await text()
    expect(playlist.split('\n').slice(0, 9)).toEqual([
      '#EXTM3U',
      '#EXT-X-VERSION:9',
      '#EXT-X-TARGETDURATION:1',
      '#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=0.990',
      '#EXT-X-PART-INF:PART-TARGET=0.330',
      `#EXT-X-MEDIA-SEQUENCE:${first}`,
      '#EXT-X-DISCONTINUITY-SEQUENCE:0',
      '#EXT-X-MAP:URI="init1.mp4"',
      '#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00.000Z',
    ])
    expect(lines(playlist, '#EXTINF')).toEqual(['#EXTINF:1.00000,', '#EXTINF:1.00000,'])
    expect(lines(playlist, '#EXT-X-PART:').slice(4, 8)).toEqual([
      `#EXT-X-PART:DURATION=0.30000,URI="${first + 1}.0.m4s",INDEPENDENT=YES`,
      `#EXT-X-PART:DURATION=0.30000,URI="${first + 1}.1.m4s"`,
      `#EXT-X-PART:DURATION=0.30000,URI="${first + 1}.2.m4s"`,
      `#EXT-X-PART:DURATION=0.10000,URI="${first + 1}.3.m4s"`,
    ])
    expect(lines(playlist, '#EXT-X-PRELOAD-HINT')).toEqual([`#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${first + 2}.1.m4s"`])
  })

  test('keeps six segments, and reads what it named a little longer', async () => {
    feed(live.begin(), 125)
    const playlist = await text()
    expect(lines(playlist, '#EXT-X-MEDIA-SEQUENCE')).toEqual([`#EXT-X-MEDIA-SEQUENCE:${first + 7}`])
    expect(lines(playlist, '#EXTINF')).toHaveLength(5)
    expect(lines(playlist, '#EXT-X-MAP')).toHaveLength(1)
    expect(await live.file(`${first + 5}.m4s`)).not.toBeNull()
    expect(await live.file(`${first + 2}.m4s`)).toBeNull()
  })

  test('is held until the part that is asked for is there', async () => {
    const ingest = live.begin()
    feed(ingest, 12)
    const waiting = text(first + 1, 0)
    expect(await state(waiting)).toBe('waits')
    feed(ingest, 2, { from: 12 })
    expect(await waiting).toContain(`"${first + 1}.0.m4s"`)
  })

  test('held for a part that a segment does not come to have, it is answered when the next one is told', async () => {
    const ingest = live.begin()
    feed(ingest, 20)
    const waiting = text(first + 1, 9)
    expect(await state(waiting)).toBe('waits')
    feed(ingest, 1, { from: 20 })
    expect(await waiting).toContain(`${first + 1}.m4s`)
  })

  test('far ahead is refused, and nothing is waited for without end', async () => {
    feed(live.begin(), 12)
    expect(await text(first + 9)).toBe('400')
    const waiting = text(first + 3)
    clock.pass(2_999)
    expect(await state(waiting)).toBe('waits')
    clock.pass(1)
    expect(await waiting).toBe('503')
  })

  test('is held for a publisher who begins, and not found where nobody does', async () => {
    const found = text()
    const ingest = live.begin()
    feed(ingest, 6)
    expect(await state(found)).toBe('waits')
    feed(ingest, 6, { from: 10 })
    expect(await found).toContain('#EXTM3U')
    const other = createLive({ partMs: 330, segmentMs: 1000, clock, wall: () => begun })
    const missing = other.playlist()
    clock.pass(8_000)
    expect(await missing).toEqual({ status: 404 })
  })

  test('the end is told 2.5 seconds after the last part, to who waits as well', async () => {
    const ingest = live.begin()
    feed(ingest, 15)
    const waiting = text(first + 2)
    ingest.end()
    live.finish()
    clock.pass(2_499)
    expect(lines(await text(), '#EXT-X-ENDLIST')).toEqual([])
    expect(lines(await text(), '#EXTINF')).toHaveLength(2)
    clock.pass(1)
    expect(await waiting).toContain('#EXT-X-ENDLIST')
    expect(await text()).not.toContain('PRELOAD-HINT')
  })
})

describe('discontinuities', () => {
  test('who comes back goes on in the same playlist, with a new beginning', async () => {
    const ingest = live.begin()
    feed(ingest, 15)
    ingest.end()
    feed(live.begin(), 15, { from: 7_000 })
    const playlist = await text()
    expect(lines(playlist, '#EXT-X-MAP')).toEqual(['#EXT-X-MAP:URI="init1.mp4"', '#EXT-X-MAP:URI="init2.mp4"'])
    expect(playlist).toContain(`${first + 1}.m4s\n#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI="init2.mp4"`)
    expect(lines(playlist, '#EXT-X-ENDLIST')).toEqual([])
  })

  test.each([[40], [31]])('the sound of who is lost lasts as long as the picture: %i frames', (count) => {
    const parts: Fragment[] = []
    const ingest = live.begin((part) => parts.push(part))
    const { config, frames } = pictures(10)
    ingest.configure({ video: config, audio: tone })
    for (const frame of frames) ingest.video(frame)
    for (const one of sounds(count)) ingest.audio(one)
    ingest.end()
    const last = parts.at(-1)?.audio.at(-1)
    expect(((last?.time ?? 0) + (last?.duration ?? 0)) / 48_000).toBeCloseTo(1, 3)
  })

  test('another size of the picture does the same, and is counted when it is no longer told', async () => {
    const ingest = live.begin()
    feed(ingest, 10)
    feed(ingest, 70, { from: 10, columns: 22 })
    const playlist = await text()
    expect(lines(playlist, '#EXT-X-DISCONTINUITY')).toEqual(['#EXT-X-DISCONTINUITY-SEQUENCE:1'])
    expect(lines(playlist, '#EXT-X-MAP')).toEqual(['#EXT-X-MAP:URI="init2.mp4"'])
  })

  test('the clock of the publisher may jump', async () => {
    const ingest = live.begin()
    feed(ingest, 15, { from: 1_000_000 })
    feed(ingest, 15, { from: 20 })
    const playlist = await text()
    expect(lines(playlist, '#EXTINF').map((line) => Number(line.slice(8, -1)))).toEqual([1, 1.43333])
    expect(lines(playlist, '#EXT-X-MAP')).toHaveLength(1)
  })
})

describe('what is played', () => {
  async function packetsOf(bytes: readonly (Buffer | null)[]) {
    const input = new Input({
      source: new BufferSource(Buffer.concat(bytes.map((one) => one ?? Buffer.alloc(0)))),
      formats: ALL_FORMATS,
    })
    return Promise.all(
      (await input.getTracks()).map(async (track) => {
        const times: number[] = []
        for await (const packet of new EncodedPacketSink(track).packets()) times.push(packet.timestamp)
        return times
      }),
    )
  }

  test('is every picture and every sound, once, in segments as in parts', async () => {
    const parts: Fragment[] = []
    feed(
      live.begin((part) => parts.push(part)),
      31,
      { from: 512 },
    )
    const init = await live.file('init1.mp4')
    const named = [0, 1, 2].map((index) => live.file(`${first + index}.m4s`))
    const [seen, heard] = await packetsOf([init, ...(await Promise.all(named))])
    expect(seen).toEqual(Array.from({ length: 30 }, (_, index) => expect.closeTo(index / 10, 3)))
    expect(heard).toEqual(
      Array.from({ length: heard?.length ?? 0 }, (_, index) => expect.closeTo((index * 1024) / 48_000, 3)),
    )
    expect(heard?.length).toBeGreaterThan(135)
    expect(await packetsOf([init, ...parts.map(({ data }) => data)])).toEqual([seen, heard])
  })

  test('begins with the first picture where it is shown, however much later that is than it is decoded', async () => {
    const ingest = live.begin()
    const { config, frames } = pictures(30)
    ingest.configure({ video: config, audio: tone })
    for (const frame of frames) ingest.video({ ...frame, offset: frame.key ? 18_000 : 9_000 })
    for (const one of sounds(100)) ingest.audio(one)
    ingest.end()
    const parts = [0, 1, 2].map((index) => live.file(`${first + index}.m4s`))
    const [seen, heard] = await packetsOf([await live.file('init1.mp4'), ...(await Promise.all(parts))])
    expect(seen?.slice(0, 3)).toEqual([0, 0, 0.1].map((time) => expect.closeTo(time, 3)))
    expect(heard?.[0]).toBeCloseTo(10 * (1024 / 48_000) - 0.2, 3)
  })

  test('sound from before the first picture that comes after it is left out', async () => {
    const ingest = live.begin()
    const { config, frames } = pictures(30, { from: 512 })
    ingest.configure({ video: config, audio: tone })
    for (const one of sounds(1, 2350)) ingest.audio(one)
    for (const frame of frames.slice(0, 1)) ingest.video(frame)
    for (const one of sounds(100, 2351)) ingest.audio(one)
    for (const frame of frames.slice(1)) ingest.video(frame)
    const [seen, heard] = await packetsOf([await live.file('init1.mp4'), await live.file(`${first}.m4s`)])
    expect(seen).toHaveLength(10)
    expect(heard?.[0]).toBeCloseTo(0, 1)
  })

  test('a part that is hinted at is given when it is there', async () => {
    const ingest = live.begin()
    feed(ingest, 12)
    const waiting = live.file(`${first + 1}.0.m4s`)
    expect(await state(waiting)).toBe('waits')
    feed(ingest, 2, { from: 12 })
    expect((await waiting)?.length).toBeGreaterThan(100)
    expect(await live.file(`${first + 1}.5.m4s`)).toBeNull()
  })

  test('sound alone', async () => {
    const ingest = live.begin()
    ingest.configure({ audio: tone })
    for (const one of sounds(150)) ingest.audio(one)
    expect(lines(await text(), '#EXTINF').length).toBeGreaterThan(1)
    const [heard] = await packetsOf([await live.file('init1.mp4'), await live.file(`${first}.m4s`)])
    expect(heard?.[0]).toBe(0)
  })

  test('without a key frame for long, segments end all the same', async () => {
    const ingest = live.begin()
    const { config, frames } = pictures(250, { keyEvery: 1000, columns: 18, rows: 12 })
    ingest.configure({ video: config })
    for (const frame of frames) ingest.video(frame)
    expect(lines(await text(), '#EXTINF')).toEqual(['#EXTINF:10.00000,', '#EXTINF:10.00000,'])
    expect(lines(await text(), '#EXT-X-TARGETDURATION')).toEqual(['#EXT-X-TARGETDURATION:10'])
  })

  test.each(['../x', 'init9.mp4', '1.m4s', `${first}.99.m4s`, '', 'index.m3u8', '9'.repeat(400)])(
    'nothing else is there: %s',
    async (name) => {
      feed(live.begin(), 12)
      expect(await live.file(name)).toBeNull()
    },
  )
})

describe('O32: the target duration never changes in a playlist', () => {
  const targets = (playlist: string) => lines(playlist, '#EXT-X-TARGETDURATION').map((line) => Number(line.slice(22)))
  const lengths = (playlist: string) => lines(playlist, '#EXTINF').map((line) => Number(line.slice(8, -1)))
  /** Each playlist that was served, read after each picture. */
  async function told(ingest: Ingest, shownAt: readonly number[], soundSeconds: number | null) {
    const { config, frames } = pictures(shownAt.length, { keyEvery: 1_000 })
    ingest.configure({ video: config, audio: soundSeconds === null ? null : tone })
    const playlists: string[] = []
    const look = async () => {
      if (segmentsDone > 0) playlists.push(await text())
    }
    let [heard, segmentsDone] = [0, 0]
    const hearUntil = async (seconds: number) => {
      for (; soundSeconds !== null && (heard * 1024) / 48_000 < Math.min(seconds, soundSeconds); heard++) {
        const [one] = sounds(1, heard)
        if (one) ingest.audio(one)
        if (heard % 12 === 0) await look()
      }
    }
    for (const [index, frame] of frames.entries()) {
      const at = shownAt[index] ?? 0
      await hearUntil(at)
      const before = clock.now()
      clock.pass(Math.max(0, Math.round(at * 1000) - before))
      ingest.video({ ...frame, time: Math.round(at * 90_000), key: Number.isInteger(at) })
      if (at >= 1.1) segmentsDone = 1
      await look()
    }
    await hearUntil(Number.POSITIVE_INFINITY)
    ingest.end()
    await look()
    return playlists
  }
  const steadily = (from: number, to: number) =>
    Array.from({ length: Math.round((to - from) * 10) }, (_, index) => from + index / 10)

  test.each([
    ['no picture for 9 s while sound goes on', [...steadily(0, 3), ...steadily(12, 15)], 15],
    ['no picture for 15 s while sound goes on', [...steadily(0, 3), ...steadily(18, 20)], 20],
    ['no picture any more', steadily(0, 3), 12],
    ['no picture for 9 s, and no sound at all', [...steadily(0, 3), ...steadily(12, 15)], null],
    ['neither for 9 s', [...steadily(0, 3), 12, 12.1, 12.2, 13, 13.1, 14, 14.1], 3],
    ['no key frame any more', [...steadily(0, 2), ...steadily(2.05, 7)], 7],
    ['a picture a second and a half', [...steadily(0, 2), 2, 3.5, 5, 6.5, 8], null],
  ] as const)('%s', async (_what, shownAt, soundSeconds) => {
    const parts: Fragment[] = []
    const playlists = await told(
      live.begin((part) => parts.push(part)),
      shownAt,
      soundSeconds,
    )
    expect(playlists.length).toBeGreaterThan(5)
    expect(new Set(playlists.flatMap(targets))).toEqual(new Set([1]))
    for (const length of playlists.flatMap(lengths)) expect(Math.round(length)).toBeLessThanOrEqual(1)
    const shown = parts.flatMap(({ video }) => video.map(({ time }) => time))
    expect(shown).toEqual(shownAt.map((at) => Math.round(at * 90_000)))
    const heard = parts.flatMap(({ audio }) => audio.map(({ time }) => time))
    if (soundSeconds !== null) expect(heard).toEqual(heard.map((_, index) => index * 1024))
    if (soundSeconds !== null) expect(heard.length).toBe(Math.ceil((soundSeconds * 48_000) / 1024))
  })

  test('what nothing came in is in no segment, and a discontinuity stands where it was', async () => {
    const playlists = await told(live.begin(), [...steadily(0, 3), ...steadily(9, 10)], null)
    expect(lines(playlists.at(-1) ?? '', '#EXT-X-DISCONTINUITY')).toContain('#EXT-X-DISCONTINUITY')
  })

  test('another publisher, who sends fewer key frames, is cut as the first', async () => {
    await told(live.begin(), steadily(0, 3), 3)
    const ingest = live.begin()
    const { config, frames } = pictures(60, { keyEvery: 30 })
    ingest.configure({ video: config })
    for (const frame of frames) ingest.video(frame)
    ingest.end()
    expect(targets(await text())).toEqual([1])
    for (const length of lengths(await text())) expect(Math.round(length)).toBeLessThanOrEqual(1)
  })
})

describe('O34: a stamp that one frame alone has moves nothing', () => {
  test.each([
    ['a picture 6 s ahead', 6, 'video'],
    ['a picture 1.5 s ahead', 1.5, 'video'],
    ['a picture 6 s behind', -6, 'video'],
    ['a picture an hour ahead', 3_600, 'video'],
    ['a sound 6 s ahead', 6, 'audio'],
    ['a sound 6 s behind', -6, 'audio'],
  ] as const)('%s, one in sixty', async (_what, seconds, track) => {
    const parts: Fragment[] = []
    const ingest = live.begin((part) => parts.push(part))
    const { config, frames } = pictures(150)
    ingest.configure({ video: config, audio: tone })
    let heard = 0
    for (const [index, frame] of frames.entries()) {
      const isOut = (count: number, kind: string) => kind === track && count % 60 === 59
      ingest.video({ ...frame, time: frame.time + (isOut(index, 'video') ? seconds * 90_000 : 0) })
      for (; heard * 1024 < (index + 1) * 4_800; heard++)
        for (const one of sounds(1, heard))
          ingest.audio({ ...one, time: one.time + (isOut(heard, 'audio') ? seconds * 48_000 : 0) })
      clock.pass(100)
    }
    ingest.end()
    const shown = parts.flatMap(({ video }) => video.map(({ time }) => time / 90_000))
    expect(shown).toHaveLength(150)
    for (const [index, at] of shown.entries()) expect(Math.abs(at - index / 10)).toBeLessThan(0.11)
    const last = parts.at(-1)
    expect((last?.start ?? 0) + (last?.duration ?? 0)).toBeCloseTo(15, 0)
    const sound = parts.flatMap(({ audio }) => audio)
    expect(sound.reduce((sum, { duration }) => sum + duration, 0) / 48_000).toBeCloseTo(15, 0)
  })
})
