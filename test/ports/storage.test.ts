import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { localStorage } from '#server/ports/storage/local'
import { isKey, type Range, type Storage } from '#server/ports/storage/port'
import { s3Storage } from '#server/ports/storage/s3'
import { fileDispositionOf, fileTypeOf, namePart } from '#shared/kit/file-name'
import { heavy } from '#test/support/heavy'
import { openS3 } from '#test/support/s3'

let folder: string
let s3: Awaited<ReturnType<typeof openS3>>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-files-'))
  s3 = await openS3(['chat-images'])
})
afterAll(async () => {
  await s3.stop()
  await rm(folder, { recursive: true, force: true })
})

let made = 0
const newKey = (ending = 'enc') => `chat-images/encrypted/0xabc/ZG06/${++made}_x.${ending}`
const text = async (storage: Storage, key: string, range?: Range) => {
  const found = await storage.read(key, range)
  return found && { size: found.size, text: String(await buffer(found.bytes)) }
}
const keysIn = async (storage: Storage, bucket: string) => {
  const keys: string[] = []
  for await (const { key } of storage.list(bucket)) keys.push(key)
  return keys
}

const subjects = { 'in a folder': () => localStorage(folder), 'by S3': async () => s3Storage(s3) }

test('S3 is told how a blob is to be served, where its bucket is read by others', async () => {
  const asked: Record<string, unknown>[] = []
  const server = await answering(({ method, headers }, answer) => {
    asked.push({ method, ...headers })
    answer.writeHead(200, { etag: '"x"' }).end()
  })
  const storage = s3Storage({ ...s3, endpoint: server.endpoint })
  await storage.put(newKey('png'), new Blob(['x']))
  await storage.put('media/file/0xaa/1_a.cGxhbi5wZGY.pdf', new Blob(['x']))
  expect(asked).toMatchObject([
    {
      method: 'PUT',
      'content-type': 'image/png',
      'content-disposition': 'attachment',
      'cache-control': 'public, max-age=31536000, immutable',
    },
    { 'content-type': 'application/pdf', 'content-disposition': 'attachment; filename="plan.pdf"' },
  ])
  server.close()
})

test('a folder writes two blobs at a time, and the others after them', async () => {
  const storage = await localStorage(folder)
  let begun = 0
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  class Held extends Blob {
    override stream() {
      begun++
      return super.stream().pipeThrough(new TransformStream({ flush: () => released }))
    }
  }
  const keys = Array.from({ length: 12 }, () => newKey())
  const puts = Promise.all(keys.map((key) => storage.put(key, new Held([key]))))
  await expect.poll(() => begun).toBe(2)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(begun).toBe(2)
  release()
  await puts
  for (const key of keys) expect(await storage.sizeOf(key)).toBe(key.length)
})

describe.each(Object.entries(subjects))('the storage of blobs, %s', (_name, open) => {
  test('gives back what was put, whole and in part', async () => {
    const storage = await open()
    const key = newKey()
    await storage.put(key, new Blob(['0123456789']))
    expect(await text(storage, key)).toEqual({ size: 10, text: '0123456789' })
    expect(await text(storage, key, { start: 3, end: 5 })).toEqual({ size: 10, text: '345' })
    expect(await text(storage, key, { start: 9, end: 9 })).toEqual({ size: 10, text: '9' })
    expect(await storage.sizeOf(key)).toBe(10)
  })

  test('keeps 10 MB byte by byte', async () => {
    const storage = await open()
    const key = newKey()
    const bytes = Buffer.alloc(10 * 1024 * 1024, 'plaza ')
    await storage.put(key, new Blob([bytes]))
    const found = await storage.read(key)
    expect(found && (await buffer(found.bytes)).equals(bytes)).toBe(true)
  })

  test('keeps an empty blob', async () => {
    const storage = await open()
    const key = newKey()
    await storage.put(key, new Blob([]))
    expect(await text(storage, key)).toEqual({ size: 0, text: '' })
  })

  test('finds nothing under another name', async () => {
    const storage = await open()
    const key = newKey()
    await storage.put(key, new Blob(['here']))
    for (const other of [`${key}x`, key.slice(0, -1), 'chat-images/nothing/at/all'])
      expect([other, await storage.read(other), await storage.sizeOf(other)]).toEqual([other, null, null])
  })

  test('lists what a bucket holds, and removes it', async () => {
    const storage = await open()
    const [kept, removed] = [newKey(), newKey()]
    for (const key of [kept, removed]) await storage.put(key, new Blob([key]))
    await storage.remove(removed)
    await storage.remove(removed)
    const keys = await keysIn(storage, 'chat-images')
    expect([keys.includes(kept), keys.includes(removed), await storage.read(removed)]).toEqual([true, false, null])
    for await (const { key, size, storedAt } of storage.list('chat-images'))
      if (key === kept) expect([size, Date.now() - storedAt.getTime() < 600_000]).toEqual([kept.length, true])
  })
})

test('a folder is no blob', async () => {
  const storage = await localStorage(folder)
  await storage.put(newKey(), new Blob(['x']))
  expect([await storage.read('chat-images/encrypted'), await storage.sizeOf('chat-images/encrypted')]).toEqual([
    null,
    null,
  ])
})

/** A blob that cannot be read to its end. */
const brokenBlob = (broken: Promise<void> = Promise.resolve()) =>
  Object.assign(new Blob([Buffer.alloc(200_000)]), {
    stream: () =>
      new ReadableStream({
        start: (controller) => controller.enqueue(new Uint8Array(100_000)),
        pull: async (controller) => {
          await broken
          controller.error(new Error('cut'))
        },
      }),
  }) as Blob

test('a blob of a folder that was not written to its end is not found, and is gone at the next start', async () => {
  const storage = await localStorage(folder)
  const key = newKey()
  await expect(storage.put(key, brokenBlob())).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  expect([await storage.read(key), await readdir(join(folder, '.unfinished'))]).toEqual([null, []])
})

test('a blob that cannot be read to its end is not found in storage by S3, and is refused at once', async () => {
  const storage = s3Storage(s3)
  const key = newKey()
  const begun = performance.now()
  await expect(storage.put(key, brokenBlob())).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  expect(performance.now() - begun).toBeLessThan(4_000)
  expect(await storage.read(key)).toBeNull()
})

test('a blob that cannot be read any more after storage by S3 refused it does nothing', async () => {
  const server = await answering((_asked, answer) => answer.writeHead(500).end())
  const storage = s3Storage({ ...s3, endpoint: server.endpoint })
  let breakIt = () => {}
  const broken = new Promise<void>((resolve) => {
    breakIt = resolve
  })
  await expect(storage.put(newKey(), brokenBlob(broken))).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  breakIt()
  await new Promise((resolve) => setTimeout(resolve, 50))
  server.close()
})

test('storage by S3 that is away is an UPSTREAM_ERROR', async () => {
  const storage = s3Storage({ ...s3, endpoint: 'http://127.0.0.1:1' })
  const acts = [
    () => storage.put(newKey(), new Blob(['x'])),
    () => storage.read(newKey()),
    () => storage.sizeOf(newKey()),
    () => storage.remove(newKey()),
  ]
  for (const act of acts) await expect(act()).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
})

test('storage by S3 without the bucket is an UPSTREAM_ERROR, not an absent blob', async () => {
  const storage = s3Storage({ ...s3, buckets: { 'chat-images': 'not-there' } })
  await expect(storage.put(newKey(), new Blob(['x']))).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  await expect(storage.read(newKey())).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
})

test('storage by S3 is given time for a large blob, and none for a small one', {
  ...heavy,
  timeout: 15_000,
}, async () => {
  const server = await answering(async (asked, answer) => {
    asked.resume()
    await new Promise((resolve) => setTimeout(resolve, 6_000))
    answer.end()
  })
  const storage = s3Storage({ ...s3, endpoint: server.endpoint })
  const [large, small] = [Buffer.alloc(5_000_000), Buffer.alloc(10)].map((bytes) =>
    storage.put(newKey(), new Blob([bytes])),
  )
  await Promise.all([expect(large).resolves.toBeUndefined(), expect(small).rejects.toMatchObject({ code: 'TIMEOUT' })])
  server.close()
})

test('a blob that storage by S3 stops to send ends, with its connection; one that its reader takes slowly does not', {
  ...heavy,
  timeout: 20_000,
}, async () => {
  const size = 1_000_000
  const closed: string[] = []
  const server = await answering((asked, answer) => {
    const name = asked.url?.match(/stops|slow/)?.[0] ?? ''
    asked.socket.on('close', () => closed.push(name))
    answer.writeHead(200, { 'content-length': size })
    if (name === 'stops') answer.write(Buffer.alloc(size / 2))
    else answer.end(Buffer.alloc(size))
  })
  const storage = s3Storage({ ...s3, endpoint: server.endpoint })
  const [stops, slow] = await Promise.all(
    ['stops', 'slow'].map((name) => storage.read(`chat-images/encrypted/0xabc/${name}`)),
  )
  if (!stops || !slow) throw new Error('No blobs')
  const begun = performance.now()
  await expect(buffer(stops.bytes)).rejects.toMatchObject({ code: 'TIMEOUT' })
  expect(performance.now() - begun).toBeLessThan(8_000)
  await expect.poll(() => closed).toContain('stops')
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  expect(await buffer(slow.bytes)).toHaveLength(size)
  server.close()
})

test('a blob of storage by S3 of which the answer does not say how long it is is no empty one', async () => {
  let closed = 0
  const server = await answering((asked, answer) => {
    asked.socket.on('close', () => closed++)
    answer.writeHead(200, { 'transfer-encoding': 'chunked' })
    if (asked.method === 'HEAD') answer.end()
    else answer.write('x')
  })
  const storage = s3Storage({ ...s3, endpoint: server.endpoint })
  await expect(storage.sizeOf(newKey())).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  await expect(storage.read(newKey())).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  await expect.poll(() => closed).toBeGreaterThan(0)
  server.close()
})

test('a reader that leaves in the middle of a blob ends its connection to storage by S3', async () => {
  let isClosed = false
  const server = await answering((asked, answer) => {
    asked.socket.on('close', () => {
      isClosed = true
    })
    answer.writeHead(200, { 'content-length': 1_000 }).write('x')
  })
  const found = await s3Storage({ ...s3, endpoint: server.endpoint }).read(newKey())
  found?.bytes.on('error', () => {}).destroy()
  await expect.poll(() => isClosed).toBe(true)
  server.close()
})

test('storage by S3 is given sixteen blobs at a time, and the others after them', async () => {
  const held: ServerResponse[] = []
  let isHeld = true
  const server = await answering((asked, answer) => {
    asked.resume()
    if (isHeld) held.push(answer)
    else answer.end()
  })
  const storage = s3Storage({ ...s3, endpoint: server.endpoint })
  const puts = Promise.all(Array.from({ length: 20 }, () => storage.put(newKey(), new Blob(['x']))))
  await expect.poll(() => held.length).toBe(16)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(held).toHaveLength(16)
  isHeld = false
  for (const answer of held) answer.end()
  await puts
  server.close()
})

async function answering(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

test('the stand-in for S3 lists in pages', async () => {
  for (const name of ['a', 'b']) await s3Storage(s3).put(`chat-images/pages/${name}.enc`, new Blob(['x']))
  const client = new S3Client({
    ...s3,
    credentials: { accessKeyId: s3.keyId, secretAccessKey: s3.secret },
    forcePathStyle: true,
  })
  const page = (ContinuationToken?: string) =>
    client.send(
      new ListObjectsV2Command({
        Bucket: 'chat-images',
        Prefix: 'pages/',
        MaxKeys: 1,
        ...(ContinuationToken && { ContinuationToken }),
      }),
    )
  const first = await page()
  const second = await page(first.NextContinuationToken)
  const keys = [first, second].map(({ Contents = [] }) => Contents.map(({ Key }) => Key))
  expect(keys).toEqual([['pages/a.enc'], ['pages/b.enc']])
  client.destroy()
})

test('storage by S3 lists what comes in pages', async () => {
  const keys = ['a/1.enc', 'a/2.enc', 'a/3.enc']
  const server = createServer((request, response) => {
    const after = new URL(request.url ?? '', 'http://s3').searchParams.get('start-after') ?? ''
    const at = keys.findIndex((key) => key > after)
    response.end(
      `<ListBucketResult><IsTruncated>${at < 2}</IsTruncated><Contents><Key>${keys[at]}</Key><Size>1</Size>
      <LastModified>2026-01-01T00:00:00Z</LastModified></Contents></ListBucketResult>`,
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const storage = s3Storage({ ...s3, endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  expect(await keysIn(storage, 'chat-images')).toEqual(keys.map((key) => `chat-images/${key}`))
  server.closeAllConnections()
  server.close()
})

test.each([
  '../../etc/passwd',
  'chat-images/../../x',
  'chat-images/./x',
  'chat-images/.hidden',
  '/chat-images/x',
  'chat-images//x',
  'chat-images/x/',
  'chat-images',
  'chat-images/x\u0000.enc',
  'chat-images/x%2f..',
  'chat-images/x\\y',
  `chat-images/${'x'.repeat(600)}`,
  'chat-images/ä.enc',
  '',
])('%s is no key', (key) => expect(isKey(key)).toBe(false))

test.each([
  ['chat-images/a.enc', 'application/octet-stream'],
  ['files/a.png', 'image/png'],
  ['files/a.svg', 'application/octet-stream'],
  ['files/a.html', 'application/octet-stream'],
  ['files/a.toString', 'application/octet-stream'],
  ['media/file/0xaa/1_a.YS5wZGY.pdf', 'application/pdf'],
])('%s is served as %s', (key, type) => expect(fileTypeOf(key)).toBe(type))

const keyOf = (name: string) => `media/file/0xaa/1795988940156_a.${namePart(name)}.bin`
test.each([
  ['media/chat/0xaa/1_a.png', 'attachment'],
  [keyOf('Plan for 2031.pdf'), 'attachment; filename="Plan for 2031.pdf"'],
  [
    keyOf('Übersicht (1).pdf'),
    `attachment; filename="_bersicht (1).pdf"; filename*=UTF-8''%C3%9Cbersicht%20%281%29.pdf`,
  ],
  [keyOf('100%41.pdf'), `attachment; filename="100_41.pdf"; filename*=UTF-8''100%2541.pdf`],
  [keyOf('a"\r\nX: b'), `attachment; filename="a___X: b"; filename*=UTF-8''a%22%0D%0AX%3A%20b`],
])('%s is downloaded by %s', (key, header) => expect(fileDispositionOf(key)).toBe(header))
