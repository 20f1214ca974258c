import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Engine, openEngine } from '#server/media/engine'
import { fakeClock } from './fake-clock.ts'

let directory = ''
let clock: ReturnType<typeof fakeClock>
let engine: Engine

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plaza-engine-'))
  clock = fakeClock()
  engine = await open()
})
afterEach(async () => {
  await engine.close()
  await rm(directory, { recursive: true })
})

const open = () =>
  openEngine({
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
    clock,
    wall: () => Date.now(),
    tell() {},
    changed() {},
  })
const create = async () =>
  ((await engine.answer({ ask: 'createStream', stream: { record: false } })) as { streamId: string }).streamId
const known = async (...streamIds: string[]) =>
  ((await engine.answer({ ask: 'status', streamIds })) as [string, unknown][]).map(([streamId]) => streamId)
const kept = () => readdir(join(directory, 'streams'))

test('a stream that has ended is forgotten a minute later, and no later engine knows it', async () => {
  const [ended, idle] = [await create(), await create()]
  await engine.answer({ ask: 'endStream', streamId: ended, isShown: true })
  await engine.answer({ ask: 'endStream', streamId: ended, isShown: true })
  expect(await kept()).toEqual([`${idle}.json`])
  clock.pass(59_000)
  expect(await known(ended, idle)).toEqual([ended, idle])
  clock.pass(2_000)
  expect(await known(ended, idle)).toEqual([idle])
})

test('a stream that ends while it is removed leaves nothing', async () => {
  const streamId = await create()
  await Promise.all([
    engine.answer({ ask: 'endStream', streamId, isShown: true }),
    engine.answer({ ask: 'deleteStream', streamId }),
  ])
  expect(await known(streamId)).toEqual([])
  expect(await kept()).toEqual([])
})

test('what an earlier version kept of ended streams is cleared away', async () => {
  const row = { streamId: 'old', playbackId: 'p', digest: '00', record: false, isLive: false, isEnded: true }
  await writeFile(join(directory, 'streams', 'old.json'), JSON.stringify(row))
  await engine.close()
  engine = await open()
  expect(await known('old')).toEqual([])
  expect(await kept()).toEqual([])
})

test('the end of a livestream is shown for a while, and nothing of one that was taken down, during its end neither', async () => {
  for (const isShown of [true, false]) {
    const { streamId, playbackId } = (await engine.answer({ ask: 'createStream', stream: { record: false } })) as {
      streamId: string
      playbackId: string
    }
    const get = (file: string) => fetch(`http://127.0.0.1:${engine.ports.http}/hls/${playbackId}/${file}`)
    await engine.answer({ ask: 'publishClock', streamId })
    clock.pass(5_000)
    const [segment = expect.fail()] = /\d+\.m4s/.exec(await (await get('index.m3u8')).text()) ?? []
    expect((await get(segment)).status).toBe(200)
    const [sequence] = segment.split('.')
    const waits = get(`index.m3u8?_HLS_msn=${Number(sequence) + 5}`)
    await engine.answer({ ask: 'endStream', streamId, isShown })
    const shown = async () => [(await get('index.m3u8')).status, (await get(segment)).status]
    expect(await shown()).toEqual(isShown ? [200, 200] : [404, 404])
    clock.pass(5_000)
    expect((await waits).status).toBe(isShown ? 200 : 404)
    await engine.answer({ ask: 'endStream', streamId, isShown: false })
    expect(await shown()).toEqual([404, 404])
  }
})
