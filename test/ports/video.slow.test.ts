import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { EngineSettings } from '#server/media/messages'
import { type SelfHostedVideo, selfHostedVideo } from '#server/ports/video/selfhosted'
import { pictures, sounds, tone } from '#test/media/pictures'
import { publishRtmp, type RtmpClient } from '#test/media/rtmp-client'
import { keepsVideoContract } from '#test/support/video-contract'

let directory = ''
const ended: (() => void)[] = []
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plaza-video-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))
afterEach(() => {
  for (const end of ended.splice(0)) end()
})

const settings = (more: Partial<EngineSettings> = {}): EngineSettings => ({
  host: '0a0b0c0d',
  directory: join(directory, randomUUID()),
  httpPort: 0,
  rtmpHost: '127.0.0.1',
  rtmpPort: 0,
  partMs: 200,
  segmentMs: 500,
  graceMs: 30_000,
  peers: { announced: [], udpPorts: null, address: '127.0.0.1' },
  aac: true,
  mostIngests: 10,
  mostViewers: 300,
  memoryMb: 512,
  ...more,
})

const urls = { publicUrl: 'http://plaza.test', rtmpUrl: 'rtmp://plaza.test' }

async function selfHosted(more: Partial<EngineSettings> = {}): Promise<SelfHostedVideo> {
  const video = selfHostedVideo(settings(more), urls)
  await vi.waitUntil(() => video.ports() !== null, { timeout: 30_000 })
  return video
}

async function publishTo(video: SelfHostedVideo, key: string): Promise<RtmpClient> {
  const client = await publishRtmp(video.ports()?.rtmp ?? 0, key)
  ended.push(() => client.socket.destroy())
  expect(await client.answer).toBe('NetStream.Publish.Start')
  const { config, frames } = pictures(30, { keyEvery: 5 })
  client.configure({ video: config, audio: tone })
  for (const frame of frames) client.video(frame)
  for (const one of sounds(140)) client.audio(one, 48_000)
  return client
}

keepsVideoContract('of our own', async () => {
  const video = await selfHosted()
  return {
    video,
    close: () => video.close(),
    async publish({ streamKey }) {
      const client = await publishTo(video, streamKey)
      return { stop: () => void client.unpublish(), lose: () => void client.socket.resetAndDestroy() }
    },
  }
})

describe('the engine of our own', () => {
  const text = async (video: SelfHostedVideo, path: string) => {
    const answer = await fetch(`http://127.0.0.1:${video.ports()?.http}${path}`)
    return `${answer.status} ${await answer.text()}`
  }

  test('killed, it is started again: streams are in grace, publishers come back, and what was recorded is made', async () => {
    const folder = join(directory, 'killed')
    const video = await selfHosted({ directory: folder })
    const [told, assets]: [string[], string[]] = [[], []]
    video.subscribe((event) => {
      if (event.type === 'asset.updated') assets.push(event.asset.phase)
      else told.push(event.type)
    })
    const stream = await video.createStream({ name: 'test', record: true })
    await publishTo(video, stream.streamKey)
    const playlist = `/hls/${stream.playbackId}/index.m3u8`
    await expect.poll(() => text(video, playlist)).toMatch(/^200 #EXTM3U[\s\S]*\n#EXTINF[\s\S]*\n#EXTINF/)
    expect(await readdir(join(folder, 'recordings'))).toContainEqual(expect.stringMatching(/\.parts$/))

    const before = video.ports()
    process.kill(video.pid() ?? 0, 'SIGKILL')
    await expect.poll(() => told).toEqual(['ingest.started', 'ingest.interrupted'])
    await expect(video.createStream({ name: 'test', record: false })).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    })
    await expect.poll(() => video.ports(), { timeout: 30_000 }).toEqual(before)
    expect((await video.status([stream.streamId])).get(stream.streamId)?.state).toBe('interrupted')
    await expect.poll(() => assets.at(-1), { timeout: 30_000 }).toBe('ready')
    const [asset] = await video.assets(stream.streamId)
    expect(asset?.durationSeconds).toBeGreaterThan(1)
    expect(await text(video, `/recordings/${asset?.assetId}.mp4`)).toMatch(/^200 /)

    await publishTo(video, stream.streamKey)
    await expect.poll(() => told).toEqual(['ingest.started', 'ingest.interrupted', 'ingest.started'])
    await expect.poll(() => text(video, playlist)).toMatch(/^200 #EXTM3U/)
    await video.close()
  })

  test('keeps no key: neither in its files nor in what it shows', async () => {
    const folder = join(directory, 'keys')
    const video = await selfHosted({ directory: folder })
    const stream = await video.createStream({ name: 'test', record: true })
    await publishTo(video, stream.streamKey)
    await expect.poll(() => text(video, `/hls/${stream.playbackId}/index.m3u8`)).toMatch(/#EXTINF/)
    const shown = await text(video, `/hls/${stream.playbackId}/index.m3u8`)
    const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(
      (file) => file.isFile() && !file.name.endsWith('.new'),
    )
    const kept = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'latin1')))
    expect(kept.length).toBeGreaterThan(1)
    expect([shown, ...kept].filter((one) => one.includes(stream.streamKey))).toEqual([])
    await video.close()
  })

  test('that takes more memory than it may ends itself, and nobody but those who ask it notice', async () => {
    const video = selfHostedVideo(settings({ memoryMb: 1 }), urls)
    const pids = new Set<number | null>()
    await expect.poll(() => pids.add(video.pid()).size, { timeout: 30_000, interval: 20 }).toBeGreaterThan(2)
    await video.close()
  })

  test('takes streams of browsers where the port of encoders is taken, says so, and has it when it is free', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const video = selfHostedVideo(settings({ rtmpPort: port }), urls)
    await expect.poll(() => video.problem(), { timeout: 30_000 }).toMatch(/EADDRINUSE/)
    const { playbackId, streamKey } = await video.createStream({ name: 'test', record: false })
    expect(await text(video, `/hls/${playbackId}/index.m3u8`)).toMatch(/^404/)
    taken.close()
    await expect.poll(() => video.ports()?.rtmp, { timeout: 30_000 }).toBe(port)
    expect(video.problem()).toBeNull()
    await publishTo(video, streamKey)
    await video.close()
  })

  test('takes no more publishers at a time than it may', async () => {
    const video = await selfHosted({ mostIngests: 1 })
    const [one, other] = [
      await video.createStream({ name: 'test', record: false }),
      await video.createStream({ name: 'test', record: false }),
    ]
    await publishTo(video, one.streamKey)
    const refused = await publishRtmp(video.ports()?.rtmp ?? 0, other.streamKey)
    expect(await refused.answer).toBe('NetStream.Publish.BadName')
    await video.close()
  })
})
