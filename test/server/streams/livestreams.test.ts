// Modes: embedded, two-nodes, two-nodes-redis
import { io } from 'socket.io-client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { endForgottenStreams, sweepStreams } from '#server/domains/streams/streams/life'
import { OpenStreams, StreamAssets, Streams, Viewers } from '#server/domains/streams/streams/model'
import { notifyWatchers } from '#server/domains/streams/streams/notices'
import { sweepViewers } from '#server/domains/streams/streams/viewers'
import { type FakeVideo, fakeVideo } from '#server/ports/video/fake'
import { moderation } from '#shared/api/moderation/moderation'
import { accounts } from '#shared/api/people/accounts'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import {
  streamAssetChanged,
  streamCounted,
  streamHealth,
  streamListed,
  streamStateChanged,
} from '#shared/api/streams/stream-events'
import { streams } from '#shared/api/streams/streams'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { over, type Person, person, personAt } from '#test/support/people'
import { solo } from '#test/support/solo'
import { call, connect, wallet } from '#test/support/wallet'

let server: Booted
let video: FakeVideo
let named = 0
const someone = () => person(server, `streamer ${++named}`)
beforeAll(async () => {
  video = fakeVideo()
  server = await boot({ environment: { SUPER_ADMINS: wallet('root').address }, services: { video } })
})
afterAll(() => server.close())

const node = () => server.apps[0]?.node ?? expect.fail()
const guest = (route: string, body: object | null = null, headers = {}) =>
  call(server.url, route, body, undefined, headers)
/** A stream of somebody new. */
async function opened(more: object = {}) {
  const owner = await someone()
  const { stream } = await owner.does('rest', streams.create, more)
  return { owner, stream }
}
/** A stream that has a picture. */
async function live(more: object = {}) {
  const { owner, stream } = await opened(more)
  video.publish(stream.stream_id)
  await expect.poll(async () => (await shown(stream.id)).status).toBe('live')
  return { owner, stream }
}
const shown = async (id: string) =>
  (await guest(`GET /api/public/streams/${id}`)).body.stream as { [field: string]: unknown }
const ago = (milliseconds: number) => new Date(node().now() - milliseconds)

describe('a stream', () => {
  solo('O62: the streams of an owner are listed after the session key of then is gone', async () => {
    const { owner, stream } = await opened()
    await Streams.updateOne({ _id: stream.id }, { $set: { stream_key: 'gone.AAAA' } })
    const listed = await owner.does('rest', streams.list, { userAddress: owner.account })
    expect(listed.streams).toMatchObject([{ id: stream.id }])
    expect(listed.streams[0]).not.toHaveProperty('stream_key')
  })

  solo.each(over)('is made over %s with its key, which nobody but its owner is told', async (door) => {
    const owner = await someone()
    const other = await someone()
    const { stream, existing } = await owner.does(door, streams.create, { title: 'Morning', description: 'Coffee' })
    expect(existing).toBeUndefined()
    expect(stream).toMatchObject({ status: 'idle', title: 'Morning', is_live: false, user_address: owner.account })
    expect(stream.stream_key).toBeTruthy()
    expect(stream.rtmp_url).toContain(stream.stream_key)
    expect(stream.playback_url).toBe(`http://video.test/hls/${stream.playback_id}/index.m3u8`)
    expect((await owner.does(door, streams.get, { id: stream.id })).stream.stream_key).toBe(stream.stream_key)
    const seen = [
      await other.does(door, streams.get, { id: stream.id }),
      await other.does('rest', streams.list, { userAddress: owner.account }),
      await guest(`GET /api/public/streams/${stream.id}`),
      await Streams.findOne({ _id: stream.id }).lean(),
    ]
    expect(JSON.stringify(seen)).toContain('Morning')
    expect(JSON.stringify(seen)).not.toContain(stream.stream_key)
  })

  test.each(over)('is called “Live” over %s where it is given no title, or an empty one', async (door) => {
    for (const title of ['', null, undefined]) {
      const owner = await someone()
      const { stream } = await owner.does(door, streams.create, { title, description: '' })
      expect(stream.title).toBe('Live')
      const changed = await owner.does(door, streams.change, { id: stream.id, title, description: 'Coffee' })
      expect(changed.stream).toMatchObject({ title: 'Live', description: 'Coffee' })
    }
  })

  test('that is not there has no viewers, which is told as a failure by both names of the path', async () => {
    for (const path of ['streams/nobody/viewers', 'public/streams/nobody'])
      for (const method of ['POST', 'DELETE'])
        expect(await guest(`${method} /api/${path}`, {})).toMatchObject({
          status: 404,
          body: { success: false, error: 'Stream not found', code: 'STREAM_NOT_FOUND' },
        })
  })

  test('M4: is one for each account: of fifty who ask at once, through all nodes and doors, each is given it', async () => {
    const name = `at once ${++named}`
    const owners = await Promise.all(server.urls.map((url) => personAt(url, name)))
    const { account } = owners[0] ?? expect.fail()
    let finish = () => {}
    const slow = new Promise<void>((resolve) => {
      finish = resolve
    })
    const { createStream } = video
    video.createStream = async (wanted) => {
      await slow
      return createStream(wanted)
    }
    const looked = vi.spyOn(OpenStreams, 'findOne')
    try {
      const asked = Array.from({ length: 50 }, (_, at) => {
        const owner = owners[at % owners.length] ?? expect.fail()
        return owner.does(over[(at >> 1) % over.length] ?? 'rest', streams.create, {})
      })
      // Each of them has looked, and none can have been answered.
      await expect.poll(() => looked.mock.calls.length).toBeGreaterThan(50)
      finish()
      const given = await Promise.all(asked)
      const [{ _id } = expect.fail()] = await Streams.find({ user_address: account }).lean()
      expect(new Set(given.map(({ stream }) => stream.id))).toEqual(new Set([_id]))
      expect(given.filter(({ existing }) => !existing)).toHaveLength(1)
      expect(await Streams.countDocuments({ user_address: account })).toBe(1)
    } finally {
      finish()
      video.createStream = createStream
      looked.mockRestore()
    }
  })

  solo('M4: has its chat as soon as who waited for it is given it', async () => {
    const owner = await someone()
    const create = Rooms.create.bind(Rooms)
    let begin = () => {}
    const held = new Promise<void>((resolve) => {
      begin = resolve
    })
    const making = vi.spyOn(Rooms, 'create').mockImplementationOnce((async (room: object) => {
      await held
      return create(room)
    }) as never)
    const looked = vi.spyOn(OpenStreams, 'findOne')
    try {
      const first = owner.does('rest', streams.create, {})
      await expect.poll(() => making.mock.calls.length).toBe(1)
      const second = owner.does('socket', streams.create, {}).then(async ({ stream, existing }) => {
        const { chat } = await owner.does('socket', streams.watch, { stream_id: stream.id })
        return { existing, chat }
      })
      // It looks again while the room is being made.
      await expect.poll(() => looked.mock.calls.length).toBeGreaterThan(2)
      begin()
      expect(await second).toMatchObject({ existing: true, chat: { head_seq: 1 } })
      expect((await first).existing).toBeUndefined()
    } finally {
      begin()
      making.mockRestore()
      looked.mockRestore()
    }
  })

  solo('M4: that is not made within ten seconds is waited for no longer', heavy, async () => {
    const owner = await someone()
    await OpenStreams.create({ _id: owner.account, stream: 'being made', at: ago(0) })
    for (const refused of await Promise.all(over.map((door) => owner.refused(door, streams.create, {}))))
      expect(refused).toMatchObject({ status: 409, code: 'CONFLICT', message: 'A stream of yours is being made' })
  })

  solo.each(over)('M4: is made anew over %s where the process died that made it', async (door) => {
    const owner = await someone()
    await OpenStreams.create({ _id: owner.account, stream: 'never made', at: ago(31_000) })
    expect((await owner.does(door, streams.create, {})).existing).toBeUndefined()
  })

  solo('that was not published for an hour is ended, and another is made', async () => {
    const { owner, stream } = await opened()
    await Streams.updateOne({ _id: stream.id }, { $set: { created_at: ago(3_601_000) } })
    const { stream: second, existing } = await owner.does('rest', streams.create, {})
    expect([second.id === stream.id, existing]).toEqual([false, undefined])
    expect(await shown(stream.id)).toMatchObject({ status: 'ended', reason: 'never_published' })
  })

  solo('that says it is live and is not is ended where its owner makes another', async () => {
    const { owner, stream } = await live()
    await Streams.updateOne({ _id: stream.id }, { $set: { started_at: ago(120_000) } })
    video.deaf(() => video.stop(stream.stream_id))
    const { stream: second } = await owner.does('rest', streams.create, {})
    expect(second.id).not.toBe(stream.id)
    expect(await shown(stream.id)).toMatchObject({ status: 'ended' })
  })

  solo.each(over)(
    'is not made over %s where the configuration lacks something, and who asks is told what',
    async (door) => {
      const owner = await someone()
      video.lacks = () => 'Livestreams on several nodes need NODE_URL, which is not set'
      expect(await owner.tries(door, streams.create, {})).toMatchObject({
        ok: false,
        error: { code: 'SERVICE_UNAVAILABLE', message: 'Livestreams on several nodes need NODE_URL, which is not set' },
      })
      delete video.lacks
      await owner.does(door, streams.create, {})
    },
  )

  solo('is not made where the provider fails, and the next try is free', async () => {
    const owner = await someone()
    video.away = true
    expect(await owner.rest('POST /api/streams', {})).toMatchObject({
      status: 500,
      body: { error: 'Failed to create stream on the video provider', code: 'LIVEPEER_ERROR' },
    })
    video.away = false
    await owner.does('rest', streams.create, {})
  })

  solo.each(over)('O65: is changed, ended and deleted over %s by its owner alone', async (door) => {
    const { owner, stream } = await live()
    const other = await someone()
    const { id } = stream
    for (const refused of [
      other.refused(door, streams.change, { id, title: 'Mine' }),
      other.refused(door, streams.end, { id }),
      other.refused(door, streams.remove, { id }),
    ])
      expect(await refused).toMatchObject({ status: 403, code: 'ACCESS_DENIED', message: 'Not authorized' })
    const gone = { code: 'STREAM_NOT_FOUND' }
    expect(await other.refused(door, streams.end, { id: 'nobody' })).toMatchObject(gone)
    expect(await other.refused('rest', streams.refreshAssets, { id: 'nobody' })).toMatchObject(gone)
    expect(await other.refused('socket', streams.unwatch, { stream_id: 'nobody' })).toMatchObject(gone)
    const { stream: renamed } = await owner.does(door, streams.change, { id, title: 'Evening' })
    expect(renamed.title).toBe('Evening')
    expect((await owner.does('rest', rooms.get, { room: { type: 'stream', id } })).room.name).toBe('Evening')
    await owner.does(door, streams.end, { id })
    await owner.does(door, streams.end, { id })
    expect(await shown(id)).toMatchObject({ status: 'ended', reason: 'ended_by_owner', is_live: false })
    expect(await owner.refused(door, streams.change, { id, action: 'go_live' })).toMatchObject({ code: 'STREAM_ENDED' })
    await owner.does(door, streams.remove, { id })
    expect(await guest(`GET /api/public/streams/${id}`)).toMatchObject({
      status: 404,
      body: { error: 'Stream not found', code: 'STREAM_NOT_FOUND' },
    })
  })

  solo('of an account that is suspended ends at once, and is published no more', async () => {
    const root = await person(server, 'root')
    const { owner, stream } = await live()
    await root.does('rest', accounts.suspend, { userAddress: owner.account, ban: true })
    await expect
      .poll(() => shown(stream.id))
      .toMatchObject({ status: 'ended', is_live: false, reason: 'ended_by_moderator' })
    video.publish(stream.stream_id)
    await expect.poll(async () => (await video.status([stream.stream_id])).get(stream.stream_id)?.state).toBe('idle')
    expect(await owner.refused('rest', streams.create, {})).toMatchObject({ code: 'SUSPENDED' })
    // As where the process died that should have ended it.
    await Streams.updateOne({ _id: stream.id }, { $set: { status: 'live', reason: 'live', ended_at: null } })
    await sweepStreams(node())
    expect(await shown(stream.id)).toMatchObject({ status: 'ended', reason: 'ended_by_moderator' })
  })

  solo.each(over)('is ended and deleted over %s by who moderates everywhere', async (door) => {
    const root = await person(server, 'root')
    const { owner, stream } = await live()
    const { id } = stream
    expect(await root.refused(door, streams.change, { id, title: 'Mine' })).toMatchObject({ code: 'ACCESS_DENIED' })
    await root.does(door, streams.end, { id })
    expect(await shown(id)).toMatchObject({ status: 'ended', reason: 'ended_by_moderator' })
    await root.does(door, streams.remove, { id })
    expect((await guest(`GET /api/public/streams/${id}`)).status).toBe(404)
    expect((await owner.does('rest', streams.create, {})).existing).toBeUndefined()
  })

  solo(
    'is live with its first picture, waits for one that is away, and is as old as before when it is back',
    async () => {
      const { stream } = await opened()
      video.publish(stream.stream_id)
      await expect.poll(() => shown(stream.id)).toMatchObject({ status: 'live', is_live: true, reason: 'live' })
      const { started_at } = await shown(stream.id)
      video.interrupt(stream.stream_id)
      await expect.poll(() => shown(stream.id)).toMatchObject({ reason: 'interrupted', is_live: true })
      expect((await shown(stream.id)).grace_until).toBeTruthy()
      video.publish(stream.stream_id)
      await expect.poll(() => shown(stream.id)).toMatchObject({ reason: 'live', grace_until: null, started_at })
      video.interrupt(stream.stream_id)
      video.stop(stream.stream_id)
      await expect.poll(() => shown(stream.id)).toMatchObject({ status: 'ended', is_live: false })
    },
  )

  solo('that is away longer than the grace is ended by the sweep', async () => {
    const { stream } = await live()
    video.interrupt(stream.stream_id)
    await expect.poll(() => shown(stream.id)).toMatchObject({ reason: 'interrupted' })
    await Streams.updateOne({ _id: stream.id }, { $set: { grace_until: ago(10_000) } })
    await sweepStreams(node())
    expect(await shown(stream.id)).toMatchObject({ status: 'ended', reason: 'connection_lost' })
  })

  solo('that is said to be live without a picture waits for it for a minute, and is idle again after it', async () => {
    const { owner, stream } = await opened()
    await owner.does('rest', streams.change, { id: stream.id, action: 'go_live' })
    expect(await shown(stream.id)).toMatchObject({ status: 'live', is_live: false, reason: 'waiting' })
    const listed = async () =>
      ((await guest('GET /api/public/streams')).body.streams as { id: string }[]).some(({ id }) => id === stream.id)
    expect(await listed()).toBe(false)
    await Streams.updateOne({ _id: stream.id }, { $set: { started_at: ago(61_000) } })
    // The server's own sweep may come first.
    expect(await shown(stream.id)).toMatchObject({ status: expect.stringMatching(/^(live|idle)$/), is_live: false })
    await sweepStreams(node())
    expect(await shown(stream.id)).toMatchObject({ status: 'idle', reason: 'no_picture', started_at: null })
    const { stream: again } = await owner.does('rest', streams.change, { id: stream.id, action: 'go_live' })
    expect([again.status, again.is_live]).toEqual(['idle', false])
    video.publish(stream.stream_id)
    await expect.poll(listed).toBe(true)
  })

  solo(
    'O60: that is said to be live is in each list once its picture has come, and until then among those that are not',
    async () => {
      const { owner, stream } = await opened()
      const line = await owner.line('/streams')
      const listed = async () => {
        const all = [
          (await owner.does('rest', streams.list, { live: true, limit: 100 })).streams,
          (await owner.does('rest', streams.list, { live: false, limit: 100 })).streams,
          (await owner.does('rest', streams.directory, { limit: 100 })).streams,
          (await owner.does(line, streams.directory, { limit: 100 })).streams,
        ]
        return all.map((some) => some.some(({ id }) => id === stream.id))
      }
      expect(await listed()).toEqual([false, true, false, false])
      const told = () => line.all(streamListed).flatMap(({ added }) => added.map(({ id }) => id))
      await owner.does('rest', streams.change, { id: stream.id, action: 'go_live' })
      expect(await listed()).toEqual([false, true, false, false])
      const agreed = async () => {
        const row = await shown(stream.id)
        for (const live of [true, false])
          for (const status of ['idle', 'live', 'ended'] as const) {
            const { streams: some } = await owner.does('rest', streams.list, { live, status, limit: 100 })
            const isThere = some.some(({ id }) => id === stream.id)
            expect([live, status, isThere]).toEqual([live, status, row.is_live === live && row.status === status])
          }
        return row
      }
      expect(await agreed()).toMatchObject({ status: 'live', is_live: false })
      const again = await owner.does('rest', streams.create, {})
      expect([again.existing, again.stream.id]).toEqual([true, stream.id])
      const other = await live()
      await expect.poll(told).toContain(other.stream.id)
      expect(told()).not.toContain(stream.id)
      video.publish(stream.stream_id)
      await expect.poll(listed).toEqual([true, false, true, true])
      await expect.poll(told).toContain(stream.id)
      expect(await agreed()).toMatchObject({ status: 'live', is_live: true })
      await owner.does('rest', streams.end, { id: stream.id })
      expect(await agreed()).toMatchObject({ status: 'ended', is_live: false })
      expect(await listed()).toEqual([false, true, false, false])
    },
  )

  solo('whose event was lost is found by the sweep, and one whose provider is away stays as it is', async () => {
    const { stream } = await opened()
    video.deaf(() => video.publish(stream.stream_id))
    await sweepStreams(node())
    expect(await shown(stream.id)).toMatchObject({ status: 'live', reason: 'live' })
    await Streams.updateOne({ _id: stream.id }, { $set: { started_at: ago(120_000), seen_at: ago(60_000) } })
    video.away = true
    await sweepStreams(node())
    const found = await shown(stream.id)
    video.away = false
    expect(found).toMatchObject({ status: 'live', is_live: true, reason: 'live' })
  })

  solo('that the provider does not know any more waits for its picture, and is ended after the grace', async () => {
    const { stream } = await live()
    const answer = video.status
    video.status = async () => new Map()
    await Streams.updateOne({ _id: stream.id }, { $set: { seen_at: ago(11_000) } })
    await sweepStreams(node())
    expect(await shown(stream.id)).toMatchObject({ status: 'live', reason: 'interrupted' })
    await Streams.updateOne({ _id: stream.id }, { $set: { grace_until: ago(10_000) } })
    await sweepStreams(node())
    video.status = answer
    expect(await shown(stream.id)).toMatchObject({ status: 'ended', reason: 'connection_lost' })
  })

  solo(
    'O42: that a backup left as live, and no provider knows, is ended at the start and never shown as live',
    async () => {
      const { stream } = await live()
      const long = { started_at: ago(3_600_000), seen_at: ago(3_500_000) }
      await Streams.updateOne({ _id: stream.id }, { $set: long })
      const answer = video.status
      video.status = async () => new Map()
      await endForgottenStreams(node())
      expect(await shown(stream.id)).toMatchObject({ status: 'ended', reason: 'connection_lost', is_live: false })
      video.status = answer
    },
  )

  solo('that has ended is closed again to who publishes to it', async () => {
    const { owner, stream } = await live()
    await owner.does('rest', streams.end, { id: stream.id })
    video.publish(stream.stream_id)
    await expect.poll(async () => (await video.status([stream.stream_id])).get(stream.stream_id)?.state).toBe('idle')
    expect(await shown(stream.id)).toMatchObject({ status: 'ended' })
  })

  solo('is listed while it is live, to guests by viewers and with its streamer', async () => {
    const { owner, stream } = await live({ title: 'On air' })
    const { body } = await guest('GET /api/public/streams')
    const found = (body.streams as { id: string }[]).find(({ id }) => id === stream.id)
    expect(found).toMatchObject({ title: 'On air', is_live: true, streamer: { address: owner.account } })
    const listed = (await owner.does('rest', streams.list, { live: true, limit: 100 })).streams
    expect(listed.map(({ id }) => id)).toContain(stream.id)
    await owner.does('rest', streams.end, { id: stream.id })
    const after = (await owner.does('rest', streams.list, { live: true, limit: 100 })).streams
    expect(after.map(({ id }) => id)).not.toContain(stream.id)
  })
})

test('who watches is told of state, counts, recordings, and of the directory', async () => {
  const { owner, stream } = await opened()
  const watcher = await someone()
  const line = await watcher.line('/streams')
  await watcher.does(line, streams.directory, {})
  const { counts, room, viewer_key } = await watcher.does(line, streams.watch, { stream_id: stream.id })
  expect([counts.viewers, room, viewer_key]).toEqual([1, { type: 'stream', id: stream.id }, null])
  video.publish(stream.stream_id)
  expect(await line.hears(streamStateChanged, ({ status }) => status === 'live')).toMatchObject({ reason: 'live' })
  expect((await line.hears(streamListed, ({ updated }) => updated.some(({ id }) => id === stream.id))).removed).toEqual(
    [],
  )
  const startedAt = new Date()
  const none = {
    durationSeconds: null,
    sizeBytes: null,
    error: null,
    playbackId: null,
    playbackUrl: null,
    downloadUrl: null,
  }
  const asset = { assetId: `asset ${stream.id}`, streamId: stream.stream_id, startedAt, ...none }
  video.tellAsset({ ...asset, phase: 'processing', progress: 0.5 })
  video.tellAsset({
    ...asset,
    ...{ phase: 'ready', progress: 1, durationSeconds: 12.5, sizeBytes: 1_000 },
    ...{ playbackId: 'p', playbackUrl: 'http://video.test/a.mp4', downloadUrl: 'http://video.test/a.mp4' },
  })
  const { asset: told } = await line.hears(streamAssetChanged, ({ asset: { status } }) => status.phase === 'ready')
  expect(told).toMatchObject({ duration_seconds: 12.5, recorded_from: startedAt.toISOString() })
  expect((await owner.does('rest', streams.refreshAssets, { id: stream.id })).assets).toEqual([told])
  expect((await owner.does('rest', streams.assets, { id: stream.id })).assets).toEqual([told])
  expect((await guest(`GET /api/public/streams/${stream.id}/recordings`)).body.assets).toEqual([told])
  await owner.does('rest', streams.end, { id: stream.id })
  await line.hears(streamStateChanged, ({ status }) => status === 'ended')
  await line.hears(streamListed, ({ removed }) => removed.includes(stream.id))
  expect(await StreamAssets.countDocuments({ stream: stream.id })).toBe(1)
})

test('who watches on any node is told of a stream that waits for its picture, and of recordings after its end', async () => {
  const { owner, stream } = await opened({ title: 'Soon' })
  // People sign in at one node after the other.
  const lines = await Promise.all(
    Array.from({ length: 2 }, async () => {
      const watcher = await someone()
      const line = await watcher.line('/streams')
      await watcher.does(line, streams.watch, { stream_id: stream.id })
      return line
    }),
  )
  const hear = (told: (line: (typeof lines)[number]) => Promise<unknown>) => Promise.all(lines.map(told))
  for (const title of ['Later', 'Now']) {
    await owner.does('rest', streams.change, { id: stream.id, title })
    await hear((line) => line.hears(streamStateChanged, (state) => state.title === title))
  }
  await owner.does('rest', streams.end, { id: stream.id })
  await hear((line) => line.hears(streamStateChanged, ({ status }) => status === 'ended'))
  const none = { durationSeconds: null, sizeBytes: null, error: null, playbackId: null }
  const asset = { assetId: `late ${stream.id}`, streamId: stream.stream_id, startedAt: new Date(), ...none }
  const address = { playbackUrl: 'http://video.test/a.mp4', downloadUrl: 'http://video.test/a.mp4' }
  video.tellAsset({ ...asset, ...address, phase: 'ready', progress: 1 })
  await hear((line) => line.hears(streamAssetChanged, ({ asset: { asset_id } }) => asset_id === asset.assetId))
})

test('the directory is told who is new in it, and how many watch, over `stream:list {live}`', async () => {
  const { stream } = await opened()
  const line = await (await someone()).line('/streams')
  const asked = await line.socket.timeout(15_000).emitWithAck('stream:list', { live: true })
  expect(asked).toMatchObject({ ok: true })
  expect((await guest('GET /api/public/streams?live=true')).status).toBe(200)
  video.publish(stream.stream_id)
  const has = (list: readonly { id: string }[]) => list.some(({ id }) => id === stream.id)
  await line.hears(streamListed, ({ added, updated }) => has(added) && has(updated))
  await (await someone()).does('rest', streams.view, { id: stream.id })
  const counted = ({ updated }: { updated: readonly { id: string; viewer_count: number }[] }) =>
    updated.some(({ id, viewer_count }) => id === stream.id && viewer_count === 1)
  expect(has((await line.hears(streamListed, counted)).added)).toBe(false)
})

solo('an owner says what their program does, and the provider is asked', async () => {
  const { owner, stream } = await opened()
  const says = (state: 'starting' | 'live' | 'stopping', who = owner) =>
    who.tries('socket', streams.publishState, { stream_id: stream.id, state })
  expect(await says('starting', await someone())).toMatchObject({ ok: false, error: { code: 'ACCESS_DENIED' } })
  expect(await owner.refused('socket', streams.publishState, { stream_id: 'nobody', state: 'live' })).toMatchObject({
    code: 'STREAM_NOT_FOUND',
  })
  const told = async (state: 'starting' | 'live' | 'stopping') => {
    const answer = await says(state)
    return answer.ok ? answer.data.state : expect.fail(answer.error.code)
  }
  expect(await told('starting')).toMatchObject({ status: 'live', reason: 'waiting', is_live: false })
  expect(await told('live')).toMatchObject({ status: 'live', reason: 'waiting' })
  video.deaf(() => video.publish(stream.stream_id))
  expect(await told('live')).toMatchObject({ status: 'live', reason: 'live' })
  expect(await told('stopping')).toMatchObject({ status: 'live', reason: 'live' })
  video.deaf(() => video.interrupt(stream.stream_id))
  expect(await told('stopping')).toMatchObject({ status: 'live', reason: 'interrupted' })
  video.deaf(() => video.stop(stream.stream_id))
  expect(await told('stopping')).toMatchObject({ status: 'ended', reason: 'connection_lost' })
  expect(await says('live')).toMatchObject({ ok: false, error: { code: 'STREAM_ENDED' } })
})

solo('the owner is told every few seconds when the picture was last seen, and nobody else', heavy, async () => {
  const { owner, stream } = await live()
  const watcher = await someone()
  const [mine, theirs] = [await owner.line('/streams'), await watcher.line('/streams')]
  await watcher.does(theirs, streams.watch, { stream_id: stream.id })
  const told = await mine.hears(streamHealth, ({ stream_id }) => stream_id === stream.id)
  expect(told).toMatchObject({
    is_published: true,
    bitrate: 2_000_000,
    dropped: 3,
    last_ingest_at: expect.stringMatching(/^20/),
  })
  expect(theirs.all(streamHealth)).toEqual([])
})

describe('viewers', () => {
  test('are counted once each, however many tabs and ways, and leave with the last of them', async () => {
    const { stream } = await live()
    const { id } = stream
    const [one, two] = [await someone(), await someone()]
    const lines = [await one.line('/streams'), await one.socket('/streams'), await two.line('/streams')]
    await one.does(lines[0] ?? expect.fail(), streams.watch, { stream_id: id })
    await one.does(lines[1] ?? expect.fail(), streams.watch, { stream_id: id })
    await one.does('rest', streams.view, { id })
    await two.does(lines[2] ?? expect.fail(), streams.watch, { stream_id: id })
    await expect.poll(async () => (await shown(id)).viewer_count).toBe(2)
    for (let times = 0; times < 3; times++)
      await two.does(lines[2] ?? expect.fail(), streams.unwatch, { stream_id: id })
    await expect.poll(async () => (await shown(id)).viewer_count).toBe(1)
    await one.does(lines[0] ?? expect.fail(), streams.unwatch, { stream_id: id })
    await one.does(lines[1] ?? expect.fail(), streams.unwatch, { stream_id: id })
    expect((await shown(id)).viewer_count).toBe(1)
    for (let times = 0; times < 100; times++) await one.rest(`DELETE /api/streams/${id}/viewers`)
    await expect.poll(async () => (await shown(id)).viewer_count).toBe(0)
    expect(await shown(id)).toMatchObject({ peak_viewers: 2, unique_viewers: 2 })
  })

  const ends = {
    'PATCH by its owner': (owner: Person, id: string) => owner.does('rest', streams.change, { id, action: 'end' }),
    'DELETE by its owner': (owner: Person, id: string) => owner.does('rest', streams.end, { id }),
    'its publisher': async (_owner: Person, _id: string, stream_id: string) => video.stop(stream_id),
  }
  test.each(Object.entries(ends))(
    'O61: are none in all that is said of a stream once it has ended, by %s',
    async (_who, end) => {
      const { owner, stream } = await live()
      const { id, stream_id } = stream
      const [fan, guestly] = [await someone(), await someone()]
      const line = await fan.line('/streams')
      await fan.does(line, streams.watch, { stream_id: id })
      await guestly.does('rest', streams.view, { id })
      await expect.poll(async () => (await shown(id)).viewer_count).toBe(2)
      await line.hears(streamCounted, ({ viewers }) => viewers === 2)
      const answer = await end(owner, id, stream_id)
      if (answer && 'stream' in answer) expect(answer.stream).toMatchObject({ status: 'ended', viewer_count: 0 })
      await line.hears(streamStateChanged, ({ status }) => status === 'ended')
      expect(line.all(streamCounted).at(-1)).toMatchObject({ viewers: 0, peak: 2 })
      for (const url of server.urls) {
        const { body } = await call(url, `GET /api/public/streams/${id}`)
        expect(body.stream).toMatchObject({ status: 'ended', viewer_count: 0, peak_viewers: 2 })
      }
      expect(await guestly.does('rest', streams.leave, { id })).toMatchObject({ viewer_count: 0 })
      const again = await fan.does(line, streams.watch, { stream_id: id })
      expect(again).toMatchObject({
        stream: { viewer_count: 0 },
        counts: { viewers: 0, sources: { sockets: 0, rest: 0 } },
      })
    },
  )

  solo('are counted in every answer as they are at its moment', async () => {
    const { stream } = await live()
    const { id } = stream
    const [one, two] = [await someone(), await someone()]
    const joined = await one.does('rest', streams.view, { id })
    const left = []
    for (let times = 0; times < 3; times++) left.push((await one.does('rest', streams.leave, { id })).viewer_count)
    expect([joined.viewer_count, left]).toEqual([1, [0, 0, 0]])
    const lines = [await one.line('/streams'), await two.line('/streams')] as const
    const answers = [
      await one.does(lines[0], streams.watch, { stream_id: id }),
      await two.does(lines[1], streams.watch, { stream_id: id }),
      await one.does(lines[0], streams.unwatch, { stream_id: id }),
      await two.does(lines[1], streams.unwatch, { stream_id: id }),
    ]
    expect(answers.map(({ counts }) => counts.viewers)).toEqual([1, 2, 1, 0])
    const versions = answers.map(({ counts }) => counts.v)
    expect(versions).toEqual([...new Set(versions)].sort((before, after) => before - after))
  })

  test('come and go faster than counts are told, of which the last is right', async () => {
    const { stream } = await live()
    const { id } = stream
    const [watcher, other] = [await someone(), await someone()]
    const line = await watcher.line('/streams')
    await watcher.does(line, streams.watch, { stream_id: id })
    const began = Date.now()
    for (let times = 0; times < 10; times++) {
      await other.does('rest', streams.view, { id })
      await other.does('rest', streams.leave, { id })
    }
    await other.does('rest', streams.view, { id })
    await line.hears(streamCounted, ({ viewers, v }) => viewers === 2 && v > 20)
    expect(line.all(streamCounted).length).toBeLessThanOrEqual(3 + (Date.now() - began) / 1_000)
  })

  test('M2: are told no reader more often than once a second, whichever node has counted, and the last count arrives', async () => {
    const { owner, stream } = await live()
    const readers = await Promise.all(server.urls.map((url, at) => personAt(url, `reads ${at} ${stream.id}`)))
    const lines = await Promise.all([...readers, owner].map((reader) => reader.line('/streams')))
    for (const [at, reader] of readers.entries())
      await reader.does(lines[at] ?? expect.fail(), streams.watch, { stream_id: stream.id })
    await expect.poll(async () => (await shown(stream.id)).viewer_count).toBe(readers.length)
    const began = performance.now()
    for (const line of lines) line.forget()
    // As where each node counts what comes and goes there.
    for (let times = 0; times < 40; times++) {
      const { node } = server.apps[times % server.apps.length] ?? expect.fail()
      await Streams.updateOne({ _id: stream.id }, { $set: { viewer_count: 100 + times }, $inc: { counts_v: 1 } })
      await notifyWatchers(node, stream.id)
    }
    const { counts_v } = (await Streams.findOne({ _id: stream.id }).lean()) ?? expect.fail()
    await Promise.all(lines.map((line) => line.hears(streamCounted, ({ v }) => v >= counts_v)))
    const most = 2 + Math.floor((performance.now() - began) / 1_000)
    for (const line of lines) {
      const versions = line.all(streamCounted).map(({ v }) => v)
      expect(versions.length).toBeLessThanOrEqual(most)
      expect(versions).toEqual([...new Set(versions)].sort((one, other) => one - other))
    }
  })

  solo('that are no browser and not signed in are one for each place they ask from', async () => {
    const { stream } = await live()
    const path = `POST /api/public/streams/${stream.id}`
    const all = await Promise.all(Array.from({ length: 100 }, () => guest(path)))
    expect(all.every(({ status }) => status === 200)).toBe(true)
    await expect.poll(async () => (await shown(stream.id)).viewer_count).toBe(1)
    expect((await guest(`${path}?action=leave`)).body).toMatchObject({ success: true })
    await expect.poll(async () => (await shown(stream.id)).viewer_count).toBe(0)
    await guest(`${path}?action=leave`)
    expect((await shown(stream.id)).viewer_count).toBe(0)
  })

  solo('have a key by which a guest is counted once, which cannot be made up', async () => {
    const { stream } = await live()
    const sockets = [1, 2, 3].map(() => connect(server.url, '/streams', null))
    const watch = async (at: number, viewer_key?: string): Promise<string> => {
      const input = { stream_id: stream.id, ...(viewer_key === undefined ? {} : { viewer_key }) }
      const { data } = await (sockets[at] ?? expect.fail()).emitWithAck('stream:watch', input)
      return data.viewer_key
    }
    const key = await watch(0)
    // Who has heard no answer asks again.
    expect(await Promise.all([watch(0), watch(0)])).toEqual([key, key])
    expect(await watch(1, key)).toBe(key)
    await expect.poll(async () => (await shown(stream.id)).viewer_count).toBe(1)
    expect(await watch(2, `${'a'.repeat(22)}.${'b'.repeat(22)}`)).not.toContain('aaaa')
    await expect.poll(async () => (await shown(stream.id)).viewer_count).toBe(2)
    expect((await shown(stream.id)).unique_viewers).toBe(2)
    expect(await watch(2, key)).toBe(key)
    await expect.poll(async () => (await shown(stream.id)).viewer_count).toBe(1)
    for (const socket of sockets) socket.close()
  })

  solo('are one for each browser that was given a cookie, over REST and all of its sockets', async () => {
    const { stream } = await live()
    const path = `/api/public/streams/${stream.id}`
    const { headers } = await guest(`GET ${path}`)
    const cookie = /app_browser=[\w-]+/.exec(headers.get('set-cookie') ?? '')?.[0] ?? expect.fail()
    await guest(`POST ${path}`, null, { cookie })
    const made = [cookie, cookie, `${cookie.slice(0, -4)}aaaa`].map((sent) =>
      io(`${server.url}/streams`, { transports: ['websocket'], forceNew: true, extraHeaders: { cookie: sent } }),
    )
    const viewersAfter = async (at: number) =>
      (await (made[at] ?? expect.fail()).timeout(20_000).emitWithAck('stream:watch', { stream_id: stream.id })).data
        .counts.viewers
    expect([await viewersAfter(0), await viewersAfter(1)]).toEqual([1, 1])
    // A cookie that is none of ours is as good as no cookie.
    expect(await viewersAfter(2)).toBe(2)
    expect(await shown(stream.id)).toMatchObject({ viewer_count: 2, unique_viewers: 2 })
    for (const socket of made) socket.close()
  })

  solo('are one for each connection, however often it asks', async () => {
    const { stream } = await live()
    const socket = connect(server.url, '/streams', null)
    for (let times = 0; times < 5; times++)
      expect(await socket.emitWithAck('stream:watch', { stream_id: stream.id })).toMatchObject({ ok: true })
    await expect.poll(() => shown(stream.id)).toMatchObject({ unique_viewers: 1, viewer_count: 1 })
    socket.close()
  })

  test('who leave while the store is away are counted no more when it is back, on every node', heavy, async () => {
    const { stream } = await live()
    const watchers = await Promise.all(server.urls.map((url, at) => personAt(url, `leaves ${at} ${stream.id}`)))
    for (const watcher of watchers) await watcher.does('socket', streams.watch, { stream_id: stream.id })
    await expect.poll(async () => (await shown(stream.id)).viewer_count).toBe(watchers.length)
    const write = vi.spyOn(Viewers, 'bulkWrite').mockRejectedValue(new Error('The store is away'))
    const refused = watchers.map((watcher) => watcher.refused('socket', streams.unwatch, { stream_id: stream.id }))
    const answers = await Promise.all(refused).finally(() => write.mockRestore())
    expect(answers.every(({ status }) => status >= 500)).toBe(true)
    await expect.poll(async () => (await shown(stream.id)).viewer_count, { timeout: 30_000 }).toBe(0)
  })

  solo('are told a count that was stored, also where others always count at the same moment', async () => {
    const { stream } = await opened()
    const watcher = await someone()
    await watcher.line('/streams')
    const count = vi.spyOn(Streams, 'updateOne').mockResolvedValue({ matchedCount: 0 } as never)
    const watched = watcher.does('socket', streams.watch, { stream_id: stream.id })
    const { counts } = await watched.finally(() => count.mockRestore())
    expect(counts).toMatchObject({ v: 1, viewers: 0 })
    await expect.poll(async () => (await shown(stream.id)).viewer_count).toBe(1)
  })

  test('are counted once at a time by a node, and again where somebody came meanwhile', async () => {
    const { stream } = await live()
    const { id } = stream
    const [one, two] = [await someone(), await someone()]
    await one.does('rest', streams.view, { id })
    await expect.poll(async () => (await shown(id)).viewer_count).toBe(1)
    const read = Viewers.countDocuments.bind(Viewers)
    let [running, most] = [0, 0]
    const slow = async (filter: { stream: string }) => {
      if (filter.stream !== id) return read(filter)
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, 500))
      return read(filter).finally(() => running--)
    }
    const count = vi.spyOn(Viewers, 'countDocuments').mockImplementation(slow as never)
    const counted = Promise.all([sweepViewers(node()), sweepViewers(node()), two.does('rest', streams.view, { id })])
    await counted.finally(() => count.mockRestore())
    await expect.poll(async () => (await shown(id)).viewer_count).toBe(2)
    // One count asks for four numbers.
    expect(most).toBeLessThanOrEqual(4 * server.apps.length)
  })

  test('hear no older count after a newer one, whichever was read first', heavy, async () => {
    const { stream } = await live()
    const watcher = await someone()
    const line = await watcher.line('/streams')
    await watcher.does(line, streams.watch, { stream_id: stream.id })
    await expect.poll(async () => (await shown(stream.id)).viewer_count).toBe(1)
    const before = await Streams.findOne({ _id: stream.id }).lean()
    const { node: there } = server.apps[server.urls.indexOf(watcher.url)] ?? expect.fail()
    let arrive = () => {}
    const late = new Promise<typeof before>((resolve) => {
      arrive = () => resolve(before)
    })
    const read = vi.spyOn(Streams, 'findOne').mockReturnValueOnce({ lean: () => late } as never)
    const told = notifyWatchers(there, stream.id)
    read.mockRestore()
    await (await someone()).does('rest', streams.view, { id: stream.id })
    await line.hears(streamCounted, ({ viewers }) => viewers === 2)
    const heardAt = performance.now()
    arrive()
    await told
    // A count within a second of another waits until that second ends.
    await expect.poll(() => performance.now() - heardAt).toBeGreaterThan(1_100)
    await (await someone()).does('rest', streams.view, { id: stream.id })
    await line.hears(streamCounted, ({ viewers }) => viewers === 3)
    const versions = line.all(streamCounted).map(({ v }) => v)
    expect(versions).toEqual(versions.toSorted((one, other) => one - other))
  })

  solo('who asked over REST alone are counted for five minutes', heavy, async () => {
    const { stream } = await live()
    const viewer = await someone()
    expect(await viewer.does('rest', streams.view, { id: stream.id })).toEqual({ success: true, viewer_count: 1 })
    const { until } = (await Viewers.findOne({ stream: stream.id }).lean()) ?? expect.fail()
    expect(Math.abs((until?.getTime() ?? 0) - node().now() - 300_000)).toBeLessThan(10_000)
    await Viewers.updateOne({ stream: stream.id }, { $set: { until: ago(1) } })
    await expect.poll(async () => (await shown(stream.id)).viewer_count, { timeout: 12_000 }).toBe(0)
  })

  solo('do not include the streamer, who looks at it as well', async () => {
    const { owner, stream } = await live()
    const { counts } = await owner.does('socket', streams.watch, { stream_id: stream.id })
    const { viewer_count } = await owner.does('rest', streams.view, { id: stream.id })
    expect([counts.viewers, viewer_count]).toEqual([0, 0])
  })

  solo('and the state are told once to the owner, who may watch or not', async () => {
    const { owner, stream } = await opened()
    const [watching, idle] = [await owner.socket('/streams'), await owner.socket('/streams')]
    await owner.does(watching, streams.watch, { stream_id: stream.id })
    await (await someone()).does('rest', streams.view, { id: stream.id })
    await owner.does('rest', streams.change, { id: stream.id, title: 'Renamed' })
    for (const line of [watching, idle]) {
      await line.hears(streamCounted, ({ viewers }) => viewers === 1)
      await line.hears(streamStateChanged, ({ title }) => title === 'Renamed')
      const counts = line.all(streamCounted).filter(({ viewers }) => viewers === 1)
      const states = line.all(streamStateChanged).filter(({ title }) => title === 'Renamed')
      expect([counts.length, states.length]).toEqual([1, 1])
    }
  })

  solo('of a stream that has ended are none', async () => {
    const { owner, stream } = await live()
    const viewer = await someone()
    const line = await viewer.line('/streams')
    await viewer.does(line, streams.watch, { stream_id: stream.id })
    await owner.does('rest', streams.end, { id: stream.id })
    await line.hears(streamCounted, ({ viewers }) => viewers === 0)
    expect(await shown(stream.id)).toMatchObject({ viewer_count: 0, peak_viewers: 1, unique_viewers: 1 })
    // Who they were is deleted after a while, and how many they were stays.
    expect((await Viewers.findOne({ stream: stream.id }).lean())?.gone_at).toBeInstanceOf(Date)
  })
})

describe('the chat of a stream', () => {
  test('is read by guests and written by who is signed in, with one order over both doors', async () => {
    const { owner, stream } = await live()
    const { id } = stream
    const room = { type: 'stream', id } as const
    const fan = await someone()
    const { message } = await fan.does('rest', streams.say, { id, message: `  ${'x'.repeat(600)}` })
    expect([message.message, message.content, message.type]).toEqual(['x'.repeat(500), 'x'.repeat(500), 'message'])
    await owner.does('socket', messages.send, { room, text: 'Welcome' })
    expect((await fan.does('rest', streams.say, { id, message: '🎉', type: 'reaction' })).message.type).toBe('reaction')
    const { messages: rows } = await owner.does('rest', streams.chat, { id })
    expect(rows.map(({ content }) => content.slice(0, 7))).toEqual(['xxxxxxx', 'Welcome', '🎉'])
    const { body } = await guest(`GET /api/rooms/stream/${id}/messages`)
    expect((body.messages as object[]).length).toBe(3)
    const since = rows[0]?.created_at ?? ''
    expect((await owner.does('rest', streams.chat, { id, since })).messages).toHaveLength(3)
    expect(await guest(`POST /api/streams/${id}/chat`, { message: 'hi' })).toMatchObject({ status: 401 })
    expect(await fan.refused('rest', streams.say, { id, message: ' ' })).toMatchObject({ status: 400 })
    expect(await fan.refused('rest', streams.say, { id: 'nobody', message: 'hi' })).toMatchObject({ status: 404 })
    expect(await fan.refused('rest', streams.say, { id, message: 'no emoji', type: 'reaction' })).toMatchObject({
      status: 400,
    })
  })

  solo(
    'M1: takes 500 characters in a message over every door, in edits and in polls, and its rules say so',
    async () => {
      const { owner, stream } = await opened()
      const room = { type: 'stream', id: stream.id } as const
      const fan = await someone()
      const [full, long] = ['😀'.repeat(500), 'x'.repeat(501)]
      const { message } = await fan.does('socket', messages.send, { room, text: full })
      const onStreams = await fan.line('/streams')
      const asked = { room, question: long, options: ['yes', 'no'] }
      const refused = [
        ...(await Promise.all(over.map((door) => fan.refused(door, messages.send, { room, text: long })))),
        ...(await Promise.all(
          over.map((door) => fan.refused(door, messages.edit, { room, id: message.id, text: long })),
        )),
        ...(await Promise.all(over.map((door) => owner.refused(door, messages.send, { room, text: long })))),
        (await onStreams.socket.emitWithAck('message:send', { room, text: long })).error,
        await fan.refused('rest', polls.create, { ...asked, question: long.slice(3) }),
      ]
      for (const refusal of refused)
        expect(refusal).toMatchObject({
          status: 400,
          code: 'MESSAGE_TOO_LONG',
          message: 'Message exceeds 500 characters',
        })
      expect((await fan.does('socket', messages.check, { room, text: long })).verdict.code).toBe('MESSAGE_TOO_LONG')
      expect((await fan.does('socket', messages.join, { room })).rules.max_message_length).toBe(500)
      const watched = await owner.does('socket', streams.watch, { stream_id: stream.id })
      expect(watched.rules?.max_message_length).toBe(500)
    },
  )

  solo.each(over)('M1: is given a shorter limit over %s, and none that is longer', async (door) => {
    const { owner, stream } = await opened()
    const room = { type: 'stream', id: stream.id } as const
    const limit = (max_message_length: number) =>
      ({ room, action: 'rules', patch: { rules: { max_message_length } } }) as never
    for (const most of [0, 501])
      expect(await owner.refused(door, moderation.act, limit(most))).toMatchObject({
        status: 400,
        code: 'VALIDATION_ERROR',
        message: 'In this kind of room a message has at most 500 characters',
      })
    await owner.does(door, moderation.act, limit(5))
    expect(await owner.refused(door, messages.send, { room, text: 'longer' })).toMatchObject({
      code: 'MESSAGE_TOO_LONG',
      message: 'Message exceeds 5 characters',
    })
    await owner.does(door, moderation.act, limit(500))
    await owner.does(door, messages.send, { room, text: 'longer' })
  })

  const settings = (rules: object) => ({ action: 'rules', patch: { rules } })
  const word = (word_action: string) => ({ action: 'word_add', patch: { word: 'plum', word_action } })
  solo.each([
    ['MUTED', 'hello', { action: 'mute' }],
    ['READ_ONLY', 'hello', settings({ read_only: true })],
    ['CONTENT_NOT_ALLOWED', '[POLL]hello', settings({ polls_allowed: 'disabled' })],
    ['BLOCKED_WORD', 'a plum', word('block')],
    ['MESSAGE_REJECTED', 'a plum', word('mute')],
    ['LINKS_NOT_ALLOWED', 'https://example.com', settings({ links_allowed: 'disabled' })],
    ['MESSAGE_TOO_LONG', 'too long', settings({ max_message_length: 5 })],
    ['ROOM_ARCHIVED', 'hello', null],
    ['SUSPENDED', 'hello', null],
  ])('refuses by %s what its room refuses, over both doors alike', async (code, text, act) => {
    const { owner, stream } = await opened()
    const room = { type: 'stream', id: stream.id } as const
    const fan = await someone()
    await fan.does('rest', streams.say, { id: stream.id, message: 'hi' })
    if (act?.action === 'mute') Object.assign(act, { target: fan.account })
    if (act) await owner.does('socket', moderation.act, { room, ...act } as never)
    if (code === 'ROOM_ARCHIVED') await owner.does('rest', rooms.archive, { room })
    if (code === 'SUSPENDED')
      await (await person(server, 'root')).does('rest', accounts.suspend, { userAddress: fan.account, ban: true })
    const told = [
      await fan.refused('rest', streams.say, { id: stream.id, message: text }),
      ...(await Promise.all(over.map((door) => fan.refused(door, messages.send, { room, text })))),
    ]
    expect(told.map((refusal) => refusal.code)).toEqual([code, code, code])
    expect((await owner.does('rest', streams.chat, { id: stream.id })).messages).toHaveLength(1)
  })

  solo('is read and renamed by nobody who may not, with the words of its room', async () => {
    const { owner, stream } = await opened()
    const room = { type: 'stream', id: stream.id } as const
    const [banned, stranger] = [await someone(), await someone()]
    await banned.does('rest', streams.say, { id: stream.id, message: 'hi' })
    await owner.does('socket', moderation.act, { room, action: 'ban', target: banned.account } as never)
    expect(await banned.refused('rest', streams.chat, { id: stream.id })).toMatchObject({ status: 403, code: 'BANNED' })
    const members = { rules: { read_access: 'members' } }
    await owner.does('socket', moderation.act, { room, action: 'rules', patch: members } as never)
    const unseen = await stranger.refused('rest', streams.chat, { id: stream.id })
    expect(unseen).toMatchObject({ status: 403, code: 'NOT_A_MEMBER' })
    await owner.does('rest', rooms.archive, { room })
    for (const door of over)
      expect(await owner.refused(door, streams.change, { id: stream.id, title: 'Late' })).toMatchObject({
        code: 'ROOM_ARCHIVED',
      })
  })

  solo('is moderated by its streamer: bans, slow mode and words hold over both doors', async () => {
    const { owner, stream } = await live()
    const room = { type: 'stream', id: stream.id } as const
    const fan = await someone()
    await fan.does('rest', streams.say, { id: stream.id, message: 'first' })
    const act = (input: object) => owner.does('socket', moderation.act, { room, ...input } as never)
    await act({ action: 'rules', patch: { rules: { slow_mode_seconds: 60 } } })
    const again = { id: stream.id, message: 'second' }
    expect(await fan.refused('rest', streams.say, again)).toMatchObject({ code: 'SLOW_MODE' })
    expect(await fan.refused('socket', messages.send, { room, text: 'second' })).toMatchObject({ code: 'SLOW_MODE' })
    await act({ action: 'rules', patch: { rules: { slow_mode_seconds: 0 } } })
    await act({ action: 'ban', target: fan.account })
    expect(await fan.refused('rest', streams.say, again)).toMatchObject({ code: 'BANNED' })
    expect(await fan.refused('socket', messages.send, { room, text: 'second' })).toMatchObject({ code: 'BANNED' })
  })
})

solo('who is suspended opens no stream', async () => {
  const [root, gone] = [await person(server, 'root'), await someone()]
  await root.does('rest', accounts.suspend, { userAddress: gone.account, ban: true })
  for (const door of over) expect(await gone.refused(door, streams.create, {})).toMatchObject({ code: 'SUSPENDED' })
})

solo.each(['block', 'mute'] as const)('what a stream is called is judged by the words of action %s', async (action) => {
  const [root, owner] = [await person(server, 'root'), await someone()]
  const word = `zork${action}`
  await root.rest('POST /api/blocked-words', { word, action, scope: 'global' })
  const code = action === 'block' ? 'BLOCKED_WORD' : 'MESSAGE_REJECTED'
  const said = { title: `The ${word} show` }
  for (const door of over) expect(await owner.refused(door, streams.create, said)).toMatchObject({ code })
  expect(await Streams.countDocuments({ user_address: owner.account, status: { $ne: 'ended' } })).toBe(0)
  const { stream } = await owner.does('rest', streams.create, { title: 'Fine' })
  for (const door of over)
    expect(await owner.refused(door, streams.change, { id: stream.id, ...said })).toMatchObject({ code })
  expect(await shown(stream.id)).toMatchObject({ title: 'Fine' })
})

solo('a server without video says so', async () => {
  const all = server.apps.map((app) => app.node.services)
  for (const services of all) services.video = null
  const refused = await (await someone()).refused('rest', streams.create, {})
  for (const services of all) services.video = video
  expect(refused).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' })
})

solo('who is muted in the room of their stream, or suspended, gives it no other name', async () => {
  const [root, muted, suspended] = [await person(server, 'root'), await opened(), await opened()]
  const room = { type: 'stream' as const, id: muted.stream.id }
  await root.does('rest', moderation.act, {
    room,
    action: 'mute',
    target: muted.owner.account,
    duration: '1h',
  } as never)
  await root.does('rest', accounts.suspend, { userAddress: suspended.owner.account, ban: true })
  for (const [{ owner, stream }, code] of [
    [muted, 'MUTED'],
    [suspended, 'SUSPENDED'],
  ] as const)
    for (const door of over)
      expect(await owner.refused(door, streams.change, { id: stream.id, title: 'Other' })).toMatchObject({
        status: 403,
        code,
      })
})
