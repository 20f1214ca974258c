import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { settlePeople } from '#server/demo/agents'
import { keepLive } from '#server/demo/demo'
import type { Video } from '#server/ports/video/port'
import type { PublicStream } from '#shared/api/streams/stream-records'
import { streams } from '#shared/api/streams/streams'
import { pictures, sounds, tone } from '#test/media/pictures'
import { publishRtmp } from '#test/media/rtmp-client'
import { type Booted, boot } from '#test/support/boot'
import { person } from '#test/support/people'
import { build } from '#test/support/programs'
import { started } from '#test/support/started'

let server: Booted
const get = { method: 'GET', path: '/' }
let video: Video
beforeAll(async () => {
  const environment = { VIDEO_PROVIDER: 'selfhosted', HLS_SEGMENT_MS: '500', HLS_PART_MS: '200' }
  const port = await freePort()
  server = await boot({ nodes: 1, environment: { ...environment, RTMP_PORT: String(port) } })
  const { services } = server.apps[0]?.node ?? {}
  if (!services?.video) throw new Error('There are no livestreams')
  video = services.video
  await vi.waitUntil(() => video.originOf?.('any', get), { timeout: 60_000 })
})
afterAll(() => server.close())

function freePort(): Promise<number> {
  const probe = createServer()
  return new Promise((resolve) => {
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

const text = async (path: string) => {
  const answer = await fetch(server.url + path)
  return `${answer.status} ${await answer.text()}`
}

/** Publishes three seconds to the public address. */
async function publish(streamKey: string) {
  const { port } = new URL(video.addresses.rtmp(streamKey).replace('rtmp:', 'http:'))
  const client = await publishRtmp(Number(port), streamKey)
  expect(await client.answer).toBe('NetStream.Publish.Start')
  const { config, frames } = pictures(30, { keyEvery: 5 })
  client.configure({ video: config, audio: tone })
  for (const frame of frames) client.video(frame)
  for (const sound of sounds(140)) client.audio(sound, 48_000)
  return client
}

test('what is published by RTMP is shown by the server, and its recording by parts', async () => {
  const stream = await video.createStream({ name: 'test', record: true })
  const client = await publish(stream.streamKey)
  const playlist = `/hls/${stream.playbackId}/index.m3u8`
  await expect.poll(() => text(playlist)).toMatch(/^200 #EXTM3U[\s\S]*\n#EXTINF/)
  const [, init = ''] = /#EXT-X-MAP:URI="([^"]+)"/.exec(await text(playlist)) ?? []
  expect(await text(`/hls/${stream.playbackId}/${init}`)).toMatch(/^200 [\s\S]{4}ftyp/)
  await client.unpublish()
  await expect
    .poll(async () => (await video.assets(stream.streamId)).map(({ phase }) => phase), { timeout: 60_000 })
    .toEqual(['ready'])
  const [asset] = await video.assets(stream.streamId)
  const { pathname } = new URL(asset?.downloadUrl ?? '')
  const part = await fetch(server.url + pathname, { headers: { range: 'bytes=4-7' } })
  expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
    206,
    'ftyp',
    `bytes 4-7/${asset?.sizeBytes}`,
  ])
})

test('a stream of somebody goes live with its picture, and its recording is theirs when it has ended', async () => {
  const owner = await person(server, 'streams for real')
  const { stream } = await owner.does('rest', streams.create, { title: 'For real', record: true })
  const client = await publish(stream.stream_key ?? '')
  const shown = async () => (await owner.does('rest', streams.get, { id: stream.id })).stream
  await expect.poll(shown).toMatchObject({ status: 'live', is_live: true, reason: 'live' })
  expect(await text(new URL(stream.playback_url).pathname)).toMatch(/^200 #EXTM3U/)
  await owner.does('rest', streams.end, { id: stream.id })
  await expect.poll(() => client.socket.destroyed || client.socket.readableEnded).toBe(true)
  await expect
    .poll(async () => (await owner.does('rest', streams.assets, { id: stream.id })).assets, { timeout: 60_000 })
    .toMatchObject([{ status: { phase: 'ready' }, download_url: expect.stringMatching(/\.mp4$/) }])
  const again = await publishRtmp(
    Number(new URL((stream.rtmp_url ?? '').replace('rtmp:', 'http:')).port),
    stream.stream_key ?? '',
  )
  expect(await again.answer).not.toBe('NetStream.Publish.Start')
  again.socket.destroy()
  expect(await shown()).toMatchObject({ status: 'ended', reason: 'ended_by_owner' })
})

test('somebody of the demo is live with a clock, and again after the engine was killed', async () => {
  const over = new AbortController()
  const node = server.apps[0]?.node ?? expect.fail()
  await settlePeople(node)
  void keepLive(node, over.signal)
  const clock = async () =>
    ((await (await fetch(`${server.url}/api/public/streams`)).json()) as { streams: PublicStream[] }).streams[0]
  await expect.poll(clock, { timeout: 30_000 }).toMatchObject({ reason: 'live', streamer: { address: 'demo:kofi' } })
  for (const pid of enginesOf(process.pid)) process.kill(pid, 'SIGKILL')
  await expect.poll(clock, { timeout: 30_000 }).toMatchObject({ reason: 'interrupted' })
  await expect.poll(clock, { timeout: 60_000 }).toMatchObject({ reason: 'live' })
  over.abort()
})

test('where the engine is killed, viewers are told to come again, and find it when it is back', async () => {
  const { playbackId, streamKey } = await video.createStream({ name: 'test', record: false })
  const client = await publish(streamKey)
  const playlist = `/hls/${playbackId}/index.m3u8`
  await expect.poll(() => text(playlist)).toMatch(/^200 /)
  for (const pid of enginesOf(process.pid)) process.kill(pid, 'SIGKILL')
  await expect.poll(async () => (await fetch(server.url + playlist)).headers.get('retry-after')).toBe('2')
  await expect.poll(() => video.originOf?.(playbackId, get)).toBeNull()
  await expect.poll(() => video.originOf?.(playbackId, get), { timeout: 60_000 }).toBeTruthy()
  client.socket.destroy()
  await publish(streamKey)
  await expect.poll(() => text(playlist)).toMatch(/^200 /)
})

test('the built server finds its engine, which ends with it, however it ends', async () => {
  build()
  const directory = mkdtempSync(join(tmpdir(), 'plaza-live-'))
  const { process: child } = await started({
    DATA_DIR: directory,
    VIDEO_PROVIDER: 'auto',
    RTMP_PORT: String(await freePort()),
  })
  await expect.poll(() => readdirSync(join(directory, 'media')), { timeout: 60_000 }).toContain('streams')
  const [engine = 0] = enginesOf(child.pid ?? 0)
  expect(engine).toBeGreaterThan(0)
  child.kill('SIGKILL')
  await expect.poll(() => isThere(engine)).toBe(false)
  rmSync(directory, { recursive: true, force: true })
})

/** The processes of engines that a process has started. */
const enginesOf = (pid: number) =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((child) => child !== '' && readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('media/main'))
    .map(Number)

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
