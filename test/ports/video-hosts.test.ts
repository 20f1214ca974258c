import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type FakeVideo, fakeVideo } from '#server/ports/video/fake'
import { hostedVideo } from '#server/ports/video/hosts'
import type { HeldStream, MediaHost, MediaHosts, MediaOrigin, Video, VideoEvent } from '#server/ports/video/port'

type Hosted = Awaited<ReturnType<typeof hostedVideo>>

/** What is kept in the database elsewhere. */
function inMemory() {
  const told = new Map<string, MediaHost>()
  const streams = new Map<string, HeldStream & { isMoved: boolean }>()
  const hosts: MediaHosts = {
    tell: async (host) => void told.set(host.id, host),
    live: async () => [...told.values()],
    forget: async ({ id }) => void told.delete(id),
    keep: async (stream) => void streams.set(stream.streamId, { ...stream, isMoved: false }),
    moved: async () => [...streams.values()].filter(({ isMoved }) => isMoved),
    find: async (name, digest) =>
      [...streams.values()].find(
        (one) => one.isOpen && (one.streamId === name || one.playbackId === name || one.digest === digest),
      ) ?? null,
    async move(streamId, from, to) {
      const stream = streams.get(streamId)
      if (stream?.isOpen && stream.host === from) streams.set(streamId, { ...stream, host: to, isMoved: true })
    },
    async end(streamId) {
      const stream = streams.get(streamId)
      if (stream) streams.set(streamId, { ...stream, isOpen: false })
    },
  }
  return { told, hosts }
}
const { told, hosts } = inMemory()
const secrets = [Buffer.alloc(32, 1)]
const soon = { timeout: 20_000 }
let ahead = 0
const now = () => Date.UTC(2040, 0, 1) + ahead
const idOf = { one: '0a0a0a0a', other: '0b0b0b0b' }

/** What engines show. */
const usualShow = async (asked: IncomingMessage, response: ServerResponse) => {
  const { method, url, headers } = asked
  response.writeHead(207, { 'x-shown': 'yes' }).end(JSON.stringify({ method, url, headers, body: await text(asked) }))
}
let show: typeof usualShow = usualShow
const shows = createServer((asked, response) => void show(asked, response))

/** By which the engine of a host says something to who began to listen last. */
const says = new Map<string, (event: VideoEvent) => void>()

/** An engine whose ids begin with those of its host. */
function engineOf(host: string): FakeVideo {
  const fake = fakeVideo()
  const named = async (stream: Parameters<Video['createStream']>[0]) => {
    const created = await fake.createStream(stream)
    return { ...created, playbackId: `${host}-${created.playbackId}`, streamKey: `${host}-${created.streamKey}` }
  }
  const inner = (id: string) => id.slice(9)
  const video: FakeVideo = {
    ...fake,
    get away() {
      return fake.away
    },
    set away(away) {
      fake.away = away
    },
    createStream: async (stream) => {
      const created = await named(stream)
      return { ...created, streamId: `${host}-${created.streamId}` }
    },
    status: async (ids) => new Map([...(await fake.status(ids.map(inner)))].map(([id, one]) => [`${host}-${id}`, one])),
    endStream: (id, isShown) => fake.endStream(inner(id), isShown),
    deleteStream: (id) => fake.deleteStream(inner(id)),
    assets: (id) => fake.assets(inner(id)),
    publish: (id) => fake.publish(inner(id)),
    subscribe(hear) {
      says.set(host, hear)
      return fake.subscribe(hear)
    },
    tellAsset: (asset) => fake.tellAsset({ ...asset, streamId: inner(asset.streamId) }),
    originOf: async () => ({ host: '127.0.0.1', port: (shows.address() as AddressInfo).port, headers: {} }),
  }
  return video
}

const adopted = vi.fn(async (_stream: HeldStream) => undefined)
const engines = { one: engineOf(idOf.one), other: engineOf(idOf.other) }
const nodes: Record<'one' | 'other' | 'without', Hosted> = {} as never

const named = new URL('http://127.0.0.1:0')
const open = (
  name: 'one' | 'other' | null,
  {
    keys = secrets,
    nodeUrl = named,
    otherwiseAt = null,
    home = name ? idOf[name] : '0d0d0d0d',
    among = hosts,
  }: {
    keys?: readonly Uint8Array[]
    nodeUrl?: URL | null
    otherwiseAt?: string | null
    home?: string
    among?: MediaHosts
  } = {},
) =>
  hostedVideo({
    home,
    openLocal: async () =>
      name && {
        id: idOf[name],
        rtmpUrl: `rtmp://${name}.test`,
        video: engines[name],
        adopt: adopted,
        close: async () => undefined,
      },
    hosts: among,
    nodeUrl,
    otherwiseAt,
    secrets: keys,
    now,
    addresses: fakeVideo().addresses,
  })

beforeAll(async () => {
  shows.listen(0, '127.0.0.1')
  await once(shows, 'listening')
  nodes.one = await open('one')
  nodes.other = await open('other')
  nodes.without = await open(null)
  await vi.waitUntil(
    async () => (await reached(nodes.one, idOf.other)) && (await reached(nodes.without, idOf.other)) && told.size === 2,
    soon,
  )
})
afterAll(async () => {
  for (const node of Object.values(nodes)) await node.close()
  shows.close()
  shows.closeAllConnections()
})

/** Where a node passes on what it is asked of a recording of a host. */
async function reached(node: Video, host: string): Promise<MediaOrigin | null> {
  const origin = await node.originOf?.(`${host}-a`, { method: 'GET', path: recordingAt(host) })
  return origin && 'port' in origin ? origin : null
}
const recordingAt = (host: string) => `/recordings/${host}-a.mp4`

/** As the server answers, or passes a request on. */
async function shown(node: Video, path: string, method = 'GET', body = '', headers: Record<string, string> = {}) {
  const origin = await node.originOf?.(path.split('/')[2] ?? '', { method, path })
  if (!origin) return { status: null, answer: null }
  if ('body' in origin) return { status: origin.status, answer: origin.body.toString() }
  const { host, port } = origin
  const sent = request({ host, port, path, method, headers: { ...origin.headers, ...headers } }).end(body)
  const [reply] = await once(sent, 'response')
  const said = await text(reply)
  return { status: reply.statusCode as number, answer: said === '' ? null : JSON.parse(said) }
}

describe('livestreams of several nodes', () => {
  test('every node says of a stream what its own says, whichever that is', async () => {
    const stream = await nodes.one.createStream({ name: 'test', record: false })
    expect(stream.streamId).toMatch(/^0a0a0a0a-/)
    const idle = new Map([[stream.streamId, { state: 'idle', lastSeen: null }]])
    for (const node of Object.values(nodes)) expect(await node.status([stream.streamId, 'unknown'])).toEqual(idle)
    engines.one.publish(stream.streamId)
    const [at] = (await nodes.one.status([stream.streamId])).values()
    expect([...(await nodes.without.status([stream.streamId])).values()]).toEqual([at])
    expect(at).toMatchObject({ state: 'live', lastSeen: expect.any(Date) })
    await nodes.other.endStream(stream.streamId)
    for (const node of Object.values(nodes))
      expect(await node.status([stream.streamId])).toMatchObject(
        new Map([[stream.streamId, { state: 'idle', lastSeen: at?.lastSeen }]]),
      )
    await nodes.without.deleteStream(stream.streamId)
    for (const node of Object.values(nodes)) expect(await node.status([stream.streamId])).toEqual(new Map())
  })

  test('recordings are told with their times', async () => {
    const { streamId } = await nodes.other.createStream({ name: 'test', record: true })
    const none = { error: null, playbackId: null, playbackUrl: null, downloadUrl: null }
    const asset = { assetId: 'a', streamId, phase: 'ready', progress: 1, durationSeconds: 1.5, sizeBytes: 9 } as const
    engines.other.tellAsset({ ...asset, ...none, startedAt: new Date('2040-01-01T00:00:00Z') })
    const own = await nodes.other.assets(streamId)
    expect(own[0]?.startedAt).toEqual(new Date('2040-01-01T00:00:00Z'))
    expect(await nodes.one.assets(streamId)).toEqual(own)
  })

  test('a node without an engine makes streams on one that has', async () => {
    const { streamId, streamKey } = await nodes.without.createStream({ name: 'test', record: false })
    expect(streamId).toMatch(/^0[ab]{1}0[ab]/)
    const name = streamKey.startsWith(idOf.one) ? 'one' : 'other'
    for (const node of Object.values(nodes))
      expect(node.addresses.rtmp(streamKey)).toBe(`rtmp://${name}.test/live/${streamKey}`)
  })

  test('media is asked of the node that has it, both ways, with what it was asked with', async () => {
    const { status, answer } = await shown(nodes.without, `/webrtc/${idOf.other}-key?a=b`, 'POST', 'v=0', {
      range: 'bytes=0-1',
    })
    expect(status).toBe(207)
    expect(answer).toMatchObject({
      method: 'POST',
      url: `/webrtc/${idOf.other}-key?a=b`,
      body: 'v=0',
      headers: { range: 'bytes=0-1' },
    })
    expect(answer.headers.authorization).toBeUndefined()
    expect(await shown(nodes.without, '/hls/0c0c0c0c-unknown/index.m3u8')).toMatchObject({ status: 404 })
    await expect(shown(nodes.without, '/webrtc/0c0c0c0c-unknown', 'POST')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await shown(nodes.without, '/recordings/0c0c0c0c-unknown.mp4')).status).toBeNull()
  })

  test('a node is asked by nodes of its installation alone, for what they signed, for a short time', async () => {
    const stranger = await open(null, { keys: [Buffer.alloc(32, 2)] })
    const path = recordingAt(idOf.one)
    expect((await shown(stranger, path)).status).toBe(403)
    await expect(shown(stranger, `/hls/${idOf.one}-a/index.m3u8`)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    })
    await expect(stranger.createStream({ name: 'test', record: false })).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    })
    await stranger.close()

    const { headers } = (await reached(nodes.without, idOf.one)) ?? { headers: {} }
    const asked = (at: string, method = 'GET') => shown(nodes.without, at, method, '', headers)
    expect((await asked(path)).status).toBe(207)
    expect((await asked(path.replace('-a', '-b'))).status).toBe(403)
    expect((await asked(`${path}?a=b`)).status).toBe(403)
    expect((await asked(path, 'POST')).status).toBe(403)
    ahead = 31_000
    expect((await asked(path)).status).toBe(403)
    expect((await shown(nodes.without, path)).status).toBe(207)
    expect((await shown(nodes.without, path, 'GET', '', { authorization: '' })).status).toBe(403)
    const ofOther = (await reached(nodes.without, idOf.other))?.headers ?? {}
    expect((await shown(nodes.without, path, 'GET', '', ofOther)).status).toBe(403)
  })

  test('what a node asks of another is signed with its body; nodes of the version before sign none, and are asked so', async () => {
    const sent: { headers: Record<string, string>; body: string }[] = []
    const listens = createServer(async (asked, response) => {
      sent.push({ headers: { authorization: asked.headers.authorization ?? '' }, body: await text(asked) })
      response.writeHead(200).end('null')
    })
    listens.listen(0, '127.0.0.1')
    await once(listens, 'listening')
    const url = told.get(idOf.one)?.url ?? expect.fail()
    const say = async (body: string, headers: Record<string, string>) =>
      (await fetch(`${url}/ask`, { method: 'POST', headers, body })).status
    const ended = vi.spyOn(engines.one, 'endStream')
    for (const signsBodies of [true, false]) {
      // As the node would be asked, heard by somebody in between.
      const between = `http://127.0.0.1:${(listens.address() as AddressInfo).port}`
      const { hosts: among } = inMemory()
      await among.tell({ id: idOf.one, url: between, isNamed: true, rtmpUrl: '', signsBodies })
      const asks = await open(null, { among })
      await vi.waitUntil(
        () =>
          asks.endStream(`${idOf.one}-mine`).then(
            () => true,
            () => false,
          ),
        soon,
      )
      await asks.close()
    }
    const [whole = expect.fail(), bare = expect.fail()] = sent
    expect(JSON.parse(whole.body)).toMatchObject({ ask: 'endStream', streamId: `${idOf.one}-mine` })
    const other = JSON.stringify({ ask: 'deleteStream', streamId: `${idOf.one}-other` })
    expect(await say(other, whole.headers)).toBe(403)
    expect(await say(`${whole.body} `, whole.headers)).toBe(403)
    expect(await say(whole.body, { authorization: `${whole.headers.authorization?.slice(0, -1)}!` })).toBe(403)
    expect(ended).not.toHaveBeenCalled()
    expect(await say(whole.body, whole.headers)).toBe(200)
    expect(await say(bare.body, bare.headers)).toBe(200)
    expect(ended).toHaveBeenCalledTimes(2)
    ahead += 31_000
    expect(await say(whole.body, whole.headers)).toBe(403)
    ended.mockRestore()
    listens.close()
  })

  test('what is signed has neither a key of a stream nor one of the installation in it', async () => {
    const path = `/webrtc/${idOf.one}-secret`
    const origin = await nodes.without.originOf?.(`${idOf.one}-secret`, { method: 'POST', path })
    expect(origin && 'port' in origin && Object.keys(origin.headers)).toEqual(['authorization'])
    expect(JSON.stringify(origin)).not.toMatch(/secret|AQEBAQ/)
  })

  test('playlists, parts and segments are asked for once, whoever waits for them', async () => {
    const asked: string[] = []
    let goOn: () => void = () => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    show = async ({ url = '' }, response) => {
      asked.push(url)
      if (url.includes('_HLS_msn=8')) await held
      const kind = url.endsWith('.m4s') ? 'public, max-age=300, immutable' : 'no-cache'
      response.writeHead(url.includes('none') ? 404 : 200, {
        'cache-control': kind,
        'access-control-allow-origin': '*',
      })
      response.end(`shown at ${url}`)
    }
    const at = (file: string) => `/hls/${idOf.one}-crowd/${file}`
    const get = (file: string, method = 'GET') => shown(nodes.without, at(file), method)

    const waiting = Array.from({ length: 2_000 }, (_, one) => get(`index.m3u8?_HLS_msn=8&_HLS_part=1&viewer=${one}`))
    waiting.push(get('index.m3u8?_HLS_part=01&_HLS_msn=08'), get('index.m3u8?_HLS_msn=8&_HLS_part=1', 'HEAD'))
    const next = get('index.m3u8?_HLS_msn=8&_HLS_part=2')
    await vi.waitUntil(() => asked.length === 2)
    goOn()
    const answer = `shown at ${at('index.m3u8?_HLS_msn=8&_HLS_part=1')}`
    for (const one of await Promise.all(waiting)) expect(one).toEqual({ status: 200, answer })
    expect((await next).answer).toContain('_HLS_part=2')
    expect(asked.splice(0)).toEqual([at('index.m3u8?_HLS_msn=8&_HLS_part=1'), at('index.m3u8?_HLS_msn=8&_HLS_part=2')])

    await Promise.all(Array.from({ length: 2_000 }, (_, one) => get(`8.1.m4s?${one}`)))
    await Promise.all(['8.1.m4s', '8.m4s', 'init1.mp4', 'none.m4s', 'none.m4s'].map((file) => get(file)))
    expect((await get('8.1.m4s', 'HEAD')).status).toBe(200)
    expect((await get('none.m4s')).status).toBe(404)
    expect(asked).toEqual(['8.1.m4s', '8.m4s', 'init1.mp4', 'none.m4s'].map(at))
    show = usualShow
  })

  test('who waits for a node that does not answer is refused as soon as it is known to be away', async () => {
    const { told, hosts: among } = inMemory()
    const silent = createServer(() => {})
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    await among.tell({ id: '0c0c0c0c', url, isNamed: true, rtmpUrl: '', signsBodies: true })
    const node = await open(null, { among })
    const waits = shown(node, '/hls/0c0c0c0c-a/index.m3u8')
    await once(silent, 'request')
    told.clear()
    await expect(waits).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await shown(node, '/recordings/0c0c0c0c-a.mp4')).toEqual({ status: null, answer: null })
    await node.close()
    silent.closeAllConnections()
    silent.close()
  })

  test('without NODE_URL a node is one of a single machine, and says what it lacks where there are others', async () => {
    const { hosts: among } = inMemory()
    const single = await open('one', { nodeUrl: null, among })
    const beside = await open(null, { nodeUrl: null, among, home: idOf.one })
    expect([single.lacks(), beside.lacks()]).toEqual([null, null])
    expect(await reached(beside, idOf.one)).toMatchObject({ host: '127.0.0.1' })

    const named = await open('other', { among })
    await vi.waitUntil(() => single.lacks() !== null && beside.lacks() !== null, soon)
    expect(single.lacks()).toMatch(/NODE_URL/)
    expect(named.lacks()).toBeNull()
    expect([await reached(single, idOf.other), await reached(named, idOf.one)]).toEqual([expect.anything(), null])
    for (const node of [single, beside, named]) await node.close()
  })

  test('an address that is none of this machine is said to be none, but in a container, which has others', async () => {
    const nodeUrl = new URL('http://192.0.2.1:0')
    const heard: MediaHost[] = []
    const among = { ...hosts, tell: async (host: MediaHost) => void heard.push(host) }
    const node = await open('one', { nodeUrl, among })
    expect(node.lacks()).toMatch(/NODE_URL .*EADDRNOTAVAIL/)
    expect(heard).toEqual([])
    await node.close()
    const inside = await open('one', { nodeUrl, among, otherwiseAt: '0.0.0.0' })
    expect(inside.lacks()).toBeNull()
    expect(heard[0]?.url).toMatch(/^http:\/\/192\.0\.2\.1:[1-9]\d*$/)
    await inside.close()
  })

  test('whoever comes back with the key of a stream whose node is away goes on where they ask', async () => {
    const { told, hosts: among } = inMemory()
    const here = await open('other', { among })
    const beside = await open(null, { among })
    const lost: MediaHost = {
      id: idOf.one,
      url: 'http://127.0.0.1:1',
      isNamed: true,
      rtmpUrl: 'rtmp://lost.test',
      signsBodies: true,
    }
    const [streamId, playbackId, key] = ['stream', 'playback', 'key'].map((name) => `${idOf.one}-${name}`)
    if (!streamId || !playbackId || !key) throw new Error('There are three')
    const digest = createHash('sha256').update(key).digest('hex')
    await among.keep({ streamId, playbackId, digest, record: true, host: idOf.one, isOpen: true })
    await among.tell(lost)
    await vi.waitUntil(async () => (await reached(here, idOf.one)) && (await reached(beside, idOf.other)), soon)
    const offer = (node: Video, name = key) => shown(node, `/webrtc/${name}`, 'POST', 'v=0')
    await expect(offer(here)).rejects.toThrow('ECONNREFUSED')
    told.delete(idOf.one)
    const list = `/hls/${playbackId}/index.m3u8`
    await vi.waitUntil(async () => (await reached(here, idOf.one)) === null, soon)
    await expect(shown(here, list)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect((await shown(here, `/webrtc/${playbackId}`, 'POST')).status).toBeNull()
    await expect(offer(here, `${key}x`)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(adopted).not.toHaveBeenCalled()

    // By a node without an engine, which passes it on to one that has.
    await vi.waitUntil(async () => (await reached(beside, idOf.one)) === null, soon)
    expect((await offer(beside)).answer).toMatchObject({ url: `/webrtc/${key}`, method: 'POST' })
    expect(adopted.mock.calls.map(([{ streamId: id, host }]) => [id, host])).toEqual([[streamId, idOf.other]])
    for (const node of [here, beside]) {
      expect((await offer(node)).answer).toMatchObject({ url: `/webrtc/${key}` })
      await vi.waitUntil(() => node.addresses.rtmp(key).startsWith('rtmp://other.test'), soon)
      expect((await shown(node, list)).status).toBe(207)
    }
    expect(adopted).toHaveBeenCalledTimes(1)

    // The node that was away comes back: what it says of that stream holds no more, and it is ended there.
    const ended = vi.spyOn(engines.one, 'endStream')
    const back = await open('one', { among })
    expect((await offer(back)).answer).toMatchObject({ url: `/webrtc/${key}` })
    const heard: VideoEvent[] = []
    back.subscribe((event) => heard.push(event))
    const own: VideoEvent = { type: 'ingest.interrupted', streamId: `${idOf.one}-own` }
    for (const event of [{ ...own, streamId }, own]) says.get(idOf.one)?.(event)
    expect(heard).toEqual([own])
    await vi.waitUntil(() => ended.mock.calls.length > 0, soon)
    expect(ended).toHaveBeenCalledWith(streamId)
    await here.endStream(streamId)
    expect(await among.find(key, digest)).toBeNull()
    for (const node of [back, here, beside]) await node.close()
    ended.mockRestore()
  })

  test('where the node of a stream is away, what is asked of it is refused, and of others it is not', async () => {
    const [there, away] = [
      await nodes.one.createStream({ name: 'test', record: false }),
      await nodes.other.createStream({ name: 'test', record: false }),
    ]
    engines.other.away = true
    const both = [there.streamId, away.streamId]
    for (const node of [nodes.one, nodes.without])
      expect([...(await node.status(both)).keys()]).toEqual([there.streamId])
    await expect(nodes.one.endStream(away.streamId)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    await nodes.other.close()
    await vi.waitUntil(async () => (await reached(nodes.one, idOf.other)) === null, soon)
    expect([...(await nodes.one.status(both)).keys()]).toEqual([there.streamId])
    await expect(nodes.one.assets(away.streamId)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})
