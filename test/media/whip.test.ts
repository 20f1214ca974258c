import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { steadyClock } from '#server/media/clock'
import { type Engine, openEngine } from '#server/media/engine'
import { heavy } from '#test/support/heavy'
import { offerOf, publishWhip, type WhipClient, watchWhep } from './whip-client.ts'

let directory = ''
let engine: Engine
const told: string[] = []
const clients: WhipClient[] = []
/** What is done where a connection is not made in ten seconds. */
const late = new Set<() => void>()
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plaza-whip-'))
  engine = await openEngine({
    settings: {
      host: '0a0b0c0d',
      directory,
      httpPort: 0,
      rtmpHost: '127.0.0.1',
      rtmpPort: 0,
      partMs: 200,
      segmentMs: 500,
      graceMs: 30_000,
      peers: { announced: [], udpPorts: null, address: '127.0.0.1' },
      aac: true,
      mostIngests: 5,
      mostViewers: 24,
      memoryMb: 512,
    },
    expected: [],
    clock: {
      ...steadyClock,
      after(milliseconds, act) {
        if (milliseconds !== 10_000) return steadyClock.after(milliseconds, act)
        late.add(act)
        return () => void late.delete(act)
      },
    },
    wall: () => Date.now(),
    tell: (event) => told.push(event.type),
    changed() {},
  })
})
afterEach(async () => {
  for (const client of clients.splice(0)) await client.lose()
  told.length = 0
})
afterAll(async () => {
  await engine.close()
  await rm(directory, { recursive: true, force: true })
})

const url = (path: string) => `http://127.0.0.1:${engine.ports.http}${path}`
const create = async () =>
  (await engine.answer({ ask: 'createStream', stream: { record: false } })) as { streamKey: string; playbackId: string }
const publish = async (key: string) => {
  const client = await publishWhip(url(`/webrtc/${key}`))
  clients.push(client)
  return client
}

describe('publishing by WebRTC', () => {
  test('is live with the first picture, and is shown with its sound', heavy, async () => {
    const { streamKey, playbackId } = await create()
    const client = await publish(streamKey)
    expect(client.status).toBe(201)
    expect(client.location).not.toContain(streamKey)
    await expect.poll(() => told, { timeout: 30_000 }).toEqual(['ingest.started'])
    const playlist = () => fetch(url(`/hls/${playbackId}/index.m3u8`)).then((answer) => answer.text())
    await expect.poll(playlist, { timeout: 30_000 }).toMatch(/#EXTINF[\s\S]*#EXTINF/)
    const init = Buffer.from(await (await fetch(url(`/hls/${playbackId}/init1.mp4`))).arrayBuffer()).toString('latin1')
    expect([init.includes('avc1'), init.includes('mp4a')]).toEqual([true, true])
    expect((await fetch(url(client.location ?? ''), { method: 'DELETE' })).status).toBe(200)
    expect(told).toEqual(['ingest.started', 'ingest.stopped'])
  })

  test('a wrong key is refused', async () => {
    expect((await publish('wrong')).status).toBe(404)
  })
})

/** From the first packet on. */
async function watched(playbackId: string) {
  for (;;) {
    const viewer = await watchWhep(url(`/webrtc/${playbackId}`))
    if (viewer.status === 201) return viewer
    expect(viewer.status).toBe(406)
    await viewer.close()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

describe('watching by WebRTC', () => {
  test('what is published comes as it is, from a key frame on, until it ends', async () => {
    const { streamKey, playbackId } = await create()
    const publisher = await publish(streamKey)
    const viewer = await watched(playbackId)
    expect(viewer.location).not.toBe(publisher.location)
    await expect.poll(() => viewer.heard.audio.length, { timeout: 30_000 }).toBeGreaterThan(5)
    const types = () => viewer.heard.video.map(({ payload }) => payload.readUInt8() & 31)
    await expect.poll(types, { timeout: 30_000 }).toContain(24)
    expect(viewer.heard.audio[0]?.payload.toString('hex')).toBe('f8fffe')
    expect((await fetch(url(publisher.location ?? ''), { method: 'DELETE' })).status).toBe(200)
    expect((await watchWhep(url(`/webrtc/${playbackId}`))).status).toBe(406)
    expect((await fetch(url(viewer.location ?? ''), { method: 'DELETE' })).status).toBe(404)
    await viewer.close()
  })

  test('who takes another codec alone, and who names what nobody publishes, is refused', async () => {
    const { streamKey, playbackId } = await create()
    await publish(streamKey)
    const viewer = await watched(playbackId)
    expect((await watchWhep(url(`/webrtc/${playbackId}`), 'VP9')).status).toBe(406)
    expect((await watchWhep(url('/webrtc/nobody'))).status).toBe(404)
    await viewer.close()
  })

  test(
    'offers that are never connected keep nobody out: few of an address wait, and briefly; a full house says when to come again',
    heavy,
    async () => {
      const { streamKey, playbackId } = await create()
      await publish(streamKey)
      const viewer = await watched(playbackId)
      const offer = await offerOf(url(`/webrtc/${playbackId}`))
      const offers = (count: number, client: string) => Promise.all(Array.from({ length: count }, () => offer(client)))
      const statuses = (answers: readonly Response[]) => answers.map(({ status }) => status).sort()
      expect(statuses(await offers(25, 'one'))).toEqual([...Array(20).fill(201), ...Array(5).fill(429)])
      const [refused] = await offers(1, 'one')
      expect([refused?.status, refused?.headers.get('retry-after')]).toEqual([429, '10'])
      // Who is connected waits no more, so that the offers of one address that are connected may be more.
      const connected = await watchWhep(url(`/webrtc/${playbackId}`), 'H264', 'other')
      await expect.poll(() => connected.state(), { timeout: 30_000 }).toBe('connected')
      const [third] = await offers(2, 'third')
      expect(third?.status).toBe(201)
      const [full] = await offers(1, 'fourth')
      expect([full?.status, full?.headers.get('retry-after')]).toEqual([503, '10'])
      for (const giveUp of [...late]) giveUp()
      expect((await offer('one')).status).toBe(201)
      expect(connected.state()).toBe('connected')
      for (const one of [viewer, connected]) await one.close()
    },
  )

  test('who names a stream without a picture is refused otherwise than who names none', async () => {
    const { streamKey, playbackId } = await create()
    expect((await watchWhep(url(`/webrtc/${playbackId}`))).status).toBe(406)
    // Somebody who has asked to publish and sends nothing.
    const silent = await publishWhip(url(`/webrtc/${streamKey}`), { isSilent: true })
    clients.push(silent)
    expect(silent.status).toBe(201)
    expect((await watchWhep(url(`/webrtc/${playbackId}`))).status).toBe(406)
    const offer = await offerOf(url(`/webrtc/${playbackId}`))
    const playlist = await fetch(url(`/hls/${playbackId}/index.m3u8`))
    for (const refused of [await offer('one'), playlist])
      expect(refused.headers.get('x-media-refused')).toBe('not live')
  })
})
