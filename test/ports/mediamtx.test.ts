import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type MediaMtxConfig, mediaMtxVideo } from '#server/ports/video/mediamtx'
import type { CreatedStream, Video, VideoEvent } from '#server/ports/video/port'
import { configOfMediaMtx, type MediaMtx, openMediaMtx, paceOfTest, secretsOfTest } from '#test/support/mediamtx'
import type { Mood } from '#test/support/providers'

const at = Date.parse('2040-01-01T00:00:00Z')
const never = 3_600_000

describe('livestreams at MediaMTX', () => {
  let mediamtx: MediaMtx
  let config: MediaMtxConfig
  let pace: ReturnType<typeof paceOfTest>
  let video: Video
  let told: VideoEvent[]
  let end: (() => void) | undefined
  beforeAll(async () => {
    mediamtx = await openMediaMtx()
    config = configOfMediaMtx(mediamtx)
  })
  afterAll(() => mediamtx.close())
  beforeEach(() => open())
  afterEach(() => {
    end?.()
    Object.assign(mediamtx, { mood: 'well', instead: null, isOld: false, isReadOnly: false, disconnected: null })
    for (const kept of [mediamtx.published, mediamtx.recordings]) kept.clear()
    mediamtx.calls.length = 0
  })

  /** Asks only where it is asked, unless a pace is given. */
  function open(more: Partial<typeof pace> = {}, secrets = secretsOfTest): void {
    end?.()
    told = []
    pace = Object.assign(paceOfTest(), { pollMilliseconds: never, keptMilliseconds: 0 }, more)
    video = mediaMtxVideo(config, { secrets, now: () => at }, pace)
    mediamtx.askVideo(video)
    end = video.subscribe((event) => void told.push(event))
  }
  const create = (record = false) => video.createStream({ name: 'a stream', record })
  const stateOf = async ({ streamId }: CreatedStream) => (await video.status([streamId])).get(streamId)?.state
  const publish = ({ streamKey }: CreatedStream) => mediamtx.publish(video.addresses.rtmp(streamKey))
  const leave = ({ playbackId }: CreatedStream) => mediamtx.leave(`live/${playbackId}`)
  const typesOf = () => told.map((event) => (event.type === 'asset.updated' ? event.asset.phase : event.type))
  const refusal = (asked: Promise<unknown> | undefined): Promise<Error & { code?: string }> =>
    (asked ?? Promise.resolve()).then(
      () => new Error('It was not refused'),
      (error) => error,
    )
  const secretOf = ({ streamKey }: CreatedStream) => streamKey.split('key=')[1] ?? ''
  const unavailable = { code: 'SERVICE_UNAVAILABLE' }

  describe('are published', () => {
    test('with a key that is in no address for those who watch, nor in an id', async () => {
      const stream = await create()
      const secret = secretOf(stream)
      expect(secret).toMatch(/^[\w-]{43}$/)
      const { hls, whep } = video.addresses
      expect(hls(stream.playbackId)).toBe(`https://hls.test/live/${stream.playbackId}/index.m3u8`)
      expect(whep(stream.playbackId)).toBe(`https://media.test/webrtc/live/${stream.playbackId}/whep`)
      expect(`${stream.playbackId} ${stream.streamId} ${JSON.stringify([...mediamtx.calls])}`).not.toContain(secret)
    })

    test('by encoders, which take the key after the last slash, by browsers, and by a bearer token', async () => {
      const stream = await create()
      const { rtmp, whip } = video.addresses
      expect(rtmp(stream.streamKey)).toBe(`rtmp://media.test:1935/live/${stream.streamKey}`)
      expect(whip(stream.streamKey)).toBe(
        `https://media.test/webrtc/live/${stream.playbackId}/whip?key=${secretOf(stream)}`,
      )
      // The path of the proxy in front of it does not reach MediaMTX.
      const seen = whip(stream.streamKey).replace('/webrtc', '')
      for (const address of [rtmp(stream.streamKey), seen]) {
        await mediamtx.publish(address)
        expect(await stateOf(stream)).toBe('live')
        leave(stream)
      }
      await mediamtx.publish(seen.replace(/\?.*/, ''), secretOf(stream))
      expect(await stateOf(stream)).toBe('live')
    })

    test('with a key that an older key of the installation made, and no other', async () => {
      open({}, secretsOfTest.slice(1))
      const old = await create()
      open()
      await publish(old)
      expect(await stateOf(old)).toBe('live')
      leave(old)
      open({}, secretsOfTest.slice(0, 1))
      await expect(publish(old)).rejects.toThrow('refused')
    })

    test.each<[string, (own: CreatedStream, other: CreatedStream) => [path: string, query: string]]>([
      ['no key', (own) => [own.playbackId, '']],
      ['an empty key', (own) => [own.playbackId, 'key=']],
      ['another key', (own) => [own.playbackId, `key=${'a'.repeat(43)}`]],
      ['half of its key', (own) => [own.playbackId, `key=${secretOf(own).slice(0, -1)}`]],
      ['a longer key', (own) => [own.playbackId, `key=${secretOf(own)}a`]],
      ['the key of another one', (own, other) => [own.playbackId, `key=${secretOf(other)}`]],
      ['its key, to be recorded', (own) => [own.playbackId.replace('n', 'r'), `key=${secretOf(own)}`]],
    ])('by nobody who has %s', async (_what, given) => {
      const [own, other] = [await create(), await create()]
      const [path, query] = given(own, other)
      await expect(mediamtx.publish(`rtmp://media.test/live/${path}?${query}`)).rejects.toThrow('refused')
      expect(await stateOf(own)).toBe('idle')
    })

    test('as long as the server says that they are open', async () => {
      const stream = await create()
      const asked: string[] = []
      let isOpen = true
      video.admit?.(async (streamId) => {
        asked.push(streamId)
        return isOpen
      })
      await publish(stream)
      leave(stream)
      isOpen = false
      await expect(publish(stream)).rejects.toThrow('refused')
      expect(asked).toEqual([stream.streamId, stream.streamId])
      video.admit?.(() => Promise.reject(new Error('The store is away')))
      await expect(publish(stream)).rejects.toThrow('refused')
      await expect(mediamtx.publish(`rtmp://media.test/live/${stream.playbackId}?key=a`)).rejects.toThrow('refused')
      expect(asked).toHaveLength(2)
    })

    test('no more once they are deleted', async () => {
      const stream = await create()
      await video.deleteStream(stream.streamId)
      await expect(publish(stream)).rejects.toThrow('refused')
    })
  })

  describe('are asked for by MediaMTX', () => {
    const hear = (body: unknown) => video.webhook?.(Buffer.from(JSON.stringify(body)), {})

    test.each(['read', 'playback'])('and anybody may %s them', async (action) => {
      expect(await mediamtx.allows({ action, path: 'live/any' })).toBe(true)
    })

    test.each([
      ['uses its API without a key', { action: 'api' }],
      ['uses its API with a guessed key', { action: 'api', token: 'a'.repeat(43) }],
      ['reads its metrics', { action: 'metrics' }],
      ['does what nobody knows', { action: 'a later word' }],
      ['publishes to a path of somebody else', { action: 'publish', path: 'camera', query: 'key=a' }],
      ['publishes below a livestream', { action: 'publish', path: `live/n${'0'.repeat(32)}/more`, query: 'key=a' }],
      ['says nothing', {}],
      ['says a number', 7],
      ['names a number', { action: 'publish', path: 7 }],
    ])('but nobody who %s', async (_what, body) => {
      expect(await refusal(hear(body))).toMatchObject({ code: 'UNAUTHORIZED' })
    })

    test('but not by what is no JSON', async () => {
      expect(await refusal(video.webhook?.(Buffer.from('{'), {}))).toMatchObject({ code: 'UNAUTHORIZED' })
    })

    test('and its API is used with a key that no publisher has', async () => {
      const stream = await create()
      expect(await mediamtx.allows({ action: 'api', token: secretOf(stream) })).toBe(false)
    })
  })

  describe('are seen', () => {
    test('to be live at the time of the store, also in an older version', async () => {
      const stream = await create()
      await publish(stream)
      for (const isOld of [false, true]) {
        open()
        mediamtx.isOld = isOld
        expect(await video.status([stream.streamId])).toEqual(
          new Map([[stream.streamId, { state: 'live', lastSeen: new Date(at) }]]),
        )
      }
    })

    test('by every node, also those that were not asked for them', async () => {
      const stream = await create()
      await publish(stream)
      open({ pollMilliseconds: 20 })
      await expect.poll(typesOf).toEqual(['ingest.started'])
    })

    test('to be interrupted for the time of the grace, and to be over after it', async () => {
      const stream = await create()
      await publish(stream)
      expect(await stateOf(stream)).toBe('live')
      leave(stream)
      expect(await stateOf(stream)).toBe('interrupted')
      pace.ahead += config.graceMs / 2
      expect(await stateOf(stream)).toBe('interrupted')
      pace.ahead += config.graceMs
      expect(await stateOf(stream)).toBe('idle')
      expect(typesOf()).toEqual(['ingest.started', 'ingest.interrupted', 'ingest.stopped'])
    })

    test('with the grace from its beginning where MediaMTX was away for longer', async () => {
      const stream = await create()
      await publish(stream)
      expect(await stateOf(stream)).toBe('live')
      mediamtx.mood = 'failing'
      expect(await refusal(stateOf(stream))).toMatchObject(unavailable)
      pace.ahead += 10 * config.graceMs
      mediamtx.restart()
      mediamtx.mood = 'well'
      expect(await stateOf(stream)).toBe('interrupted')
      await publish(stream)
      expect(await stateOf(stream)).toBe('live')
      expect(typesOf()).toEqual(['ingest.started', 'ingest.interrupted', 'ingest.started'])
    })

    test('by one question for all of them, asked once in a while', async () => {
      open({ keptMilliseconds: 10_000 })
      const all = await Promise.all(Array.from({ length: 20 }, () => create()))
      await Promise.all(all.map(publish))
      pace.ahead += 10_001
      mediamtx.calls.length = 0
      const states = await video.status(all.map(({ streamId }) => streamId))
      expect(new Set([...states.values()].map(({ state }) => state))).toEqual(new Set(['live']))
      await Promise.all(all.map(stateOf))
      expect(mediamtx.calls).toEqual(['GET /v3/paths/list?itemsPerPage=1000000'])
    })

    test('no longer once nobody listens', async () => {
      open({ pollMilliseconds: 20 })
      await expect.poll(() => mediamtx.calls.length).toBeGreaterThan(1)
      end?.()
      await video.status([])
      const before = mediamtx.calls.length
      await new Promise((resolve) => setTimeout(resolve, 100))
      expect(mediamtx.calls.length).toBeLessThanOrEqual(before + 1)
    })

    test('beside paths that are not ours', async () => {
      const source = { type: 'rtspSession', id: 'camera' }
      mediamtx.published.set('camera', { name: 'camera', source, since: new Date(at).toISOString() })
      expect(await video.status(['mediamtx-camera', 'camera', 'unknown'])).toEqual(new Map())
      expect(told).toEqual([])
    })
  })

  describe('while MediaMTX misbehaves', () => {
    test.each<Mood>(['failing', 'silent', 'junk', 'endless', 'elsewhere'])(
      'are never said to be idle: %s',
      async (mood) => {
        const stream = await create(true)
        await publish(stream)
        expect(await stateOf(stream)).toBe('live')
        mediamtx.mood = mood
        const { streamId } = stream
        const asked = [create(), video.status([streamId]), video.endStream(streamId), video.deleteStream(streamId)]
        for (const error of await Promise.all([...asked, video.assets(streamId)].map(refusal)))
          expect(error).toMatchObject(unavailable)
        mediamtx.mood = 'well'
        expect(await stateOf(stream)).toBe('live')
        expect(typesOf()).toEqual(['ingest.started'])
      },
    )

    test.each([
      ['a page that says "not found"', 404, '<html>not found</html>'],
      ['the refusal of a stranger', 401, { status: 'error', error: 'authentication error' }],
      ['that there is no list', 404, { status: 'error', error: 'path not found' }],
      ['nothing', 200, null],
      ['another list', 200, { pageCount: 1, items: [{ name: 7 }] }],
      ['a part of the list', 200, { pageCount: 2, items: [] }],
      ['ten megabytes', 200, { pageCount: 1, items: [], more: 'x'.repeat(10_000_000) }],
    ])('are not said to be gone by %s', async (_what, status, body) => {
      const stream = await create()
      await publish(stream)
      expect(await stateOf(stream)).toBe('live')
      mediamtx.instead = { status, body }
      expect(await refusal(stateOf(stream))).toMatchObject(unavailable)
      mediamtx.instead = null
      expect(await stateOf(stream)).toBe('live')
      expect(typesOf()).toEqual(['ingest.started'])
    })

    test('a page of a proxy that says "not found" is no answer to what somebody wants ended, deleted or played', async () => {
      const stream = await create(true)
      mediamtx.instead = { status: 404, body: '<html>not found</html>' }
      const { streamId } = stream
      for (const asked of [video.endStream(streamId), video.deleteStream(streamId), video.assets(streamId)])
        expect(await refusal(asked)).toMatchObject(unavailable)
      mediamtx.instead = null
      expect(await stateOf(stream)).toBe('idle')
    })

    test('have errors without any key', async () => {
      const stream = await create()
      mediamtx.instead = { status: 401, body: { status: 'error', error: `no ${secretOf(stream)}` } }
      const asked = mediamtx.calls.length
      const { stack, cause } = await refusal(stateOf(stream))
      expect(mediamtx.calls.length).toBe(asked + 1)
      expect(`${stack} ${JSON.stringify(cause)} ${cause}`).not.toContain(secretOf(stream))
    })
  })

  describe('can be ended', () => {
    test.each(['rtmp', 'whip'] as const)('where they are published by %s', async (way) => {
      const stream = await create()
      await mediamtx.publish(video.addresses[way](stream.streamKey).replace('/webrtc', ''))
      expect(await stateOf(stream)).toBe('live')
      await video.endStream(stream.streamId)
      expect(mediamtx.published.size).toBe(0)
      expect(typesOf()).toEqual(['ingest.started', 'ingest.stopped'])
    })

    test('and are told to be live again where somebody else publishes before they are looked at', async () => {
      const stream = await create()
      await publish(stream)
      expect(await stateOf(stream)).toBe('live')
      const [first] = mediamtx.published.values()
      const next = { name: '', since: '', ...first, source: { type: 'rtmpConn', id: 'another connection' } }
      mediamtx.disconnected = () => void mediamtx.published.set(next.name, next)
      await video.endStream(stream.streamId)
      expect(await stateOf(stream)).toBe('live')
      expect(typesOf()).toEqual(['ingest.started', 'ingest.started'])
    })

    test('but not where MediaMTX cannot disconnect who publishes', async () => {
      const stream = await create()
      await publish(stream)
      expect(await stateOf(stream)).toBe('live')
      for (const one of mediamtx.published.values()) one.source.type = 'a later word'
      expect(await refusal(video.endStream(stream.streamId))).toMatchObject(unavailable)
      leave(stream)
      expect(await stateOf(stream)).toBe('interrupted')
    })
  })

  describe('whose recordings', () => {
    async function recorded() {
      const stream = await create(true)
      await publish(stream)
      expect(await stateOf(stream)).toBe('live')
      const segments = mediamtx.recordings.get(`live/${stream.playbackId}`)
      const [segment] = segments ?? []
      if (!segments || !segment) throw new Error('It is not recorded')
      return { stream, segments, segment }
    }

    test('are of those that asked for it', async () => {
      const stream = await create()
      await publish(stream)
      expect(mediamtx.recordings.size).toBe(0)
      expect(await video.assets(stream.streamId)).toEqual([])
    })

    test('wait for the end, and are then at its playback server', async () => {
      const { stream, segment } = await recorded()
      expect(await video.assets(stream.streamId)).toMatchObject([
        { phase: 'waiting', progress: 0, durationSeconds: null, playbackUrl: null, downloadUrl: null },
      ])
      leave(stream)
      expect(await stateOf(stream)).toBe('interrupted')
      const url = `https://media.test/recorded/get?path=live%2F${stream.playbackId}&start=${encodeURIComponent(segment.start)}&duration=12.5`
      expect(await video.assets(stream.streamId)).toEqual([
        {
          assetId: `${stream.playbackId}-${Date.parse(segment.start)}`,
          streamId: stream.streamId,
          phase: 'ready',
          progress: 1,
          startedAt: new Date(segment.start),
          durationSeconds: 12.5,
          sizeBytes: null,
          error: null,
          playbackId: stream.playbackId,
          playbackUrl: url,
          downloadUrl: `${url}&format=mp4`,
        },
      ])
    })

    test('are told when their publisher has left, until they stay as they are', async () => {
      open({ pollMilliseconds: 20 })
      const { stream, segment } = await recorded()
      segment.duration = 3
      leave(stream)
      await expect.poll(typesOf).toContain('ready')
      expect(typesOf()).toEqual(['ingest.started', 'ingest.interrupted', 'ready'])
      const lists = () => mediamtx.calls.filter((call) => call.startsWith('GET /list')).length
      await expect.poll(lists).toBe(2)
      const polls = () => mediamtx.calls.filter((call) => call.startsWith('GET /v3/paths/list')).length
      const before = polls()
      await expect.poll(polls).toBeGreaterThan(before + 5)
      expect(lists()).toBe(2)
      expect(typesOf()).toHaveLength(3)
    })

    test('are told again where their last part came late', async () => {
      const { stream, segment } = await recorded()
      open({ pollMilliseconds: 20 })
      await expect.poll(typesOf).toEqual(['ingest.started'])
      const durations = [12.5, 14]
      Object.defineProperty(segment, 'duration', { enumerable: true, get: () => durations.shift() ?? 14 })
      leave(stream)
      await expect.poll(() => told.at(-1)).toMatchObject({ asset: { durationSeconds: 14 } })
      expect(typesOf()).toEqual(['ingest.started', 'ingest.interrupted', 'ready', 'ready'])
    })

    test('are one for each time that it was published', async () => {
      const { stream, segment } = await recorded()
      segment.start = new Date(Date.parse(segment.start) - 60_000).toISOString()
      leave(stream)
      await publish(stream)
      expect(await video.assets(stream.streamId)).toMatchObject([{ phase: 'ready' }, { phase: 'waiting' }])
    })

    test('are deleted with it, all files of them', async () => {
      const { stream, segments, segment } = await recorded()
      segments.push({ ...segment, start: new Date(Date.parse(segment.start) + 3_600_000).toISOString() })
      await video.deleteStream(stream.streamId)
      expect(mediamtx.recordings.get(`live/${stream.playbackId}`)).toEqual([])
      expect(mediamtx.published.size).toBe(0)
      expect(await video.assets(stream.streamId)).toEqual([])
      expect(typesOf()).toEqual(['ingest.started', 'ingest.stopped'])
    })

    test('keep it from being deleted as long as they cannot be', async () => {
      const { stream } = await recorded()
      mediamtx.isReadOnly = true
      expect(await refusal(video.deleteStream(stream.streamId))).toMatchObject(unavailable)
      expect(await video.status([stream.streamId])).not.toEqual(new Map())
    })
  })
})

test('the configuration of MediaMTX asks at the path of the webhook, about all but watching, and opens what is used alone', () => {
  const file = parse(readFileSync('deploy/mediamtx.yml', 'utf8'))
  expect(file).toMatchObject({
    logLevel: 'info',
    authMethod: 'http',
    authHTTPAddress: 'http://plaza:3000/api/webhooks/video',
    authHTTPExclude: [{ action: 'read' }, { action: 'playback' }],
    api: true,
    apiAddress: ':9997',
    playback: true,
    playbackAddress: ':9996',
    ...{ rtsp: false, srt: false, moq: false, metrics: false, pprof: false },
  })
})
