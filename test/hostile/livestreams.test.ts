// Modes: embedded
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { Streams, Viewers } from '#server/domains/streams/streams/model'
import { sweepViewers } from '#server/domains/streams/streams/viewers'
import { fakeVideo } from '#server/ports/video/fake'
import { moderation } from '#shared/api/moderation/moderation'
import { accounts } from '#shared/api/people/accounts'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { streamStateChanged } from '#shared/api/streams/stream-events'
import { streams } from '#shared/api/streams/streams'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { loggerInto } from '#test/support/logged'
import { over, type Person, person } from '#test/support/people'
import { call, connect, wallet } from '#test/support/wallet'

const video = fakeVideo()
const lines: string[] = []
let server: Booted
let owner: Person
let other: Person
let stream: Awaited<ReturnType<typeof opened>>
beforeAll(async () => {
  server = await boot({
    environment: { SUPER_ADMINS: wallet('root').address },
    services: { video },
    change: (platform) => ({ ...platform, logger: loggerInto(lines) }),
  })
  ;[owner, other] = [await person(server, 'hostile streamer'), await person(server, 'hostile viewer')]
  stream = await opened()
})
afterAll(() => server.close())
const opened = async () => (await owner.does('rest', streams.create, { title: 'Key' })).stream
const guest = (route: string, body: object | null = null, headers = {}) =>
  call(server.url, route, body, undefined, headers)

describe('T10: the key of a stream', () => {
  test('is in the answers to its owner that give it, and nowhere else', async () => {
    const { id } = stream
    const key = stream.stream_key ?? expect.fail()
    const line = await other.line('/streams')
    await other.does(line, streams.directory, {})
    await other.does(line, streams.watch, { stream_id: id })
    video.publish(stream.stream_id)
    const room = { type: 'stream', id } as const
    const answers = [
      await other.does('socket', streams.get, { id }),
      await other.does('rest', streams.get, { id }),
      await other.does('rest', streams.list, {}),
      await other.does('rest', streams.list, { userAddress: owner.account, live: true }),
      await other.does('rest', streams.assets, { id, refresh: true }),
      await other.does('rest', rooms.get, { room }),
      await other.does('rest', messages.history, { room }),
      ...(await Promise.all(
        [`/api/public/streams/${id}`, '/api/public/streams', `/api/public/streams/${id}/recordings`].map((path) =>
          guest(`GET ${path}`),
        ),
      )),
      await other.tries('rest', streams.change, { id, title: 'x' }),
      await other.tries('socket', streams.end, { id }),
      await other.tries('rest', streams.remove, { id }),
      await owner.rest('POST /api/streams', { title: 7 }),
      await owner.rest(`GET /api/streams/${id}/assets?refresh=perhaps`),
    ]
    await expect.poll(() => line.frames.some(({ event }) => event === 'stream:state')).toBe(true)
    const own = await owner.does('rest', streams.list, { userAddress: owner.account })
    expect(own.streams[0]?.stream_key).toBe(key)
    const seen = JSON.stringify([answers, line.frames, lines])
    expect(seen).toContain(stream.playback_id)
    expect(seen).not.toContain(key)
  })

  test('is stored sealed', async () => {
    const row = JSON.stringify(await Streams.findOne({ _id: stream.id }).lean())
    expect(row).toContain(stream.playback_id)
    expect(row).not.toContain(stream.stream_key)
  })
})

describe('T52: the count of viewers', () => {
  const count = async () =>
    (await guest(`GET /api/public/streams/${stream.id}`)).body.stream as { viewer_count: number }

  test('grows by one for one client, however often and however it asks, and is never below none', heavy, async () => {
    const path = `/api/streams/${stream.id}/viewers`
    const before = (await count()).viewer_count
    for (let round = 0; round < 5; round++)
      await Promise.all(
        Array.from({ length: 100 }, (_, at) =>
          guest(`POST ${path}`, null, {
            'x-forwarded-for': `10.0.0.${at}`,
            cookie: `app_browser=${String(at).padStart(43, 'x')}`,
          }),
        ),
      )
    await expect.poll(async () => (await count()).viewer_count - before).toBe(1)
    for (let times = 0; times < 300; times++) await guest(`DELETE ${path}`)
    await expect.poll(async () => (await count()).viewer_count).toBe(before)
    expect((await guest(`POST ${path}?action=leave`)).body).toMatchObject({ success: true })
    expect((await count()).viewer_count).toBeGreaterThanOrEqual(0)
  })

  test('T52: marks are free: at one address twenty guests are told apart, and all others are one', heavy, async () => {
    const { stream: own } = await (await person(server, 'marks')).does('rest', streams.create, {})
    const path = `/api/public/streams/${own.id}`
    const cookies: string[] = []
    for (let mark = 0; mark < 40; mark++) {
      // What is known of an address outlives the looks at who is still there.
      if (mark === 20) await Promise.all(server.apps.map(({ node }) => sweepViewers(node)))
      const { headers } = await guest(`GET ${path}`)
      const cookie = /app_browser=[\w-]+/.exec(headers.get('set-cookie') ?? '')?.[0] ?? expect.fail()
      cookies.push(cookie)
      expect((await guest(`POST ${path}`, null, { cookie })).status).toBe(200)
    }
    await expect.poll(async () => (await guest(`GET ${path}`)).body.stream).toMatchObject({ viewer_count: 21 })
    // Each guest who leaves makes a place for one of the rest, until all are distinguished.
    for (const cookie of cookies.slice(0, 25)) await guest(`DELETE ${path}`, null, { cookie })
    await expect.poll(async () => (await guest(`GET ${path}`)).body.stream).toMatchObject({ viewer_count: 15 })
    for (const cookie of cookies) await guest(`DELETE ${path}`, null, { cookie })
    await expect.poll(async () => (await guest(`GET ${path}`)).body.stream).toMatchObject({ viewer_count: 0 })
  })

  describe('T52: sockets of guests are free as well', () => {
    const counts = async (id: string) => {
      const { stream: shown } = (await guest(`GET /api/public/streams/${id}`)).body
      const { viewer_count, peak_viewers, unique_viewers } = shown as { [name: string]: number }
      return [viewer_count, peak_viewers, unique_viewers]
    }
    const open = (count: number) => Array.from({ length: count }, () => connect(server.url, '/streams', null))
    type Sockets = ReturnType<typeof open>
    const tell = async (sockets: Sockets, event: 'stream:watch' | 'stream:unwatch', id: string) => {
      const answers = sockets.map((socket) => socket.timeout(60_000).emitWithAck(event, { stream_id: id }))
      for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ ok: true })
    }

    test('at one address twenty are told apart, over both doors together, and all others are one', heavy, async () => {
      const { id } = (await (await person(server, 'a house full')).does('rest', streams.create, {})).stream
      const sockets = open(40)
      await tell(sockets, 'stream:watch', id)
      await expect.poll(() => counts(id)).toEqual([21, 21, 21])
      const { headers } = await guest(`GET /api/public/streams/${id}`)
      const cookie = /app_browser=[\w-]+/.exec(headers.get('set-cookie') ?? '')?.[0] ?? expect.fail()
      await guest(`POST /api/public/streams/${id}`, null, { cookie })
      await tell(sockets.slice(0, 1), 'stream:watch', id)
      expect(await counts(id)).toEqual([21, 21, 21])
      await guest(`DELETE /api/public/streams/${id}`, null, { cookie })
      // The remaining guest is distinguished as soon as there is a place, and was among the rest before.
      await tell(sockets.slice(0, 25), 'stream:unwatch', id)
      await expect.poll(() => counts(id)).toEqual([15, 21, 21])
      await tell(sockets.slice(25), 'stream:unwatch', id)
      await expect.poll(() => counts(id)).toEqual([0, 21, 21])
      for (const socket of sockets) socket.close()
    })

    test('those that come in place of others are told apart, and are nobody new for five minutes', async () => {
      const { id } = (await (await person(server, 'a revolving door')).does('rest', streams.create, {})).stream
      for (let round = 0; round < 3; round++) {
        const sockets = open(15)
        await tell(sockets, 'stream:watch', id)
        await expect.poll(async () => (await counts(id))[0]).toBe(15)
        await tell(sockets, 'stream:unwatch', id)
        await expect.poll(async () => (await counts(id))[0]).toBe(0)
        for (const socket of sockets) socket.close()
      }
      expect(await counts(id)).toEqual([0, 15, 20])
    })

    test('those who are lost make a place for others as who leaves does', heavy, async () => {
      const { id } = (await (await person(server, 'lost and found')).does('rest', streams.create, {})).stream
      const sockets = open(24)
      await tell(sockets, 'stream:watch', id)
      await expect.poll(async () => (await counts(id))[0]).toBe(21)
      for (const socket of sockets.slice(0, 12)) socket.close()
      await expect.poll(() => counts(id), { timeout: 30_000 }).toEqual([12, 21, 21])
      for (const socket of sockets) socket.close()
    })
  })

  test('T06: a beacon counts nobody as somebody else', async () => {
    const { stream: own } = await other.does('rest', streams.create, {})
    const headers = {
      origin: 'https://evil.test',
      'sec-fetch-site': 'cross-site',
      cookie: `app_session=${owner.token}`,
    }
    for (const path of [`POST /api/public/streams/${own.id}`, `DELETE /api/public/streams/${own.id}`])
      expect((await guest(path, null, headers)).status).toBe(403)
    expect((await guest(`POST /api/streams/${own.id}/viewers`, null, headers)).status).toBe(403)
    const shown = await guest(`GET /api/public/streams/${own.id}`, null, headers)
    expect([shown.status, shown.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
    expect(await Viewers.countDocuments({ _id: `${own.id}|a:${owner.account}` })).toBe(0)
    await owner.does('rest', streams.view, { id: own.id })
    expect(await Viewers.countDocuments({ _id: `${own.id}|a:${owner.account}` })).toBe(1)
  })

  test('271: who never joined leaves without a trace', async () => {
    const before = await count()
    const nobody = await person(server, 'never here')
    for (const act of ['POST', 'DELETE'])
      expect((await nobody.rest(`${act} /api/streams/${stream.id}/viewers?action=leave`)).status).toBe(200)
    await nobody.does('socket', streams.unwatch, { stream_id: stream.id })
    expect(await count()).toEqual(before)
  })
})

describe('T12: what a caller says of a stream beside what may be said', () => {
  const taken = {
    ...{ id: 'mine', status: 'live', is_live: true, viewer_count: 9_000, peak_viewers: 9_000, unique_viewers: 9_000 },
    ...{ stream_key: 'a-key-of-mine', stream_id: 'elsewhere', playback_id: 'elsewhere', is_published: true },
    ...{ user_address: '0x0000000000000000000000000000000000000001', created_at: '2020-01-01T00:00:00.000Z' },
  }

  test('T12: is not stored, as it is made or changed, over either door', async () => {
    const maker = await person(server, 'mass assignment')
    const made = (await maker.rest('POST /api/streams', { title: 'Mine', ...taken })).body.stream as { id: string }
    const expected = { id: made.id, status: 'idle', is_live: false, title: 'Mine', user_address: maker.account }
    const shown = async () => (await maker.does('rest', streams.get, { id: made.id })).stream
    expect(made).toMatchObject(expected)
    expect(await shown()).toMatchObject(expected)
    const { stream_key, stream_id, playback_id, created_at } = await shown()
    for (const said of [stream_key, stream_id, playback_id, created_at])
      expect(Object.values(taken)).not.toContain(said)
    const changed = await maker.rest(`PATCH /api/streams/${made.id}`, { title: 'Renamed', ...taken })
    expect(changed.status).toBe(200)
    const line = await maker.socket('/streams')
    const refused = await line.socket.emitWithAck('stream:change', { ...taken, id: made.id, title: 'Again' })
    expect(refused).toMatchObject({ ok: false, error: { code: 'VALIDATION_ERROR' } })
    expect(await shown()).toMatchObject({
      ...{ ...expected, title: 'Renamed', stream_key, stream_id, playback_id, created_at },
      ...{ viewer_count: 0, peak_viewers: 0, unique_viewers: 0 },
    })
    const { is_published } = (await Streams.findOne({ _id: made.id }).lean()) ?? expect.fail()
    expect(is_published).toBe(false)
  })
})

test('270: a stream that is deleted while it is live is ended for who watches, shown and published no more', async () => {
  const maker = await person(server, 'deletes while live')
  const { stream: gone } = await maker.does('rest', streams.create, {})
  video.publish(gone.stream_id)
  const shown = () => guest(`GET /api/public/streams/${gone.id}`)
  await expect.poll(async () => (await shown()).body.stream).toMatchObject({ status: 'live' })
  const line = await other.line('/streams')
  await other.does(line, streams.watch, { stream_id: gone.id })
  await maker.does('rest', streams.remove, { id: gone.id })
  await line.hears(streamStateChanged, ({ stream_id, status }) => stream_id === gone.id && status === 'ended')
  expect((await shown()).status).toBe(404)
  expect(await maker.refused('rest', streams.remove, { id: gone.id })).toMatchObject({ code: 'STREAM_NOT_FOUND' })
  for (const act of ['POST', 'DELETE']) expect((await guest(`${act} /api/public/streams/${gone.id}`)).status).toBe(404)
  const listed = (await guest('GET /api/public/streams')).body.streams as { id: string }[]
  expect(listed.map(({ id }) => id)).not.toContain(gone.id)
  // With the key that was good before.
  await expect.poll(async () => (await video.status([gone.stream_id])).size, { timeout: 20_000 }).toBe(0)
  expect((await maker.does('rest', streams.create, {})).existing).toBeUndefined()
})

describe('the end of a livestream at what shows it', () => {
  const ended = async (act: (maker: Person, id: string, admin: Person) => Promise<unknown>) => {
    const [maker, admin] = [await person(server, `is shut ${crypto.randomUUID()}`), await person(server, 'root')]
    const { stream: shut } = await maker.does('rest', streams.create, {})
    video.publish(shut.stream_id)
    await expect
      .poll(async () => (await guest(`GET /api/public/streams/${shut.id}`)).body.stream)
      .toMatchObject({ status: 'live' })
    const end = vi.spyOn(video, 'endStream')
    await act(maker, shut.id, admin)
    return () => end.mock.calls.findLast(([id]) => id === shut.stream_id)?.[1]
  }
  afterEach(() => vi.restoreAllMocks())
  const end = (who: Person, id: string) => who.does('rest', streams.end, { id })
  const suspend = (by: Person, target: string) => by.does('rest', accounts.suspend, { userAddress: target, ban: true })

  test('is shown where its streamer has ended it', async () => {
    await expect.poll(await ended(end)).toBe(true)
  })

  test.each([
    ['it was deleted', (maker: Person, id: string) => maker.does('rest', streams.remove, { id })],
    [
      'it was ended and deleted',
      async (maker: Person, id: string) => {
        await end(maker, id)
        await maker.does('rest', streams.remove, { id })
      },
    ],
    ['a moderator has ended it', (_: Person, id: string, admin: Person) => end(admin, id)],
    [
      'a moderator has ended what its streamer had ended',
      async (maker: Person, id: string, admin: Person) => {
        await end(maker, id)
        await end(admin, id)
      },
    ],
    ['its streamer is suspended', (maker: Person, _: string, admin: Person) => suspend(admin, maker.account)],
    [
      'its streamer had ended it and is suspended',
      async (maker: Person, id: string, admin: Person) => {
        await end(maker, id)
        await suspend(admin, maker.account)
      },
    ],
  ])('is shown no more where %s', async (_, act) => {
    await expect.poll(await ended(act)).toBe(false)
  })
})

describe('somebody who is not signed in', () => {
  test('watches over a socket, and does nothing else there', async () => {
    const socket = connect(server.url, '/streams', null)
    const ask = (event: string, input: object) => socket.timeout(10_000).emitWithAck(event, input)
    expect(await ask('stream:watch', { stream_id: stream.id })).toMatchObject({ ok: true })
    for (const [event, input] of [
      ['stream:create', {}],
      ['stream:get', { id: stream.id }],
      ['stream:change', { id: stream.id, action: 'end' }],
      ['stream:end', { id: stream.id }],
      ['stream:remove', { id: stream.id }],
      ['stream:assets', { id: stream.id }],
    ] as const)
      expect(await ask(event, input), event).toMatchObject({ ok: false, error: { code: 'UNAUTHORIZED' } })
    socket.close()
  })

  test('opens no other namespace', async () => {
    for (const namespace of ['/rooms', '/agents', '/notifications', '/moderation']) {
      const socket = connect(server.url, namespace, null)
      const error = await new Promise<Error & { data?: object }>((resolve) => socket.once('connect_error', resolve))
      expect(error.data, namespace).toMatchObject({ code: 'UNAUTHORIZED' })
      socket.close()
    }
  })
})

describe('the chat of a stream', () => {
  const room = () => ({ type: 'stream' as const, id: stream.id })

  test.each(over)('is not moderated over %s by who is no moderator', async (door) => {
    await other.does('rest', streams.say, { id: stream.id, message: 'I am here' })
    for (const act of [
      { action: 'ban', target: owner.account },
      { action: 'rules', patch: { rules: { read_only: true } } },
    ])
      expect(await other.refused(door, moderation.act, { room: room(), ...act } as never)).toMatchObject({
        status: 403,
      })
  })

  test('takes nobody back who was banned, by joining or by writing, over any path', async () => {
    const banned = await person(server, `banned ${crypto.randomUUID()}`)
    await banned.does('rest', streams.say, { id: stream.id, message: 'hello' })
    await owner.does('socket', moderation.act, { room: room(), action: 'ban', target: banned.account } as never)
    expect(await banned.refused('rest', streams.say, { id: stream.id, message: 'again' })).toMatchObject({
      code: 'BANNED',
    })
    expect(await banned.refused('rest', rooms.join, { room: room() })).toMatchObject({ code: 'BANNED' })
    expect(await banned.refused('socket', messages.send, { room: room(), text: 'again' })).toMatchObject({
      code: 'BANNED',
    })
  })

  test('goes with its stream: who deletes it leaves a room that takes nothing', async () => {
    const late = await person(server, 'deletes theirs')
    const { stream: gone } = await late.does('rest', streams.create, {})
    await other.does('rest', streams.say, { id: gone.id, message: 'here' })
    await late.does('rest', streams.remove, { id: gone.id })
    const refused = () => other.tries('socket', messages.send, { room: { type: 'stream', id: gone.id }, text: 'x' })
    await expect.poll(async () => (await refused()).ok, { timeout: 15_000 }).toBe(false)
    expect(await other.refused('rest', streams.say, { id: gone.id, message: 'x' })).toMatchObject({ status: 404 })
  })
})
