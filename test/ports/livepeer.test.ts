import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { livepeerVideo } from '#server/ports/video/livepeer'
import type { Video, VideoAsset, VideoEvent } from '#server/ports/video/port'
import type { Mood } from '#test/support/providers'
import { configOf, never, often, openStudio, type Studio, studioKey, studioSecret } from '#test/support/video-provider'

describe('livestreams at Livepeer', () => {
  let studio: Studio
  let video: Video
  let told: VideoEvent[]
  let end: () => void
  beforeAll(async () => {
    studio = await openStudio()
  })
  afterAll(() => studio.close())
  beforeEach(() => {
    told = []
    open(never)
  })
  afterEach(() => {
    end()
    Object.assign(studio, { mood: 'well', instead: null, held: null, pageSize: 100 })
    studio.calls.length = 0
  })

  function open(pace: typeof often, config = configOf(studio)): void {
    end?.()
    video = livepeerVideo(config, pace)
    end = video.subscribe((event) => void told.push(event))
  }
  const create = (record = false) => video.createStream({ name: 'a stream', record })
  const stateOf = async (streamId: string) => (await video.status([streamId])).get(streamId)?.state
  const typesOf = () => told.map((event) => (event.type === 'asset.updated' ? event.asset.phase : event.type))
  const refusal = (asked: Promise<unknown>): Promise<Error & { code?: string }> =>
    asked.then(
      () => new Error('It was not refused'),
      (error) => error,
    )
  const readsOf = (streamId: string) => studio.calls.filter((call) => call === `GET /stream/${streamId}`).length

  test('are created by name, and whether they are recorded', async () => {
    const { streamId, streamKey, playbackId } = await create(true)
    expect(studio.asked.at(-1)).toEqual({ name: 'a stream', record: true })
    expect(studio.streams.get(streamId)).toMatchObject({ streamKey, playbackId })
  })

  test('have their addresses at its hosts, with or without a scheme', () => {
    expect(video.addresses.whip('key')).toBe('https://ingest.test/webrtc/key')
    expect(video.addresses.rtmp('key')).toBe('rtmp://rtmp.test/live/key')
    expect(video.addresses.hls('shown')).toBe('https://shown.test/hls/shown/index.m3u8')
    expect(video.addresses.whep('shown')).toBe('https://ingest.test/webrtc/shown')
  })

  test.each<Mood>(['failing', 'silent', 'junk', 'endless', 'elsewhere'])(
    'are never said to be idle while it is %s',
    async (mood) => {
      const { streamId } = await create()
      studio.publish(streamId)
      studio.mood = mood
      const asked = [
        video.status([streamId]),
        video.assets(streamId),
        video.endStream(streamId),
        video.deleteStream(streamId),
      ]
      for (const error of await Promise.all(asked.map(refusal)))
        expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
      studio.mood = 'well'
      expect(await stateOf(streamId)).toBe('live')
      expect(typesOf()).toEqual(['ingest.started'])
    },
  )

  test.each([
    { status: 404, body: '<html>not found</html>' },
    { status: 401, body: { errors: ['no'] } },
    { status: 200, body: { id: 7 } },
    { status: 200, body: null },
  ])('are not said to be gone by $status $body', async (instead) => {
    const { streamId } = await create()
    Object.assign(studio, { instead })
    expect(await refusal(video.status([streamId]))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await refusal(video.deleteStream(streamId))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    studio.instead = null
    expect(await stateOf(streamId)).toBe('idle')
  })

  test('that it refuses to create, or creates without a key, are an error of it, which holds no key', async () => {
    for (const instead of [
      { status: 403, body: { errors: [`${studioKey} may not`] } },
      { status: 422, body: { errors: ['name'] } },
      { status: 500, body: 'no' },
      { status: 201, body: { id: 'one', playbackId: 'two' } },
    ]) {
      studio.instead = instead
      const error = await refusal(create())
      expect(error).toMatchObject({ code: 'UPSTREAM_ERROR' })
      expect(`${error.stack} ${JSON.stringify(error.cause)} ${error.cause}`).not.toContain(studioKey)
    }
    studio.instead = null
    studio.mood = 'lost'
    expect(await refusal(create())).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })

  test('are live no longer than 90 seconds after they were seen, whatever it says', async () => {
    const { streamId } = await create()
    studio.publish(streamId)
    Object.assign(studio.streams.get(streamId) ?? {}, { lastSeen: Date.now() - 80_000 })
    expect(await stateOf(streamId)).toBe('live')
    open({ ...never, keptMilliseconds: 0 })
    Object.assign(studio.streams.get(streamId) ?? {}, { lastSeen: Date.now() - 91_000 })
    expect(await stateOf(streamId)).toBe('idle')
  })

  test('are asked for once in a while, also by many at a time', async () => {
    const { streamId } = await create()
    await Promise.all([stateOf(streamId), stateOf(streamId), video.status([streamId, streamId])])
    await stateOf(streamId)
    expect(readsOf(streamId)).toBe(1)
    studio.mood = 'failing'
    open({ ...never, keptMilliseconds: 0 })
    await refusal(video.status([streamId]))
    studio.mood = 'well'
    expect(await stateOf(streamId)).toBe('idle')
  })

  test('are watched no longer once nobody listens', async () => {
    open(often)
    const { streamId } = await create()
    await expect.poll(() => readsOf(streamId)).toBeGreaterThan(1)
    end()
    await new Promise((resolve) => setTimeout(resolve, 100))
    const before = readsOf(streamId)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(readsOf(streamId)).toBe(before)
  })

  test('that it does not know are not watched', async () => {
    open(often)
    expect(await video.status(['unknown'])).toEqual(new Map())
    const { streamId } = await create()
    await expect.poll(() => readsOf(streamId)).toBeGreaterThan(5)
    expect(readsOf('unknown')).toBeLessThan(3)
  })

  test('are watched 200 at a time', async () => {
    open(often)
    const first = await create()
    for (let made = 0; made < 200; made++) await create()
    studio.calls.length = 0
    await expect.poll(() => studio.calls.length, { timeout: 30_000 }).toBeGreaterThan(200)
    expect(readsOf(first.streamId)).toBe(0)
  })

  test('can be ended again at once, and who was ended is waited for no longer', async () => {
    const { streamId } = await create()
    studio.publish(streamId)
    expect(await stateOf(streamId)).toBe('live')
    await video.endStream(streamId)
    await video.endStream(streamId)
    expect(await stateOf(streamId)).toBe('idle')
    expect(studio.calls.filter((call) => call.endsWith('/terminate'))).toHaveLength(2)
  })

  describe('whose recordings', () => {
    const settle = (id: string, status: object, more = {}) =>
      void studio.assets.set(id, { id, status, source: { type: 'recording', sessionId: id }, ...more })
    const made = {
      playbackId: 'recorded',
      playbackUrl: 'https://shown.test/hls/recorded/index.m3u8',
      downloadUrl: 'https://shown.test/recorded.mp4',
      size: 4096,
      videoSpec: { duration: 12.75 },
    }
    async function recorded() {
      const { streamId } = await create(true)
      studio.publish(streamId)
      const session = studio.sessions.at(-1)
      if (!session) throw new Error('It is not recorded')
      return { streamId, session }
    }

    test('are told while they are made, and looked at no more when they are', async () => {
      open(often)
      const { streamId, session } = await recorded()
      await expect.poll(typesOf).toEqual(['ingest.started'])
      studio.stop(streamId)
      await expect.poll(typesOf).toEqual(['ingest.started', 'ingest.stopped', 'waiting'])
      settle(session.id, { phase: 'processing', progress: 0.5 })
      await expect.poll(typesOf).toEqual(['ingest.started', 'ingest.stopped', 'waiting', 'processing'])
      settle(session.id, { phase: 'ready' }, made)
      await expect
        .poll(() => told.at(-1))
        .toEqual({
          type: 'asset.updated',
          asset: {
            assetId: session.id,
            streamId,
            phase: 'ready',
            progress: 1,
            startedAt: new Date(session.createdAt),
            durationSeconds: 12.75,
            sizeBytes: 4096,
            error: null,
            playbackId: 'recorded',
            playbackUrl: made.playbackUrl,
            downloadUrl: made.downloadUrl,
          },
        })
      expect(typesOf()).toHaveLength(5)
      const asked = studio.calls.filter((call) => call.includes('/sessions')).length
      const reads = readsOf(streamId)
      await expect.poll(() => readsOf(streamId)).toBeGreaterThan(reads + 2)
      expect(studio.calls.filter((call) => call.includes('/sessions')).length).toBeLessThanOrEqual(asked + 1)
    })

    test('are told once for each change, however often they are asked for', async () => {
      const { streamId, session } = await recorded()
      for (const progress of [0.25, 0.25, 0.5, 0.5]) {
        settle(session.id, { phase: 'processing', progress })
        await video.assets(streamId)
      }
      expect(told).toMatchObject([{ asset: { progress: 0.25 } }, { asset: { progress: 0.5 } }])
    })

    test.each<[string, object | null, Partial<VideoAsset> | null]>([
      ['waiting', null, { phase: 'waiting', progress: 0, durationSeconds: 12.5 }],
      ['waiting', { phase: 'uploading' }, { phase: 'waiting' }],
      ['waiting', { phase: 'waiting', progress: 'junk' }, { phase: 'waiting', progress: 0 }],
      ['waiting', { phase: 'processing', progress: 0.25 }, { phase: 'processing', progress: 0.25, playbackUrl: null }],
      ['failed', { phase: 'failed', errorMessage: 'no key frame' }, { phase: 'failed', error: 'no key frame' }],
      ['failed', null, { phase: 'failed', error: null }],
      ['ready', null, { phase: 'ready', progress: 1, downloadUrl: null }],
      ['waiting', { phase: 'deleting' }, null],
      ['deleted', { phase: 'deleted' }, null],
      ['none', null, null],
      ['waiting', { phase: 'a later word' }, null],
    ])('in a session that is %s, with an asset %o, are %o', async (recordingStatus, status, expected) => {
      const { streamId, session } = await recorded()
      session.recordingStatus = recordingStatus
      if (status) settle(session.id, status, made)
      const found = await video.assets(streamId)
      expect(found).toEqual(expected ? [expect.objectContaining({ assetId: session.id, ...expected })] : [])
    })

    test('have no URL that a browser does not fetch', async () => {
      const { streamId, session } = await recorded()
      settle(session.id, { phase: 'ready' }, { ...made, downloadUrl: 'javascript:alert(1)', playbackUrl: 7 })
      expect(await video.assets(streamId)).toMatchObject([{ phase: 'ready', downloadUrl: null, playbackUrl: null }])
    })

    test('are on several pages, which are asked for at its own URL', async () => {
      const { streamId } = await recorded()
      studio.publish(streamId)
      studio.publish(streamId)
      studio.pageSize = 2
      expect(await video.assets(streamId)).toHaveLength(3)
      studio.pageSize = 0
      studio.calls.length = 0
      await video.assets(streamId)
      expect(studio.calls).toHaveLength(10)
    })

    test('are deleted with it', async () => {
      const { streamId, session } = await recorded()
      settle(session.id, { phase: 'ready' }, made)
      await video.deleteStream(streamId)
      expect(studio.assets.has(session.id)).toBe(false)
      expect(studio.streams.has(streamId)).toBe(false)
    })
  })

  describe('called by its webhook', () => {
    const hear = ({ body, headers }: ReturnType<Studio['call']>) => video.webhook?.(body, headers) ?? Promise.reject()

    test('are looked at before anything is told', async () => {
      const { streamId } = await create()
      expect(await stateOf(streamId)).toBe('idle')
      await hear(studio.call({ event: 'stream.started', stream: { id: streamId } }))
      expect(told).toEqual([])
      studio.publish(streamId)
      await hear(studio.call({ event: 'stream.idle', stream: { id: streamId } }))
      expect(typesOf()).toEqual(['ingest.started'])
      studio.stop(streamId)
      await hear(studio.call({ event: 'recording.waiting', stream: { id: 'a session', parentId: streamId } }))
      expect(typesOf()).toEqual(['ingest.started', 'ingest.stopped'])
    })

    test('are not told to be what they were before, by an answer that is late', async () => {
      const { streamId } = await create()
      studio.publish(streamId)
      let release = () => {}
      studio.held = new Promise((resolve) => {
        release = resolve
      })
      const first = stateOf(streamId)
      await expect.poll(() => readsOf(streamId)).toBe(1)
      studio.held = null
      studio.stop(streamId)
      const second = hear(studio.call({ event: 'stream.idle', stream: { id: streamId } }))
      await Promise.race([second, new Promise((resolve) => setTimeout(resolve, 100))])
      release()
      await Promise.all([first, second])
      expect(typesOf()).toEqual(['ingest.started', 'ingest.stopped'])
    })

    test('are asked once for an event that comes twice, and again where the first could not be looked at', async () => {
      const { streamId } = await create()
      const call = studio.call({ event: 'stream.started', stream: { id: streamId } })
      studio.mood = 'failing'
      expect(await refusal(hear(call))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
      studio.mood = 'well'
      studio.calls.length = 0
      await Promise.all([hear(call), hear(call)])
      await hear(call)
      expect(readsOf(streamId)).toBe(1)
    })

    test('tell of a recording that is named without its stream', async () => {
      const { streamId } = await create(true)
      studio.publish(streamId)
      await stateOf(streamId)
      studio.stop(streamId)
      await hear(studio.call({ event: 'stream.idle', stream: { id: streamId } }))
      const id = studio.sessions.at(-1)?.id ?? ''
      studio.assets.set(id, { id, status: { phase: 'ready' } })
      await hear(studio.call({ event: 'asset.ready', payload: { asset: { id } } }))
      expect(typesOf()).toEqual(['ingest.started', 'ingest.stopped', 'waiting', 'ready'])
    })

    test.each<[string, (call: ReturnType<Studio['call']>) => ReturnType<Studio['call']>]>([
      ['another body', ({ body, headers }) => ({ body: Buffer.concat([body, Buffer.from(' ')]), headers })],
      ['no signature', ({ body }) => ({ body, headers: { 'livepeer-signature': '' } })],
      [
        'half a signature',
        ({ body, headers }) => ({
          body,
          headers: { 'livepeer-signature': headers['livepeer-signature'].slice(0, -2) },
        }),
      ],
      [
        'a longer signature',
        ({ body, headers }) => ({
          body,
          headers: { 'livepeer-signature': `${headers['livepeer-signature']}00` },
        }),
      ],
      ['another secret', () => studio.call({ event: 'stream.started' }, 'guessed')],
      ['an age of six minutes', () => studio.call({ event: 'stream.started' }, studioSecret, 360_000)],
      ['a time to come', () => studio.call({ event: 'stream.started' }, studioSecret, -360_000)],
      ['no event', () => studio.call({})],
      ['a number for an id', () => studio.call({ event: 'stream.started', id: 7 })],
    ])('refuse one with %s', async (_what, forge) => {
      const call = forge(studio.call({ event: 'stream.started', stream: { id: 'one' } }))
      expect(await refusal(hear(call))).toMatchObject({ code: 'UNAUTHORIZED' })
      expect(studio.calls).toEqual([])
    })

    test('have none without a secret', () => {
      open(never, { ...configOf(studio), webhookSecret: null })
      expect(video.webhook).toBeUndefined()
    })
  })
})
