import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { steadyClock } from '#server/media/clock'
import { type Engine, openEngine } from '#server/media/engine'
import { writeMessage } from '#server/media/rtmp-chunks'
import { closed } from '#test/support/closed'
import { changes, damaged } from './damage.ts'
import { pictures, tone } from './pictures.ts'
import { commandOf, mediaOf, opening, publishRtmp, type RtmpClient, tagOfVideo } from './rtmp-client.ts'
import { publishWhip, type WhipClient } from './whip-client.ts'

let directory = ''
let engine: Engine
let good: { client: RtmpClient; playbackId: string; streamId: string; stop(): void }
const told: string[] = []
const sockets: Socket[] = []
const browsers: WhipClient[] = []
const seconds = { timeout: 60_000 }

interface Created {
  streamId: string
  streamKey: string
  playbackId: string
}
const create = async () => (await engine.answer({ ask: 'createStream', stream: { record: false } })) as Created
const url = (path: string) => `http://127.0.0.1:${engine.ports.http}${path}`
const rtmpPort = () => engine.ports.rtmp ?? expect.fail()

/** Five pictures a second, as long as it is not stopped. */
async function publishForLong(key: string) {
  const client = await publishRtmp(rtmpPort(), key)
  expect(await client.answer).toBe('NetStream.Publish.Start')
  const { config, frames } = pictures(10, { fps: 5, keyEvery: 5 })
  client.configure({ video: config, audio: tone })
  let count = 0
  const timer = setInterval(() => {
    const frame = frames[count % frames.length]
    if (frame && client.socket.writable) client.video({ ...frame, time: count * 18_000 })
    count++
  }, 200)
  return { client, stop: () => clearInterval(timer) }
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plaza-hostile-media-'))
  engine = await openEngine({
    settings: {
      host: '0a0b0c0d',
      directory,
      httpPort: 0,
      rtmpHost: '127.0.0.1',
      rtmpPort: 0,
      partMs: 200,
      segmentMs: 1_000,
      graceMs: 60_000,
      peers: { announced: [], udpPorts: null, address: '127.0.0.1' },
      aac: false,
      mostIngests: 20,
      mostViewers: 300,
      memoryMb: 512,
    },
    expected: [],
    clock: steadyClock,
    wall: () => Date.now(),
    tell: (event) => void (event.type !== 'asset.updated' && told.push(`${event.type} ${event.streamId}`)),
    changed() {},
  })
  const { streamKey, playbackId, streamId } = await create()
  good = { ...(await publishForLong(streamKey)), playbackId, streamId }
  await vi.waitUntil(() => told.includes(`ingest.started ${streamId}`), seconds)
})
/** Whatever was done meanwhile: who published goes on, without a break, and has new pictures. */
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const browser of browsers.splice(0)) await browser.lose()
  const last = async () => {
    const text = await (await fetch(url(`/hls/${good.playbackId}/index.m3u8`))).text()
    return Number(/(\d+)\.m4s\n(?![\s\S]*\.m4s\n)/.exec(text)?.[1] ?? 0)
  }
  const before = await last()
  await vi.waitUntil(async () => (await last()) > before + 1, seconds)
  expect(good.client.socket.destroyed).toBe(false)
  expect(told.filter((event) => event.endsWith(good.streamId))).toEqual([`ingest.started ${good.streamId}`])
})
afterAll(async () => {
  good.stop()
  good.client.socket.destroy()
  await engine.close()
  await rm(directory, { recursive: true, force: true })
})

async function open(): Promise<Socket> {
  const socket = connect(rtmpPort(), '127.0.0.1')
  sockets.push(socket.on('error', () => undefined).resume())
  await once(socket, 'connect')
  return socket
}
const begun = (key: string) =>
  Buffer.concat([opening(), commandOf('connect', 1, {}), commandOf('publish', 2, null, key)])
const empty = (type: number) => writeMessage({ type, stream: 0, time: 0, body: Buffer.alloc(0) }, 3, 128)

/** An address opens so many connections a second. */
async function nextSecond() {
  const second = () => Math.floor(performance.now() / 1_000)
  const now = second()
  await vi.waitUntil(() => second() > now, { interval: 5, timeout: 10_000 })
}

describe('at the port of RTMP, beside a stream that is live,', () => {
  beforeEach(nextSecond)

  test('300 damaged sessions are heard or ended', async () => {
    const { config, frames } = pictures(3)
    const session = Buffer.concat([
      begun('no key'),
      mediaOf(9, 0, tagOfVideo({ key: true, offset: 0, data: config.description }, 0)),
      ...frames.map((frame, index) => mediaOf(9, index * 100, tagOfVideo(frame))),
    ])
    const given = fc.sample(changes, { numRuns: 300, seed: 7 }).map((list) => damaged(session, list))
    for (let from = 0; from < given.length; from += 50) {
      const some = await Promise.all(
        given.slice(from, from + 50).map(async (bytes) => {
          const socket = await open()
          socket.end(bytes)
          return socket
        }),
      )
      await Promise.all(some.map(closed))
    }
  })

  test('1,000 wrong keys are refused, or not even heard', async () => {
    const answers = new Set<string | null>()
    for (let round = 0; round < 20; round++) {
      const clients = await Promise.all(
        Array.from({ length: 50 }, (_, at) => publishRtmp(rtmpPort(), `0a0b0c0d-${round}-${at}`)),
      )
      for (const { answer } of clients) answers.add(await answer)
    }
    answers.delete(null)
    expect([...answers]).toEqual(['NetStream.Publish.BadName'])
  })

  test('who publishes nothing may send little', async () => {
    const socket = await open()
    const more = commandOf('connect', 1, { text: 'x'.repeat(900) })
    socket.write(Buffer.concat([opening(), ...Array.from({ length: 2_000 }, () => more)]))
    // Before it would be ended for having published nothing for long.
    await expect.poll(() => socket.destroyed, { timeout: 8_000 }).toBe(true)
  })

  test.each([
    ['a million messages of nothing', Buffer.concat([empty(9), Buffer.alloc(1_000_000, 0xc3)])],
    ['commands by the thousand', Buffer.concat(Array.from({ length: 20_000 }, () => commandOf('x')))],
    ['chunks of one byte', writeMessage({ type: 1, stream: 0, time: 0, body: Buffer.from([0, 0, 0, 1]) }, 2, 128)],
  ])('%s end who publishes them', async (_what, bytes) => {
    const { streamKey } = await create()
    const socket = await open()
    socket.write(Buffer.concat([begun(streamKey), bytes]))
    await expect.poll(() => socket.destroyed, { timeout: 8_000 }).toBe(true)
  })

  test('who does nothing keeps nobody out', async () => {
    for (let count = 0; count < 250; count++) await open()
    await nextSecond()
    const { streamKey, streamId } = await create()
    const other = await publishForLong(streamKey)
    await expect.poll(() => told, seconds).toContain(`ingest.started ${streamId}`)
    other.stop()
    await other.client.unpublish()
  })
})

const offer = [
  ...['v=0', 'o=- 1 2 IN IP4 127.0.0.1', 's=-', 't=0 0', 'a=group:BUNDLE 0', 'a=msid-semantic:WMS *'],
  ...['m=video 9 UDP/TLS/RTP/SAVPF 96', 'c=IN IP4 0.0.0.0', 'a=mid:0', 'a=sendonly', 'a=rtcp-mux'],
  ...['a=ice-ufrag:abcd', 'a=ice-pwd:0123456789012345678901', 'a=setup:actpass'],
  `a=fingerprint:sha-256 ${Array.from({ length: 32 }, () => 'AB').join(':')}`,
  ...['a=rtpmap:96 H264/90000', 'a=fmtp:96 packetization-mode=1;profile-level-id=42e01f', 'a=ssrc:1 cname:x'],
]

describe('by WHIP, beside a stream that is live,', () => {
  const post = (name: string, body: string, type = 'application/sdp') =>
    fetch(url(`/webrtc/${name}`), { method: 'POST', body, headers: { 'content-type': type } })

  test('damaged offers are refused, whoever makes them, and a good one is taken afterwards', async () => {
    const { streamKey, streamId } = await create()
    const withCandidate = [...offer, 'a=candidate:1 1 udp 2113937151 127.0.0.1 50000 typ host'].join('\r\n')
    const statuses = new Set<number>()
    const lists = fc.sample(changes, { numRuns: 300, seed: 8 })
    for (const [index, list] of lists.entries()) {
      // Few have the key, as each that has it takes the place of the one before.
      const name = index % 10 === 0 ? streamKey : 'nobody'
      const { status } = await post(name, damaged(Buffer.from(withCandidate), list).toString('latin1'))
      statuses.add(status)
    }
    expect([...statuses].filter((status) => ![201, 400, 404, 406].includes(status))).toEqual([])
    expect(statuses.size).toBeGreaterThan(1)
    const browser = await publishWhip(url(`/webrtc/${streamKey}`))
    browsers.push(browser)
    expect(browser.status).toBe(201)
    await expect.poll(() => told, seconds).toContain(`ingest.started ${streamId}`)
  })

  test('an offer has nobody called, neither here nor at another address', async () => {
    const { streamKey } = await create()
    const heard: string[] = []
    const tcp = createServer((socket) => {
      heard.push('tcp')
      socket.destroy()
    })
    const udp = createSocket('udp4', () => heard.push('udp'))
    await once(tcp.listen(0, '127.0.0.1'), 'listening')
    udp.bind(0, '127.0.0.1')
    await once(udp, 'listening')
    const { port } = tcp.address() as AddressInfo
    const calling = [
      `a=candidate:1 1 tcp 2105458943 127.0.0.1 ${port} typ host tcptype passive`,
      `a=candidate:2 1 udp 2130706431 127.0.0.1 ${udp.address().port} typ host`,
    ]
    expect((await post(streamKey, [...offer, ...calling, ''].join('\r\n'))).status).toBe(201)
    // Whoever publishes next is called by the same process, and only after those whom this offer names.
    const { streamKey: other, streamId } = await create()
    browsers.push(await publishWhip(url(`/webrtc/${other}`)))
    await expect.poll(() => told, seconds).toContain(`ingest.started ${streamId}`)
    expect(heard).toEqual([])
    tcp.close()
    udp.close()
  })

  test('what is no offer, or too large, is refused', async () => {
    const { streamKey } = await create()
    expect((await post(streamKey, 'x', 'text/plain')).status).toBe(415)
    expect((await post(streamKey, 'x'.repeat(110_000))).status).toBe(413)
    expect((await post(streamKey, '')).status).toBe(400)
  })
})
