import { mkdtemp, open, readlink, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { localStorage } from '#server/ports/storage/local'
import { s3Storage } from '#server/ports/storage/s3'

const blob = new Blob([Buffer.alloc(200_000, 'x')])
let folder: string
let handles: { sync(): Promise<void> }
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-durable-'))
  const handle = await open(folder)
  handles = Object.getPrototypeOf(handle)
  await handle.close()
})
afterEach(() => void vi.restoreAllMocks())
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Synced {
  path: string
  /** Bytes of a file; null of a folder. */
  size: number | null
  /** Could the blob be found by then? */
  isThere: boolean
}

/** What is synced while a blob is put, in this order. */
async function syncedBy(key: string, fail?: (synced: Synced) => void) {
  const storage = await localStorage(folder)
  const synced: Synced[] = []
  const sync = handles.sync
  vi.spyOn(handles, 'sync').mockImplementation(async function (this: Awaited<ReturnType<typeof open>>) {
    await sync.call(this)
    const about = await this.stat()
    const path = await readlink(`/proc/self/fd/${this.fd}`)
    const isThere = await stat(join(folder, key)).then(Boolean, () => false)
    const one = { path, size: about.isFile() ? about.size : null, isThere }
    synced.push(one)
    fail?.(one)
  })
  return { synced, storage, put: () => storage.put(key, blob) }
}

test.runIf(process.platform === 'linux')(
  'a folder syncs all bytes of a blob before it is found, and the entry that names it before the put ends',
  async () => {
    for (const key of ['media/icon/first.png', 'media/icon/second.png']) {
      const { synced, put } = await syncedBy(key)
      await put()
      const [file, ...folders] = synced
      expect(file).toMatchObject({ size: blob.size, isThere: false, path: expect.stringContaining('.unfinished') })
      expect(folders.at(-1)).toEqual({ path: join(folder, 'media/icon'), size: null, isThere: true })
      vi.restoreAllMocks()
    }
  },
)

test.runIf(process.platform === 'linux')('a folder syncs each new folder, and the one that holds it', async () => {
  const { synced, put } = await syncedBy('chat-voice/voice/0xabc/ZG06/one.enc')
  await put()
  const before = synced.filter(({ size, isThere }) => size === null && !isThere).map(({ path }) => path)
  const made = ['', 'chat-voice', 'chat-voice/voice', 'chat-voice/voice/0xabc', 'chat-voice/voice/0xabc/ZG06']
  expect(new Set(before)).toEqual(new Set(made.map((name) => join(folder, name).replace(/\/$/, ''))))
})

test.runIf(process.platform === 'linux').each([
  ['bytes', ({ size }: Synced) => size !== null, null],
  ['entry', ({ isThere }: Synced) => isThere, blob.size],
])('a folder whose disk does not take the %s refuses the blob', async (what, isIt, size) => {
  const key = `media/icon/${what}.png`
  const { storage, put } = await syncedBy(key, (synced) => {
    if (isIt(synced)) throw Object.assign(new Error('EIO: i/o error, fsync'), { code: 'EIO' })
  })
  await expect(put()).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  expect(await storage.sizeOf(key)).toBe(size)
})

test('storage by S3 that takes a request and never answers is a TIMEOUT within seven seconds', async () => {
  const server = createServer((asked) => void asked.resume()).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const storage = s3Storage({ endpoint, region: 'x', keyId: 'x', secret: 'x', buckets: {} })
  const key = 'media/icon/never.png'
  const begun = performance.now()
  const acts = [
    storage.put(key, new Blob(['x'])),
    storage.read(key),
    storage.read(key, { start: 0, end: 1 }),
    storage.sizeOf(key),
    storage.remove(key),
    storage.list('media')[Symbol.asyncIterator]().next(),
  ]
  await Promise.all(acts.map((act) => expect(act).rejects.toMatchObject({ code: 'TIMEOUT' })))
  expect(performance.now() - begun).toBeLessThan(7_000)
}, 20_000)
