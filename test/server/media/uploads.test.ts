// Modes: embedded
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import {
  commitTo,
  createClient,
  decryptMedia,
  isCommittedTo,
  mediaIn,
  memoryStorage,
  uploadImage,
  uploadVoice,
} from '#client/sdk/index'
import { UploadRecords } from '#server/domains/media/files/model'
import { localStorage } from '#server/ports/storage/local'
import type { Storage } from '#server/ports/storage/port'
import { uploads } from '#shared/api/media/uploads'
import { messages } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { channelOf, outcomeOf, over, type Person, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'

const quotaMegabytes = 40
const megabyte = 1024 * 1024
let folder: string
let files: Storage
let server: Booted
let who: Person
let admin: Person
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-files-'))
  files = await localStorage(folder)
  server = await boot({
    environment: { UPLOAD_QUOTA_MB: `${quotaMegabytes}`, ADMINS: wallet('admin').address },
    services: { storage: files },
  })
  who = await person(server, 'uploader')
  admin = await person(server, 'admin')
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

type Fields = Record<string, string | Blob>
const encrypted = (bytes = 1_000) => new Blob([randomBytes(bytes)])
const formOf = (fields: Fields) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields))
    value instanceof Blob ? form.set(name, value, '../../etc/passwd') : form.set(name, value)
  return form
}
const upload = async (what: 'image' | 'voice', fields: Fields, { token, url }: Pick<Person, 'token' | 'url'> = who) => {
  const response = await fetch(`${url}/api/upload/${what}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: formOf(fields),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
/** Begins an upload, and leaves in the midst of it. */
async function breakOff(): Promise<void> {
  const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
  const asked = request(`${who.url}/api/upload/image`, {
    method: 'POST',
    headers: { authorization: `Bearer ${who.token}`, 'content-type': 'multipart/form-data; boundary=b' },
  }).on('error', () => {})
  asked.write(head)
  asked.write(randomBytes(200_000), () => asked.destroy())
  await new Promise((resolve) => asked.once('close', resolve))
}
/** Received files that this process has open, or has on its disk. */
async function spooled(): Promise<string[]> {
  const open = await readdir('/proc/self/fd').catch(() => [])
  const targets = await Promise.all(open.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
  return targets.filter((target) => target.includes('/receiving/'))
}
/** Where a file is served by the server under test, whatever its public address says. */
const served = (url: string) => `${server.url}${new URL(url).pathname}`

test('the status says below which address media lie', async () => {
  expect(await (await fetch(`${server.url}/api/status`)).json()).toMatchObject({
    media: 'http://localhost:3000/files/',
  })
})

describe('an encrypted file', () => {
  test.each([
    ['image', { originalType: 'image/png' }, { originalType: 'image/png' }, 'chat-images', 'encrypted'],
    ['image', {}, { originalType: 'image/jpeg' }, 'chat-images', 'encrypted'],
    ['image', { originalType: 'image/bmp' }, { originalType: 'image/bmp' }, 'chat-images', 'encrypted'],
    ['voice', { duration: '7' }, { duration: 7 }, 'chat-voice', 'voice'],
    ['voice', { duration: '7200' }, { duration: 7_200 }, 'chat-voice', 'voice'],
    ['voice', {}, { duration: 0 }, 'chat-voice', 'voice'],
  ] as const)(
    '%s with %j is stored as document 3 says, and served byte by byte',
    async (what, given, told, bucket, place) => {
      const file = encrypted()
      const { status, body } = await upload(what, { file, conversationId: 'dm:0xabc:0xdef', ...given })
      expect(status, JSON.stringify(body)).toBe(200)
      const { url, path, ...rest } = uploads[what].output.parse(body)
      expect(rest).toEqual(told)
      expect(path).toMatch(new RegExp(`^${place}/${who.account.toLowerCase()}/ZG06MHhh/\\d{13}_[0-9a-z]{25}\\.enc$`))
      expect(url).toBe(`http://localhost:3000/files/${bucket}/${path}`)
      const response = await fetch(served(url))
      expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(await file.arrayBuffer()))
    },
  )

  test('T24: is served so that nothing of it can run', async () => {
    const script = new Blob(['<script>alert(1)</script><svg onload=alert(1)>'.padEnd(100)])
    const { body } = await upload('image', { file: script, conversationId: 'a' })
    const { headers } = await fetch(served(body.url as string))
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'public, max-age=31536000, immutable',
      'access-control-allow-origin': '*',
      'x-robots-tag': 'none',
    })
  })

  test('is served in parts, and not again to who has it', async () => {
    const file = encrypted(1_000)
    const bytes = Buffer.from(await file.arrayBuffer())
    const { body } = await upload('image', { file, conversationId: 'a' })
    const ask = (headers: Record<string, string>, method = 'GET') =>
      fetch(served(body.url as string), { headers, method })
    const part = await ask({ range: 'bytes=10-19' })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 10-19/1000'])
    expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(10, 20))
    const last = await ask({ range: 'bytes=-5' })
    expect(Buffer.from(await last.arrayBuffer())).toEqual(bytes.subarray(-5))
    const none = await ask({ range: 'bytes=5-2' })
    expect([none.status, none.headers.get('content-length')]).toEqual([200, '1000'])
    for (const range of ['bytes=-1000', 'bytes=-1001', 'bytes=-99999999999999999999', 'bytes=0-99999999999999999999']) {
      const whole = await ask({ range })
      expect([whole.status, whole.headers.get('content-range')]).toEqual([206, 'bytes 0-999/1000'])
      expect(Buffer.from(await whole.arrayBuffer())).toEqual(bytes)
    }
    for (const range of ['bytes=1000-', 'bytes=-0']) {
      const { status, headers } = await ask({ range })
      expect([status, headers.get('content-range')]).toEqual([416, 'bytes */1000'])
      expect([headers.get('cache-control'), headers.get('etag')]).toEqual(['no-store', null])
    }
    const head = await ask({}, 'HEAD')
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '1000', ''])
    expect((await ask({ 'if-none-match': head.headers.get('etag') ?? '', 'cache-control': 'max-age=0' })).status).toBe(
      304,
    )
  })

  test.each([
    [502, new AppError('UPSTREAM_ERROR')],
    [404, null],
  ])('answers %i to be asked for again, where the storage fails while it is read', async (status, failure) => {
    const { body } = await upload('image', { file: encrypted(), conversationId: 'a' })
    const read = vi.spyOn(files, 'read')
    if (failure) read.mockRejectedValueOnce(failure)
    else read.mockResolvedValueOnce(null)
    const answer = await fetch(served(body.url as string))
    read.mockRestore()
    expect(answer.status).toBe(status)
    for (const header of ['etag', 'content-range', 'content-disposition']) expect(answer.headers.get(header)).toBeNull()
    expect(answer.headers.get('cache-control') ?? '').not.toContain('immutable')
    expect((await fetch(served(body.url as string))).status).toBe(200)
  })

  test('is named by a message of its sender alone, over both doors', async () => {
    const other = await person(server, 'another')
    const room = await channelOf(who, other)
    const { body } = await upload('image', { file: encrypted(), conversationId: 'a' })
    const text = `[ENC_IMAGE:image/jpeg]${body.url}`
    for (const door of over) {
      expect(outcomeOf(await who.tries(door, messages.send, { room, text }))).toBe('200')
      expect(outcomeOf(await other.tries(door, messages.send, { room, text }))).toBe('400 INVALID_PARAMETER')
    }
  })

  test('is stored once for a key; another file with the key is refused', async () => {
    const [file, another] = [encrypted(), encrypted()]
    const asked = { file, conversationId: 'once', idempotency_key: 'one' }
    const first = await upload('image', asked)
    expect(first.status).toBe(200)
    expect(await upload('image', asked)).toEqual(first)
    expect((await upload('image', { ...asked, file: another })).status).toBe(409)
  })

  test('is refused where its vector was used in the conversation before', async () => {
    const vector = randomBytes(12)
    const begun = () => new Blob([vector, randomBytes(100)])
    const statuses = []
    for (const conversationId of ['one', 'one', 'two'])
      statuses.push((await upload('image', { file: begun(), conversationId })).status)
    expect(statuses).toEqual([200, 409, 200])
  })

  test('is answered with the same URL where it is uploaded again, and stored then where it was not', async () => {
    const asked = { file: encrypted(), conversationId: 'again' }
    const put = vi.spyOn(files, 'put').mockRejectedValueOnce(new AppError('UPSTREAM_ERROR'))
    expect((await upload('image', asked)).status).toBe(502)
    put.mockRestore()
    const { status, body } = await upload('image', asked)
    expect([status, await files.sizeOf(`chat-images/${body.path}`)]).toEqual([200, 1_000])
    expect((await upload('image', asked)).body).toEqual(body)
    const another = await person(server, 'copying')
    expect((await upload('image', asked, another)).status).toBe(409)
    expect((await upload('voice', { ...asked })).status).toBe(409)
  })

  test('of which the storage has half is stored whole where it is uploaded again', async () => {
    const asked = { file: encrypted(), conversationId: 'half' }
    const { put: keep } = files
    const put = vi.spyOn(files, 'put').mockImplementationOnce(async (key, blob) => {
      await keep(key, blob.slice(0, 500))
      throw new AppError('UPSTREAM_ERROR')
    })
    expect((await upload('image', asked)).status).toBe(502)
    put.mockRestore()
    const { status, body } = await upload('image', asked)
    expect([status, await files.sizeOf(`chat-images/${body.path}`)]).toEqual([200, 1_000])
  })

  test('that the storage has lost is stored anew where it is uploaded again', async () => {
    const asked = { file: encrypted(), conversationId: 'lost' }
    const { body } = await upload('image', asked)
    const key = `chat-images/${body.path}`
    await files.remove(key)
    expect((await upload('image', asked)).body).toEqual(body)
    expect(await files.sizeOf(key)).toBe(1_000)
  })

  test(
    'is stored also where whoever sent it is gone before the answer, and its place is held by who writes it alone',
    heavy,
    async () => {
      const { put: keep } = files
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      const put = vi.spyOn(files, 'put').mockImplementationOnce(async (key, blob) => {
        await held
        await keep(key, blob)
      })
      const cut = new AbortController()
      const body = formOf({ file: encrypted(), conversationId: 'gone' })
      const headers = { authorization: `Bearer ${who.token}` }
      const asked = fetch(`${who.url}/api/upload/image`, { method: 'POST', headers, body, signal: cut.signal })
      await expect.poll(() => put.mock.calls.length).toBe(1)
      const [key = ''] = put.mock.calls[0] ?? []
      const heldUntil = async () => Number((await UploadRecords.findOne({ _id: key }).lean())?.held_until)
      const before = await heldUntil()
      expect(before - Date.now()).toBeLessThan(15_000)
      await expect.poll(heldUntil).toBeGreaterThan(before)
      cut.abort()
      await expect(asked).rejects.toThrow()
      await new Promise((resolve) => setTimeout(resolve, 300))
      release()
      await expect.poll(() => files.sizeOf(key)).toBe(1_000)
      await expect.poll(heldUntil).toBeNaN()
      put.mockRestore()
    },
  )

  test('P23: is stored whole beside nineteen others and some that break off, of which nothing stays', async () => {
    const broken = Array.from({ length: 8 }, () => breakOff())
    const all = Array.from({ length: 20 }, () => encrypted(300_000))
    const eager = await person(server, 'eager')
    const answers = await Promise.all(all.map((file) => upload('image', { file, conversationId: 'many' }, eager)))
    for (const [at, { status, body }] of answers.entries()) {
      expect(status, JSON.stringify(body)).toBe(200)
      const stored = Buffer.from(await (await fetch(served(body.url as string))).arrayBuffer())
      expect(stored.equals(Buffer.from(await (all[at] as Blob).arrayBuffer()))).toBe(true)
    }
    await Promise.all(broken)
    await expect.poll(spooled).toEqual([])
  })

  test.each(['image', 'voice'] as const)(
    'of a suspended person, or while the storage is away, is refused: %s',
    async (what) => {
      const banned = await person(server, `banned ${what}`)
      const asked = { file: encrypted(), conversationId: 'refused' }
      for (const code of ['UPSTREAM_ERROR', 'TIMEOUT'] as const) {
        const put = vi.spyOn(files, 'put').mockRejectedValueOnce(new AppError(code))
        expect((await upload(what, asked, banned)).body.code).toBe(code)
        put.mockRestore()
      }
      const updates = { is_banned: true, ban_reason: 'Spam' }
      await admin.rest('PATCH /api/admin/users', { userAddress: banned.account, updates })
      await expect.poll(async () => (await upload(what, asked, banned)).body.code).toBe('SUSPENDED')
    },
  )

  test('T56: is named by at least 128 random bits', async () => {
    const names = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { body } = await upload('image', { file: encrypted(50), conversationId: 'same' })
        return String(body.path).split('_').at(-1)
      }),
    )
    expect(new Set(names).size).toBe(20)
    expect(25 * Math.log2(36)).toBeGreaterThan(128)
  })

  test('T56: lies apart from those of a conversation whose id begins alike, as the path tells six bytes of it alone', async () => {
    const ids = ['dm:0xabc:one', 'dm:0xabc:two', 'dm:0xa']
    const file = encrypted()
    const answers = await Promise.all(ids.map((conversationId) => upload('image', { file, conversationId })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const paths = answers.map(({ body }) => String(body.path))
    expect(new Set(paths).size).toBe(3)
    expect(new Set(paths.map((path) => path.split('/').at(-2)))).toEqual(new Set(['ZG06MHhh']))
  })
})

describe('by the SDK', () => {
  const key = new Uint8Array(randomBytes(32))
  const clientOf = () => createClient({ url: who.url, token: who.token, transport: 'rest', storage: memoryStorage() })

  test('an image is sealed, stored, named by a message, and opened by who has the key', async () => {
    const client = clientOf()
    const image = new Blob(['a picture'], { type: 'image/png' })
    const { marker } = await uploadImage(client, { image, key, conversationId: 'sdk' })
    const room = await channelOf(who)
    const { message } = await who.does('rest', messages.send, { room, text: marker })
    const named = mediaIn(message.content)
    if (named?.kind !== 'image') throw new Error(`No image: ${message.content}`)
    expect(named.type).toBe('image/png')
    const sealed = await (await fetch(served(named.url))).blob()
    expect(await sealed.text()).not.toContain('a picture')
    const opened = await decryptMedia(sealed, key, 'image/png')
    expect([await opened.text(), opened.type]).toEqual(['a picture', 'image/png'])
    client.close()
  })

  test('a voice message has its seconds; an upload that is aborted rejects', async () => {
    const client = clientOf()
    const asked = { voice: new Blob(['a voice']), seconds: 4.4, key, conversationId: 'sdk' }
    expect(mediaIn((await uploadVoice(client, asked)).marker)).toMatchObject({ kind: 'voice', seconds: 4 })
    const aborted = { name: 'AbortError', constructor: DOMException }
    await expect(uploadVoice(client, asked, { signal: AbortSignal.abort() })).rejects.toMatchObject(aborted)
    const put = vi.spyOn(files, 'put').mockImplementationOnce(() => new Promise(() => {}))
    const leaving = new AbortController()
    const sent = uploadVoice(client, asked, { signal: leaving.signal })
    await expect.poll(() => put.mock.calls.length).toBe(1)
    leaving.abort()
    await expect(sent).rejects.toMatchObject(aborted)
    put.mockRestore()
    client.close()
  })
})

describe('a commitment', () => {
  const salted = (salt: string, plain: string) =>
    createHash('sha256').update(Buffer.from(salt, 'hex')).update(plain).digest('hex')

  test('of the SDK is kept with the file, and shows what was sent, and that nothing else was', async () => {
    const client = createClient({ url: who.url, token: who.token, transport: 'rest', storage: memoryStorage() })
    const [key, data] = [new Uint8Array(randomBytes(32)), new Blob(['a threat'])]
    const { url, salt } = await uploadImage(client, { image: data, key, conversationId: 'report' })
    expect(await client.uploads.commitment({ url })).toMatchObject({
      commitment: salted(salt, 'a threat'),
      sender: who.account,
    })
    expect(await isCommittedTo(client, { url, salt, data })).toBe(true)
    const { salt: other } = await commitTo(data)
    for (const changed of [{ data: new Blob(['a thread']) }, { salt: other }, { salt: `${salt}00` }, { salt: 'x' }])
      expect(await isCommittedTo(client, { url, salt, data, ...changed })).toBe(false)
    const voice = await uploadVoice(client, { voice: data, seconds: 1, key, conversationId: 'report' })
    expect(await isCommittedTo(client, { url: voice.url, salt: voice.salt, data })).toBe(true)
    client.close()
  })

  test('is null where there was none, also of a file that older versions stored', async () => {
    const { body } = await upload('image', { file: encrypted(), conversationId: 'none' })
    const asked = () => who.rest(`GET /api/upload/commitment?url=${encodeURIComponent(String(body.url))}`)
    expect((await asked()).body).toMatchObject({ commitment: null, sender: who.account })
    const gone = await who.rest('GET /api/upload/commitment?url=http://localhost:3000/files/media/x/y')
    expect([gone.status, gone.body.code]).toEqual([404, 'NOT_FOUND'])
  })

  test.each([
    ['not stored yet', { $unset: { stored_at: 1 } }],
    ['being removed', { $set: { taken_at: new Date() } }],
  ])('is not told of a file that is %s', async (what, change) => {
    const { body } = await upload('image', { file: encrypted(), conversationId: what, commitment: 'a'.repeat(64) })
    await UploadRecords.updateOne({ url: String(body.url) }, change)
    const asked = await who.rest(`GET /api/upload/commitment?url=${encodeURIComponent(String(body.url))}`)
    expect([asked.status, asked.body.code]).toEqual([404, 'NOT_FOUND'])
  })

  test('cannot be changed afterwards by the same upload', async () => {
    const fields = { file: encrypted(), conversationId: 'twice' }
    const [one, other] = ['a', 'b'].map((digit) => digit.repeat(64)) as [string, string]
    const first = await upload('image', { ...fields, commitment: one.toUpperCase() })
    expect(await upload('image', { ...fields, commitment: one })).toEqual(first)
    for (const changed of [{ commitment: other }, {}])
      expect((await upload('image', { ...fields, ...changed })).status).toBe(409)
    const { body } = await who.rest(`GET /api/upload/commitment?url=${encodeURIComponent(String(first.body.url))}`)
    expect(body.commitment).toBe(one)
  })

  test.each(['', 'x', 'a'.repeat(63), 'a'.repeat(65), 'g'.repeat(64)])('%j is refused', async (commitment) => {
    for (const what of ['image', 'voice'] as const) {
      const { status, body } = await upload(what, { file: encrypted(), conversationId: 'a', commitment })
      expect(`${status} ${body.error}`).toBe('400 commitment: 64 hexadecimal digits')
    }
  })
})

describe('T23: an upload is refused', () => {
  test('of somebody who is not signed in, whose body is not read', async () => {
    const stranger = { token: 'x', url: server.url }
    const { status, body } = await upload('image', { file: encrypted(), conversationId: 'a' }, stranger)
    expect([status, body.code]).toEqual([401, 'SESSION_INVALID'])
  })

  test.each([
    ['application/json', '{}'],
    ['application/octet-stream', 'x'],
    ['application/x-www-form-urlencoded', 'a=1'],
  ])('as %s', async (type, sent) => {
    const headers = { authorization: `Bearer ${who.token}`, 'content-type': type }
    const response = await fetch(`${who.url}/api/upload/image`, { method: 'POST', headers, body: sent })
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([400, 'VALIDATION_ERROR'])
  })

  test.each(['image', 'voice'] as const)('as of another account (%s)', async (what) => {
    const asked = { file: encrypted(), conversationId: 'a' }
    const { status } = await upload(what, { ...asked, userAddress: wallet('somebody').address })
    expect(status).toBe(403)
    expect((await upload(what, { ...asked, userAddress: who.account })).status).toBe(200)
  })

  test('never while there is room, where the first of a day are made at once', async () => {
    const eager = await person(server, 'eager uploader')
    const at = Array.from({ length: 12 }, (_, nth) => ({ file: encrypted(), conversationId: `${nth}` }))
    const answers = await Promise.all(at.map((fields) => upload('image', fields, eager)))
    expect(answers.map(({ status }) => status)).toEqual(at.map(() => 200))
  })

  test(
    'past what a day allows, with the time until the next, on which yesterday counts no more; the others are not',
    heavy,
    async () => {
      const greedy = await person(server, 'greedy')
      const asked = { conversationId: 'a' }
      const ten = () => upload('image', { ...asked, file: encrypted(10 * megabyte - 1_000) }, greedy)
      const statuses = (await Promise.all(Array.from({ length: 6 }, ten))).map(({ status }) => status)
      expect(statuses.filter((status) => status === 200)).toHaveLength(4)
      const { status, body } = await ten()
      expect([status, body.code, Number(body.retryAfter) > 0]).toEqual([429, 'RATE_LIMIT_EXCEEDED', true])
      expect(await UploadRecords.countDocuments({ owner: greedy.account })).toBe(4)
      expect((await upload('image', { ...asked, file: encrypted() })).status).toBe(200)
      const untilTomorrow = Number(body.retryAfter)
      server.setAhead(untilTomorrow - 30)
      expect((await ten()).status).toBe(429)
      server.setAhead(untilTomorrow)
      expect((await ten()).status).toBe(200)
      server.setAhead(0)
    },
  )
})

test.each([
  'chat-images',
  'chat-images/',
  'chat-images/../../package.json',
  'chat-images/%2e%2e/%2e%2e/package.json',
  'chat-images/..%2f..%2fpackage.json',
  '.unfinished/x',
  'chat-images/encrypted/nothing.enc',
])('T24: there is no file %s', async (path) => {
  const response = await fetch(`${server.url}/files/${path}`)
  expect([response.status, response.headers.get('cache-control')]).toEqual([
    404,
    expect.not.stringContaining('immutable'),
  ])
})
