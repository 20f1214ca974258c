// Modes: embedded
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { mediaMtxVideo } from '#server/ports/video/mediamtx'
import { streams } from '#shared/api/streams/streams'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { configOfMediaMtx, type MediaMtx, openMediaMtx, paceOfTest, secretsOfTest } from '#test/support/mediamtx'
import { person } from '#test/support/people'
import { call } from '#test/support/wallet'

let mediamtx: MediaMtx
let server: Booted
beforeAll(async () => {
  mediamtx = await openMediaMtx()
  const pace = Object.assign(paceOfTest(), { pollMilliseconds: 200, keptMilliseconds: 100 })
  const now = () => server.apps[0]?.node.now() ?? 0
  const video = mediaMtxVideo(configOfMediaMtx(mediamtx), { secrets: secretsOfTest, now }, pace)
  server = await boot({ services: { video } })
  mediamtx.authority = async (asks) => {
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(asks) }
    return (await fetch(`${server.urls.at(-1)}/api/webhooks/video`, request)).ok
  }
  await vi.waitFor(() => video.status([]), { timeout: 30_000 })
})
afterAll(async () => {
  await server.close()
  await mediamtx.close()
})

let named = 0
async function opened() {
  const owner = await person(server, `streamer of mediamtx ${++named}`)
  const { stream } = await owner.does('rest', streams.create, {})
  return { owner, stream, rtmpUrl: stream.rtmp_url ?? '' }
}
const shown = async (id: string) => (await call(server.url, `GET /api/public/streams/${id}`)).body.stream

test('a livestream is published with its key, by RTMP and WHIP, and shown to everybody without it', heavy, async () => {
  const { stream, rtmpUrl } = await opened()
  const secret = new URL(rtmpUrl).searchParams.get('key') ?? ''
  expect(secret).toHaveLength(43)
  await expect(mediamtx.publish(rtmpUrl.replace(secret, 'guessed'))).rejects.toThrow('refused')
  await mediamtx.publish(rtmpUrl)
  await expect.poll(() => shown(stream.id), { timeout: 30_000 }).toMatchObject({ status: 'live', is_live: true })
  expect(await shown(stream.id)).toMatchObject({
    playback_url: `https://hls.test/live/${stream.playback_id}/index.m3u8`,
    whep_url: `https://media.test/webrtc/live/${stream.playback_id}/whep`,
  })
  expect(JSON.stringify(await shown(stream.id))).not.toContain(secret)
  expect(stream.ingest_url).toBe(`https://media.test/webrtc/live/${stream.playback_id}/whip?key=${secret}`)
})

test('a livestream that has ended is published no more, and neither is one that was deleted', async () => {
  const { owner, stream, rtmpUrl } = await opened()
  await mediamtx.publish(rtmpUrl)
  await expect.poll(() => shown(stream.id), { timeout: 30_000 }).toMatchObject({ status: 'live' })
  await owner.does('rest', streams.end, { id: stream.id })
  expect(mediamtx.published.has(`live/${stream.playback_id}`)).toBe(false)
  await expect(mediamtx.publish(rtmpUrl)).rejects.toThrow('refused')
  await owner.does('rest', streams.remove, { id: stream.id })
  await expect(mediamtx.publish(rtmpUrl)).rejects.toThrow('refused')
})
