import { expect, test, vi } from 'vitest'
import type { MediaAnswer } from '#server/ports/video/port'
import { sharedAnswers, sharedPath } from '#server/ports/video/shared-answers'

const limits = {
  mediaMilliseconds: 60_000,
  mediaBytes: 10_000,
  briefMilliseconds: 60_000,
  briefBytes: 10_000,
  mostAsked: 3,
  shownMilliseconds: 60_000,
}
const part = (bytes: number, status = 200): MediaAnswer => ({
  status,
  headers: { 'cache-control': 'public, max-age=300, immutable' },
  body: Buffer.alloc(bytes),
})
const asked = () => vi.fn(async () => part(2_000))

test('what is kept is bounded by its bytes, and the oldest goes first', async () => {
  const answers = sharedAnswers(limits)
  const asks = Array.from({ length: 8 }, asked)
  for (const [at, ask] of asks.entries()) await answers.get(`part ${at}`, ask)
  for (const [at, ask] of [...asks.entries()].reverse()) await answers.get(`part ${at}`, ask)
  expect(asks.map(({ mock }) => mock.calls.length)).toEqual([2, 2, 2, 2, 2, 1, 1, 1])
})

test('what is kept is bounded by its age', async () => {
  const answers = sharedAnswers({ ...limits, mediaMilliseconds: 20 })
  const ask = asked()
  await answers.get('part', ask)
  await answers.get('part', ask)
  expect(ask).toHaveBeenCalledTimes(1)
  await expect.poll(async () => (await answers.get('part', ask)) && ask.mock.calls.length).toBeGreaterThan(1)
})

test('what is kept of a stream that its host shows no more is shown no more, and is asked for again where that is not known', async () => {
  const at = (file: string) => `/hls/a/${file}`
  const answers = sharedAnswers({ ...limits, briefMilliseconds: 0 })
  const ask = asked()
  await answers.get(at('1.m4s'), ask)
  await answers.get(at('1.m4s'), ask)
  await answers.get('/hls/b/index.m3u8', async () => part(0, 404))
  await answers.get(at('none.m4s'), async () => part(0, 404))
  await answers.get(at('1.m4s'), ask)
  expect(ask).toHaveBeenCalledTimes(1)
  await answers.get(at('index.m3u8?_HLS_msn=2'), async () => part(0, 404))
  const gone = vi.fn(async () => part(0, 404))
  expect((await answers.get(at('1.m4s'), gone)).status).toBe(404)
  const unsure = sharedAnswers({ ...limits, shownMilliseconds: 20 })
  await unsure.get(at('1.m4s'), ask)
  await expect.poll(async () => (await unsure.get(at('1.m4s'), gone)).status).toBe(404)
})

test('what has failed is told to all who wait, and asked for anew by the next', async () => {
  const answers = sharedAnswers(limits)
  const fail = vi.fn(async () => Promise.reject(new Error('away')))
  const both = await Promise.allSettled([answers.get('part', fail), answers.get('part', fail)])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(fail).toHaveBeenCalledTimes(1)
  const refuse = vi.fn(async () => part(0, 503))
  for (const ask of [refuse, refuse]) expect((await answers.get('part', ask)).status).toBe(503)
  expect(refuse).toHaveBeenCalledTimes(2)
})

test('so many different answers are waited for at a time', async () => {
  const answers = sharedAnswers(limits)
  const never = () => new Promise<MediaAnswer>(() => {})
  for (const key of ['a', 'b', 'c']) void answers.get(key, never)
  void answers.get('a', expect.fail)
  await expect(answers.get('d', expect.fail)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
})

test.each([
  ['/hls/a/index.m3u8?_HLS_part=2&_HLS_msn=01&_HLS_skip=YES', '/hls/a/index.m3u8?_HLS_msn=1&_HLS_part=2'],
  ['/hls/a/index.m3u8?x', '/hls/a/index.m3u8'],
  ['/hls/a/1.2.m4s?_HLS_msn=1', '/hls/a/1.2.m4s'],
  ['/hls/a/index.m3u8?_HLS_msn=-1', null],
  ['/hls/a/../../ask', null],
  ['//elsewhere/hls/a/1.m4s/..', null],
  ['/webrtc/a', null],
  ['/recordings/a.mp4', null],
])('%s is asked for as %s', (path, shared) => {
  expect(sharedPath({ method: 'GET', path })).toBe(shared)
  expect(sharedPath({ method: 'OPTIONS', path })).toBeNull()
})
