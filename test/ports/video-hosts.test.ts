import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type FakeVideo, fakeVideo } from '#server/ports/video/fake'
import { hostedVideo } from '#server/ports/video/hosts'
import type { MediaHost, MediaHosts, Video } from '#server/ports/video/port'

type Hosted = Awaited<ReturnType<typeof hostedVideo>>

const told = new Map<string, MediaHost>()
const hosts: MediaHosts = {
  tell: async (host) => void told.set(host.id, host),
  live: async () => [...told.values()],
  forget: async ({ id }) => void told.delete(id),
}
const secrets = [Buffer.alloc(32, 1)]
let ahead = 0
const now = () => Date.UTC(2040, 0, 1) + ahead
const idOf = { one: '0a0a0a0a', other: '0b0b0b0b' }

/** An engine whose ids begin with those of its host, and what it shows. */
const shows = createServer(async (asked, response) => {
  const { method, url, headers } = asked
  response.writeHead(207, { 'x-shown': 'yes' }).end(JSON.stringify({ method, url, headers, body: await text(asked) }))
})
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
    endStream: (id) => fake.endStream(inner(id)),
    deleteStream: (id) => fake.deleteStream(inner(id)),
    assets: (id) => fake.assets(inner(id)),
    publish: (id) => fake.publish(inner(id)),
    tellAsset: (asset) => fake.tellAsset({ ...asset, streamId: inner(asset.streamId) }),
    originOf: () => ({ host: '127.0.0.1', port: (shows.address() as AddressInfo).port, headers: {} }),
  }
  return video
}

const engines = { one: engineOf(idOf.one), other: engineOf(idOf.other) }
const nodes: Record<'one' | 'other' | 'without', Hosted> = {} as never

const open = (name: 'one' | 'other' | null, keys: readonly Uint8Array[] = secrets) =>
  hostedVideo({
    openLocal: async () =>
      name && { id: idOf[name], rtmpUrl: `rtmp://${name}.test`, video: engines[name], close: async () => undefined },
    hosts,
    at: '127.0.0.1',
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
    () => nodes.one.originOf?.(`${idOf.other}-a`) && nodes.without.originOf?.(`${idOf.other}-a`) && told.size === 2,
    { timeout: 20_000 },
  )
})
afterAll(async () => {
  for (const node of Object.values(nodes)) await node.close()
  shows.close()
  shows.closeAllConnections()
})

/** As the server passes a request on. */
async function shown(node: Video, path: string, method = 'GET', body = '', headers: Record<string, string> = {}) {
  const origin = node.originOf?.(path.split('/')[2] ?? '')
  if (!origin) return { status: null, answer: null }
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
    expect((await shown(nodes.without, '/hls/0c0c0c0c-unknown/index.m3u8')).status).toBeNull()
  })

  test('a node is asked by nodes of its installation alone, for a short time', async () => {
    const stranger = await open(null, [Buffer.alloc(32, 2)])
    await vi.waitUntil(() => stranger.originOf?.(`${idOf.one}-a`), { timeout: 20_000 })
    const path = `/hls/${idOf.one}-a/index.m3u8`
    expect((await shown(stranger, path)).status).toBe(403)
    await expect(stranger.createStream({ name: 'test', record: false })).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    })
    await stranger.close()

    const { headers } = nodes.without.originOf?.(`${idOf.one}-a`) ?? { headers: {} }
    expect((await shown(nodes.without, path, 'GET', '', headers)).status).toBe(207)
    ahead = 31_000
    expect((await shown(nodes.without, path, 'GET', '', headers)).status).toBe(403)
    expect((await shown(nodes.without, path)).status).toBe(207)
    expect((await shown(nodes.without, path, 'GET', '', { authorization: '' })).status).toBe(403)
    const ofOther = nodes.without.originOf?.(`${idOf.other}-a`)?.headers ?? {}
    expect((await shown(nodes.without, path, 'GET', '', ofOther)).status).toBe(403)
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
    await vi.waitUntil(() => nodes.one.originOf?.(away.playbackId) === null, { timeout: 20_000 })
    expect([...(await nodes.one.status(both)).keys()]).toEqual([there.streamId])
    await expect(nodes.one.assets(away.streamId)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
  })
})
