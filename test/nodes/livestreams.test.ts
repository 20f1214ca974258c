import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { publishWhip } from '#test/media/whip-client'
import { build } from '#test/support/programs'
import { started } from '#test/support/started'
import { freshDatabaseUri } from '#test/support/test-servers'
import { call, signIn, wallet } from '#test/support/wallet'

type Server = Awaited<ReturnType<typeof started>>

const long = 300_000
const redis = process.env.REDIS_URL
const directories: string[] = []
const servers: Server[] = []

beforeAll(() => build(), long)
afterAll(async () => {
  await Promise.all(servers.map(kill))
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

/** As a machine that loses its power: it says goodbye to nobody. */
async function kill({ process: child }: { process: ChildProcess }): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

async function node(environment: Record<string, string>): Promise<Server> {
  const directory = mkdtempSync(join(tmpdir(), 'plaza-livestreams-'))
  directories.push(directory)
  const server = await started({
    ...{
      NODE_ENV: 'test',
      PUBLIC_URL: 'http://localhost:3000',
      RATE_LIMIT_SCALE: '1000',
      VIDEO_PROVIDER: 'selfhosted',
    },
    ...{ DATA_DIR: directory, RTMP_PORT: '0', HLS_SEGMENT_MS: '500', HLS_PART_MS: '200', REDIS_URL: '' },
    STREAM_RECONNECT_GRACE_MS: '30000',
    ...environment,
  })
  servers.push(server)
  return server
}

/** What is said alike by whoever shows a stream; nothing has no length. */
async function told(url: string, path: string, method: string) {
  const answer = await fetch(url + path, { method })
  const names = ['access-control-allow-origin', 'access-control-allow-methods', 'cache-control', 'content-type']
  const headers = names.map((name) => answer.headers.get(name))
  const length = answer.status === 200 ? answer.headers.get('content-length') : null
  const body = createHash('sha256').update(Buffer.from(await answer.arrayBuffer()))
  return { status: answer.status, headers, length, body: body.digest('hex') }
}
const playlistOf = async (url: string, path: string) => {
  const answer = await fetch(url + path)
  return answer.status === 200 ? await answer.text() : `${answer.status}`
}

/** A stream of somebody new, made at one of the nodes. */
async function opened(url: string, name: string) {
  const { sessionToken: token } = await signIn(url, wallet(name))
  const { body } = await call(url, 'POST /api/streams', { title: name }, token)
  const stream = body.stream as { id: string; stream_key: string; playback_id: string }
  return { ...stream, token, at: `/hls/${stream.playback_id}` }
}
const statusOf = async (url: string, id: string) =>
  ((await call(url, `GET /api/public/streams/${id}`)).body.stream as { status: string }).status

describe.each(redis ? ['with', 'without'] : ['without'])('two nodes %s Redis, each with its own engine', (how) => {
  let one: Server
  let other: Server
  beforeAll(async () => {
    const shared = {
      MONGODB_URI: freshDatabaseUri() ?? '',
      NODE_URL: 'http://127.0.0.1:0',
      REDIS_URL: how === 'with' ? (redis ?? '') : '',
    }
    one = await node(shared)
    other = await node(shared)
  }, long)

  test('whoever publishes through one node is watched through the other as at the node of the stream', {
    timeout: long,
  }, async () => {
    const stream = await opened(one.url, `a streamer ${how} Redis`)
    const publisher = await publishWhip(`${other.url}/webrtc/${stream.stream_key}`)
    expect(publisher).toMatchObject({ status: 201, location: expect.stringMatching(/^\/webrtc\//) })
    const playlist = `${stream.at}/index.m3u8`
    await expect.poll(() => playlistOf(other.url, playlist), { timeout: 60_000 }).toMatch(/\n\d+\.m4s\n/)
    await expect.poll(() => statusOf(other.url, stream.id)).toBe('live')

    // Held until it is there.
    for (let parts = 0; parts < 5; parts++) {
      const now = await playlistOf(other.url, playlist)
      const [, sequence, part] = /PRELOAD-HINT:TYPE=PART,URI="(\d+)\.(\d+)\.m4s"/.exec(now) ?? []
      const next = await playlistOf(other.url, `${playlist}?_HLS_msn=${sequence}&_HLS_part=${part}`)
      expect(next).toMatch(new RegExp(`"${sequence}\\.${part}\\.m4s"|\n${sequence}\\.m4s`))
      expect(next).not.toContain(`PRELOAD-HINT:TYPE=PART,URI="${sequence}.${part}.m4s"`)
    }
    const shown = await playlistOf(other.url, playlist)
    const files = [
      /init\d+\.mp4/.exec(shown)?.[0],
      ...[.../"(\d+\.\d+\.m4s)",?/g[Symbol.matchAll](shown)].map(([, name]) => name).slice(-2),
      shown.match(/^\d+\.m4s$/gm)?.at(-1),
      'none.m4s',
    ]
    const paths = [
      ...files.map((file) => `${stream.at}/${file}`),
      ...['_HLS_msn=9999999999', '_HLS_part=1', '_HLS_msn=x'].map((query) => `${playlist}?${query}`),
    ]
    for (const path of paths)
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE']) {
        const [here, there] = await Promise.all([other, one].map(({ url }) => told(url, path, method)))
        expect(there?.status).toBeLessThan(500)
        expect(here, `${method} ${path}`).toEqual(there)
      }

    expect((await fetch(`${other.url}${publisher.location}`, { method: 'DELETE' })).status).toBe(200)
    await expect.poll(() => statusOf(other.url, stream.id)).toBe('ended')
    await expect.poll(() => playlistOf(other.url, playlist)).toContain('#EXT-X-ENDLIST')
    await publisher.lose()
  })

  test('where the node of a stream is killed, whoever publishes goes on at the other, and so do those who watch', {
    timeout: long,
  }, async () => {
    const stream = await opened(one.url, `a survivor ${how} Redis`)
    const first = await publishWhip(`${one.url}/webrtc/${stream.stream_key}`)
    const playlist = `${stream.at}/index.m3u8`
    await expect.poll(() => playlistOf(other.url, playlist), { timeout: 60_000 }).toMatch(/\n\d+\.m4s\n/)
    await expect.poll(() => statusOf(other.url, stream.id)).toBe('live')
    const before = await playlistOf(other.url, playlist)
    const [, hinted] = /PRELOAD-HINT:TYPE=PART,URI="(\d+)\./.exec(before) ?? []

    const waits = playlistOf(other.url, `${playlist}?_HLS_msn=${Number(hinted) + 2}`)
    await kill(one)
    await first.lose()
    expect(['404', '503']).toContain(await waits)
    await expect.poll(() => playlistOf(other.url, playlist), { timeout: 5_000 }).toBe('503')

    let again = await publishWhip(`${other.url}/webrtc/${stream.stream_key}`)
    const comeBack = async () => {
      if (again.status !== 201) again = await publishWhip(`${other.url}/webrtc/${stream.stream_key}`)
      return again.status
    }
    await expect.poll(comeBack, { timeout: 60_000, interval: 500 }).toBe(201)
    await expect.poll(() => playlistOf(other.url, playlist), { timeout: 60_000 }).toMatch(/\n\d+\.m4s\n/)
    const after = await playlistOf(other.url, playlist)
    const sequenceOf = (text: string) => Number(/MEDIA-SEQUENCE:(\d+)/.exec(text)?.[1])
    expect(sequenceOf(after)).toBeGreaterThan(Number(hinted))
    expect(/init\d+\.mp4/.exec(after)?.[0]).not.toBe(/init\d+\.mp4/.exec(before)?.[0])
    await expect.poll(() => statusOf(other.url, stream.id)).toBe('live')

    // Who does not come back is waited for, and then the stream has ended.
    await again.lose()
    await expect.poll(() => statusOf(other.url, stream.id), { timeout: 60_000 }).toBe('ended')
    await expect.poll(() => playlistOf(other.url, playlist), { timeout: 20_000 }).toContain('#EXT-X-ENDLIST')
  })
})

test('without NODE_URL a node livestreams as long as it is alone; with another, going live answers 503 and says why', {
  timeout: long,
}, async () => {
  const shared = { MONGODB_URI: freshDatabaseUri() ?? '' }
  const one = await node(shared)
  expect(await opened(one.url, 'alone')).toMatchObject({ stream_key: expect.any(String) })
  const other = await node(shared)
  for (const { url } of [one, other]) {
    const { sessionToken: token } = await signIn(url, wallet(`one of several at ${url}`))
    await expect
      .poll(() => call(url, 'POST /api/streams', {}, token))
      .toMatchObject({ status: 503, body: { error: expect.stringContaining('NODE_URL') } })
  }
})
