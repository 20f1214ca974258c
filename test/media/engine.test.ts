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
  await engine.answer({ ask: 'endStream', streamId: ended })
  await engine.answer({ ask: 'endStream', streamId: ended })
  expect(await kept()).toEqual([`${idle}.json`])
  clock.pass(59_000)
  expect(await known(ended, idle)).toEqual([ended, idle])
  clock.pass(2_000)
  expect(await known(ended, idle)).toEqual([idle])
})

test('a stream that ends while it is removed leaves nothing', async () => {
  const streamId = await create()
  await Promise.all([engine.answer({ ask: 'endStream', streamId }), engine.answer({ ask: 'deleteStream', streamId })])
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
