import { randomUUID } from 'node:crypto'
import {
  type FileHandle,
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createLive } from '#server/media/live'
import type { RecordedAsset } from '#server/media/messages'
import { openRecorder, type Recorder, type RecorderOptions } from '#server/media/recorder'
import { heavy } from '#test/support/heavy'
import { fakeClock } from './fake-clock.ts'
import { begun, pictures, sounds, tone } from './pictures.ts'

let directory = ''
let told: RecordedAsset[] = []
let recorder: Recorder | null = null
const open = async (more: Partial<RecorderOptions> = {}) => {
  const tell = (asset: RecordedAsset) => void told.push(asset)
  recorder = await openRecorder({ directory, wall: () => begun, newId: randomUUID, tell, ...more })
  return recorder
}
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plaza-recordings-'))
  told = []
})
afterEach(async () => {
  vi.restoreAllMocks()
  await recorder?.close()
  await rm(directory, { recursive: true, force: true })
})

/** One publisher, of as many pictures, ten a second; with another size each twenty where asked. */
function record(to: Recorder, count: number, sizes: readonly number[] = [20], shown = () => {}) {
  const live = createLive({ partMs: 330, segmentMs: 1000, clock: fakeClock(), wall: () => begun })
  const recording = to.begin('stream')
  const ingest = live.begin((part) => {
    recording.add(part)
    shown()
  })
  for (const [turn, columns] of sizes.entries()) {
    const { config, frames } = pictures(count, { columns, from: turn * count })
    ingest.configure({ video: config, audio: tone })
    for (const frame of frames) ingest.video(frame)
    for (const one of sounds(Math.floor(count * 4.6), Math.ceil(turn * count * 4.6875))) ingest.audio(one)
  }
  return () => {
    ingest.end()
    recording.end()
  }
}

const phases = () => told.map(({ phase }) => phase).filter((phase, index, all) => phase !== all[index - 1])
const settled = () => expect.poll(() => told.at(-1)?.phase, { timeout: 20_000 }).toMatch(/ready|failed/)

async function read(path: string) {
  const input = new Input({ source: new BufferSource(await readFile(path)), formats: ALL_FORMATS })
  const tracks = await input.getTracks()
  const counts = await Promise.all(
    tracks.map(async (track) => {
      let count = 0
      for await (const _packet of new EncodedPacketSink(track).packets()) count++
      return count
    }),
  )
  return {
    codecs: await Promise.all(tracks.map((track) => track.getCodec())),
    counts,
    duration: await input.computeDuration(),
  }
}

describe('a recording', () => {
  test('is one file of all pictures and sounds, told in its phases', async () => {
    const to = await open()
    const end = record(to, 40)
    expect(to.assets('stream')).toEqual([])
    end()
    await settled()
    expect(phases()).toEqual(['waiting', 'processing', 'ready'])
    const [asset] = to.assets('stream')
    expect(asset).toMatchObject({ phase: 'ready', progress: 1, durationSeconds: expect.closeTo(4, 0), error: null })
    const path = to.path(asset?.assetId ?? '') ?? ''
    expect(await read(path)).toEqual({ codecs: ['avc', 'aac'], counts: [40, 184], duration: expect.closeTo(4, 1) })
    expect(asset?.sizeBytes).toBe((await stat(path)).size)
    await expect.poll(() => readdir(directory)).toHaveLength(2)
  })

  test('goes on in the same file where the picture takes another size', async () => {
    const to = await open()
    record(to, 20, [20, 22, 20])()
    await settled()
    const [asset] = to.assets('stream')
    expect((await read(to.path(asset?.assetId ?? '') ?? '')).counts[0]).toBe(60)
  })

  test('that broke off within a fragment is made when the engine starts, without the rest of it', heavy, async () => {
    const [assetId, row] = [
      'broken',
      { streamId: 'stream', phase: 'processing', progress: 0, startedAt: new Date(begun) },
    ]
    const first = await open()
    record(first, 40)()
    await first.close()
    const whole = await writtenBy(40)
    await writeFile(join(directory, `${assetId}.parts`), whole)
    await truncate(join(directory, `${assetId}.parts`), whole.length - 5_000)
    await writeFile(join(directory, `${assetId}.json`), JSON.stringify({ assetId, ...row }))
    told = []
    const again = await open()
    await settled()
    expect(told.at(-1)).toMatchObject({ assetId, phase: 'ready' })
    const { counts } = await read(again.path(assetId) ?? '')
    expect(counts[0]).toBeGreaterThan(25)
    expect(counts[0]).toBeLessThan(40)
  })

  test.each([
    ['nothing', ''],
    ['what is no recording', 'x'.repeat(1000)],
  ])('of %s has failed, and says why', async (_what, content) => {
    await writeFile(join(directory, 'empty.parts'), content)
    const row = { assetId: 'empty', streamId: 'stream', phase: 'waiting', progress: 0, startedAt: new Date(begun) }
    await writeFile(join(directory, 'empty.json'), JSON.stringify(row))
    await open()
    await settled()
    expect(told.at(-1)).toMatchObject({ phase: 'failed', error: expect.stringMatching(/./) })
  })

  test('fails alone where the disk does not take it', async () => {
    const to = await open()
    await rm(directory, { recursive: true })
    record(to, 40)()
    await settled()
    expect(told.at(-1)).toMatchObject({ phase: 'failed', error: expect.stringMatching(/^ENOENT/) })
    // No event has its path.
    expect(told.at(-1)?.error).not.toContain(directory)
    await mkdir(directory)
  })

  test('on a full disk fails with the reason, while the stream is shown and others are recorded', async () => {
    await symlink('/dev/full', join(directory, 'full.parts'))
    const ids = ['full', 'other']
    const to = await open({ newId: () => ids.shift() ?? expect.fail() })
    let shown = 0
    record(to, 40, [20], () => shown++)()
    await settled()
    expect(told.at(-1)).toMatchObject({ assetId: 'full', phase: 'failed', error: expect.stringMatching(/^ENOSPC/) })
    expect(shown).toBeGreaterThan(10)
    told = []
    record(to, 40)()
    await settled()
    expect(told.at(-1)).toMatchObject({ assetId: 'other', phase: 'ready' })
  })

  test('O43: whose disk is full in its middle has failed, and what was written before can be played', async () => {
    const opened = await openFile(join(directory, 'any'), 'w')
    const files = Object.getPrototypeOf(opened) as FileHandle
    await opened.close()
    await rm(join(directory, 'any'))
    const append = files.appendFile
    let pieces = 0
    vi.spyOn(files, 'appendFile').mockImplementation(function (this: FileHandle, bytes) {
      if (++pieces > 6) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
      return append.call(this, bytes)
    })
    const to = await open()
    record(to, 80)()
    await settled()
    const [asset] = to.assets('stream')
    expect(asset).toMatchObject({
      phase: 'failed',
      error: expect.stringMatching(/^ENOSPC/),
      sizeBytes: expect.any(Number),
    })
    expect(asset?.durationSeconds).toBeGreaterThan(1)
    const { duration } = await read(to.path(asset?.assetId ?? '') ?? '')
    expect(duration).toBeCloseTo(asset?.durationSeconds ?? 0, 1)
    await to.close()
    const again = await open()
    expect(again.assets('stream')).toEqual([asset])
    expect(again.path(asset?.assetId ?? '')).not.toBeNull()
  })

  test('on a disk that is full when it is made fails with the reason', async () => {
    await symlink('/dev/full', join(directory, 'full.mp4.unfinished'))
    const to = await open({ newId: () => 'full' })
    record(to, 40)()
    await settled()
    expect(told.at(-1)).toMatchObject({ phase: 'failed', error: expect.stringMatching(/ENOSPC/) })
    expect(to.path('full')).toBeNull()
  })

  test.each([
    ['seconds', { seconds: 2, bytes: 2 ** 30 }],
    ['bytes', { seconds: 1_000, bytes: 10_000 }],
  ])('that has as many %s as it may ends, and is ready while its stream goes on', async (_what, limits) => {
    const to = await open({ limits })
    const end = record(to, 80)
    await settled()
    const [asset] = to.assets('stream')
    expect(asset).toMatchObject({ phase: 'ready', error: null })
    expect(asset?.durationSeconds).toBeLessThan(7)
    end()
    await to.flush()
    expect(to.assets('stream')).toHaveLength(1)
  })

  test('goes with its stream', async () => {
    const to = await open()
    record(to, 20)()
    await settled()
    await to.remove('stream')
    expect([to.assets('stream'), await readdir(directory)]).toEqual([[], []])
  })
})

/** The fragments of so many pictures, as they are written. */
async function writtenBy(count: number): Promise<Buffer> {
  const parts: Buffer[] = []
  const live = createLive({ partMs: 330, segmentMs: 1000, clock: fakeClock(), wall: () => begun })
  const ingest = live.begin(({ init, data }) => parts.push(...(parts.length === 0 ? [init, data] : [data])))
  const { config, frames } = pictures(count)
  ingest.configure({ video: config })
  for (const frame of frames) ingest.video(frame)
  ingest.end()
  return Buffer.concat(parts)
}
