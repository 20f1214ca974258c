import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mediaServer } from '#server/media/http'
import { createLive } from '#server/media/live'
import { fakeClock } from './fake-clock.ts'
import { begun, pictures } from './pictures.ts'

const first = begun / 1000
const live = createLive({ partMs: 330, segmentMs: 1000, clock: fakeClock(), wall: () => begun })
const ingest = live.begin()
const { config, frames } = pictures(30)
let folder = ''
let base = ''
const server = mediaServer({
  live: (playbackId) => (playbackId === 'seen' ? live : null),
  isPlayback: (name) => ['seen', 'idle'].includes(name),
  recording: (assetId) => (assetId === 'kept' ? join(folder, 'kept.mp4') : null),
  webrtc: {
    refusalOf(name) {
      if (name === 'idle') return 'not live'
      return name === 'key' ? null : 404
    },
    connect(name) {
      return name === 'key' ? Promise.resolve({ answer: 'v=0', session: 'session' }) : 404
    },
    end: (session) => session === 'session',
  },
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-media-'))
  await writeFile(join(folder, 'kept.mp4'), '0123456789')
  ingest.configure({ video: config })
  for (const frame of frames.slice(0, 25)) ingest.video(frame)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await rm(folder, { recursive: true })
})

const ask = (path: string, init?: RequestInit) => fetch(base + path, init)

describe('a livestream over HTTP', () => {
  test('its playlist, for pages of everybody, and not kept', async () => {
    const answer = await ask('/hls/seen/index.m3u8')
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/vnd.apple.mpegurl',
      'cache-control': 'no-cache',
      'access-control-allow-origin': '*',
    })
    expect(await answer.text()).toContain(`#EXT-X-MEDIA-SEQUENCE:${first}`)
  })

  test('what the playlist names, which may be kept', async () => {
    const text = await (await ask('/hls/seen/index.m3u8')).text()
    const names = [...text.matchAll(/URI="([^"]+)"|^(\d+\.m4s)$/gm)]
      .map(([, uri, name]) => uri ?? name ?? '')
      .slice(0, -1)
    expect(names.length).toBeGreaterThan(9)
    for (const name of names) {
      const answer = await ask(`/hls/seen/${name}`)
      expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
        200,
        'video/mp4',
        'public, max-age=300, immutable',
      ])
      expect((await answer.arrayBuffer()).byteLength).toBe(Number(answer.headers.get('content-length')))
    }
  })

  test('HEAD has no body, OPTIONS allows reading, other methods are refused', async () => {
    const head = await ask('/hls/seen/index.m3u8', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    const options = await ask('/hls/seen/index.m3u8', { method: 'OPTIONS' })
    expect([options.status, options.headers.get('access-control-allow-methods')]).toEqual([204, 'GET, HEAD, OPTIONS'])
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const refused = await ask('/hls/seen/index.m3u8', { method })
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    }
  })

  test('a reload is answered when the part is there', async () => {
    const waiting = ask(`/hls/seen/index.m3u8?_HLS_msn=${first + 2}&_HLS_part=1`)
    await ask('/hls/seen/init1.mp4')
    for (const frame of frames.slice(25)) ingest.video(frame)
    expect(await (await waiting).text()).toContain(`"${first + 2}.1.m4s"`)
  })

  test.each([
    ['/hls/seen/index.m3u8?_HLS_msn=x', 400],
    ['/hls/seen/index.m3u8?_HLS_part=1', 400],
    [`/hls/seen/index.m3u8?_HLS_msn=${first + 99}`, 400],
    ['/hls/seen/1.m4s', 404],
    ['/hls/seen/..%2f..%2fkept.mp4', 404],
    ['/hls/other/index.m3u8', 404],
    ['/hls/seen/', 404],
    ['/recordings/other.mp4', 404],
    ['/recordings/..%2fkept.mp4', 404],
    ['/', 404],
  ])('%s is answered %i', async (path, status) => expect((await ask(path)).status).toBe(status))

  test.each([
    ['/hls/idle/index.m3u8', 'not live'],
    ['/hls/idle/1.m4s', 'not live'],
    ['/hls/other/index.m3u8', null],
    ['/hls/seen/1.m4s', null],
  ])('O68: %s is not there, as it is %s', async (path, why) => {
    const answer = await ask(path)
    expect([answer.status, answer.headers.get('x-media-refused')]).toEqual([404, why])
  })
})

describe('WebRTC over HTTP', () => {
  const offer = 'v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1\r\n'
  const post = (path: string, body = offer, type = 'application/sdp') =>
    ask(path, { method: 'POST', body, headers: { 'content-type': type } })

  test('an offer is answered, with where it is ended', async () => {
    const answer = await post('/webrtc/key?region=local')
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      201,
      'application/sdp',
      'v=0',
    ])
    expect(answer.headers.get('location')).toBe('/webrtc/session')
    expect(answer.headers.get('access-control-expose-headers')).toContain('Location')
    expect((await ask('/webrtc/session', { method: 'DELETE' })).status).toBe(200)
    expect((await ask('/webrtc/other', { method: 'DELETE' })).status).toBe(404)
  })

  test.each([
    ['an offer', offer, 'application/sdp'],
    ['what is no offer', 'hello', 'application/sdp'],
    ['an offer of nothing', 'v=0', 'application/sdp'],
    ['nothing', '', 'application/sdp'],
    ['JSON', '{}', 'application/json'],
    ['too much', offer.padEnd(200_000), 'application/sdp'],
  ])('O68: by %s, what nobody publishes and what is not there say so', async (_what, body, type) => {
    const idle = await post('/webrtc/idle', body, type)
    expect([idle.status, idle.headers.get('x-media-refused')]).toEqual([406, 'not live'])
    const other = await post('/webrtc/other', body, type)
    expect([other.status, other.headers.get('x-media-refused')]).toEqual([404, null])
  })

  test.each([
    ['of a wrong key', '/webrtc/wrong', offer, 'application/sdp', 404],
    ['of another codec', '/webrtc/key', offer.replace('H264', 'VP8'), 'application/sdp', 406],
    ['that is none', '/webrtc/key', 'hello', 'application/sdp', 400],
    ['of another type', '/webrtc/key', offer, 'application/json', 415],
    ['that is too long', '/webrtc/key', offer.padEnd(200_000), 'application/sdp', 413],
  ])('an offer %s is refused', async (_what, path, body, type, status) => {
    expect((await post(path, body, type)).status).toBe(status)
  })

  test('who asks where to publish is led to where it stays, once', async () => {
    const first = await ask('/webrtc/key', { method: 'HEAD', redirect: 'manual' })
    expect([first.status, first.headers.get('location')]).toEqual([307, '/webrtc/key?region=local'])
    const followed = await ask('/webrtc/key', { method: 'HEAD' })
    expect([followed.status, followed.url]).toEqual([200, `${base}/webrtc/key?region=local`])
  })

  test('pages of everybody may, and nothing trickles', async () => {
    const options = await ask('/webrtc/key', { method: 'OPTIONS' })
    expect([options.status, options.headers.get('access-control-allow-methods')]).toEqual([
      204,
      'HEAD, POST, DELETE, OPTIONS',
    ])
    for (const method of ['GET', 'PATCH', 'PUT']) expect((await ask('/webrtc/key', { method })).status).toBe(405)
  })
})

test.each([
  [undefined, 200, '0123456789', null],
  ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
  ['bytes=7-', 206, '789', 'bytes 7-9/10'],
  ['bytes=-3', 206, '789', 'bytes 7-9/10'],
  ['bytes=4-99', 206, '456789', 'bytes 4-9/10'],
  ['bytes=10-', 416, '', 'bytes */10'],
  ['bytes=1-2,4-5', 200, '0123456789', null],
])('a recording, asked for %s', async (range, status, body, contentRange) => {
  const answer = await ask('/recordings/kept.mp4', { headers: range === undefined ? {} : { range } })
  expect([answer.status, await answer.text(), answer.headers.get('content-range')]).toEqual([
    status,
    body,
    contentRange,
  ])
})
