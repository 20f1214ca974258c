// Modes: embedded
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient, memoryStorage } from '#client/sdk/index'
import { localStorage } from '#server/ports/storage/local'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Person, person } from '#test/support/people'
import { pngOf } from '#test/support/pictures'
import { dial } from '#test/support/raw-connection'
import { request, sendBytes } from './wire.ts'

const megabyte = 1024 * 1024
const host = hostname().replace(/[^\w-]/g, '_')
/** No process has the first number, another has the second, and the third is on another machine. */
const leftBy = { dead: `${host}.999999999.a`, living: `${host}.${process.ppid}.a`, elsewhere: 'x.999999999.a' }
let folder: string
let data: string
let receiving: string
let server: Booted
let who: Person
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-multipart-'))
  data = await mkdtemp(join(tmpdir(), 'plaza-data-'))
  receiving = join(data, 'receiving')
  for (const name of Object.values(leftBy)) await mkdir(join(receiving, name), { recursive: true })
  await writeFile(join(receiving, leftBy.dead, 'half'), 'half')
  server = await boot({ environment: { DATA_DIR: data }, services: { storage: await localStorage(folder) } })
  who = await person(server, 'former')
})
afterAll(async () => {
  await server.close()
  for (const made of [folder, data]) await rm(made, { recursive: true, force: true })
})

interface Part {
  name: string
  value: string | Buffer
  /** As it stands within quotes; null: a field of text. */
  filename?: string | null
  headers?: string
}
interface Form {
  parts: Part[]
  boundary?: string
  end?: string
}

const bytesOf = ({ parts, boundary = 'plaza', end = `--${boundary}--\r\n` }: Form): Buffer =>
  Buffer.concat([
    ...parts.flatMap(({ name, value, filename = null, headers = '' }) => [
      Buffer.from(
        `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${filename === null ? '' : `; filename="${filename}"`}\r\n${headers}\r\n`,
      ),
      Buffer.from(value),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(end),
  ])

const headersOf = (boundary: string) => [
  `Authorization: Bearer ${who.token}`,
  `Content-Type: multipart/form-data; boundary="${boundary}"`,
]

const doors = {
  image: { path: '/api/upload/image', most: 10 * megabyte, seal: true },
  voice: { path: '/api/upload/voice', most: 10 * megabyte, seal: true },
  picture: { path: '/api/upload', most: 5 * megabyte, seal: false },
} as const
type Door = keyof typeof doors
const everywhere = Object.keys(doors) as Door[]
const sealed: readonly Door[] = ['image', 'voice']

const fileAt = (door: Door): Buffer => (doors[door].seal ? randomBytes(100) : pngOf())
const filePart = (door: Door, more: Partial<Part> = {}): Part => ({
  ...{ name: 'file', value: fileAt(door), filename: 'x' },
  ...more,
})
const conversation: Part = { name: 'conversationId', value: 'a' }
const withFile = (door: Door, ...more: Part[]): Form => ({ parts: [conversation, ...more, filePart(door)] })
const named = (filename: string) => (door: Door) => ({ parts: [conversation, filePart(door, { filename })] })
const field = (name: string, value: string) => (door: Door) => withFile(door, { name, value })
const sized = (door: Door, bytes: number): Form => ({
  parts: [conversation, filePart(door, { value: Buffer.concat([fileAt(door)], bytes) })],
})

async function send(door: Door, form: Form) {
  const body = bytesOf(form)
  const headers = [...headersOf(form.boundary ?? 'plaza'), `Content-Length: ${body.length}`]
  const { status, body: text } = await sendBytes(server.url, request(`POST ${doors[door].path}`, headers, body))
  const told = JSON.parse(text) as { error?: string; path?: string }
  return { ...told, outcome: status === 200 ? '200' : `${status} ${told.error}` }
}

const noFile = '400 file is required'
const unreadable = '400 The form could not be read'
const tooLong = (name: string) => `400 ${name}: too long, at most 512 bytes`
const notSealed = '400 file: not an encrypted file'
const noPicture =
  '415 file: not a JPEG, PNG, GIF or WebP image, nor a voice message (WebM, Ogg or MP4, as browsers record it)'
const unless = (door: Door, otherwise: string) => (doors[door].seal ? otherwise : noPicture)

/** The class of bad input, what is sent, what it is answered with, and where. */
const rows: [
  id: number,
  what: string,
  make: (door: Door) => Form,
  outcome: string | ((door: Door) => string),
  where?: readonly Door[],
][] = [
  [195, 'no file', () => ({ parts: [conversation] }), noFile],
  [195, 'nothing at all', () => ({ parts: [] }), noFile],
  [196, 'two files under one name', (door) => withFile(door, filePart(door)), unreadable],
  [196, 'two files under two names', (door) => withFile(door, filePart(door, { name: 'other' })), unreadable],
  [
    197,
    'the file under another name',
    (door) => ({ parts: [conversation, filePart(door, { name: 'blob' })] }),
    unreadable,
  ],
  [198, 'the file as text', () => ({ parts: [conversation, { name: 'file', value: 'text' }] }), noFile],
  [199, 'a file of nothing', (door) => sized(door, 0), (door) => unless(door, notSealed)],
  [199, 'a file too short for a vector and a tag', (door) => sized(door, 27), notSealed, sealed],
  [200, 'a file as long as it may be', (door) => sized(door, doors[door].most), '200'],
  [
    200,
    'a file of one byte more',
    (door) => sized(door, doors[door].most + 1),
    (door) => `413 A file may have at most ${doors[door].most} bytes`,
  ],
  [201, 'a name that climbs', named('../../etc/passwd'), '200'],
  [201, 'a name that climbs on Windows', named('..\\\\..\\\\boot.ini'), '200'],
  [201, 'a name with NUL', named('x\0.enc'), unreadable],
  [201, 'a name of 10 kB', named('x'.repeat(10_000)), '200'],
  [201, 'a name from right to left', named('\u202egpj.exe'), '200'],
  [201, 'no name', (door) => ({ parts: [conversation, filePart(door, { filename: null })] }), noFile],
  [202, 'a field for a long array', field('a[100000000]', 'x'), unreadable],
  [202, 'nested fields', field('a[b][c][d]', 'x'), unreadable],
  [202, '__proto__', field('__proto__', 'x'), '400'],
  [
    203,
    '1,000 parts',
    (door) => withFile(door, ...Array.from({ length: 1_000 }, (_, at) => ({ name: `f${at}`, value: '' }))),
    unreadable,
  ],
  [
    203,
    'one field more than any form has',
    (door) => withFile(door, ...['b', 'c', 'd', 'e', 'f'].map((name) => ({ name, value: '' }))),
    unreadable,
  ],
  [203, 'a field of 600 bytes', field('note', 'x'.repeat(600)), tooLong('note')],
  [203, 'the name of a field of 100 bytes', field('n'.repeat(100), 'x'), unreadable],
  [
    204,
    '2,000 headers of a part',
    (door) => ({ parts: [conversation, filePart(door, { headers: 'X-A: b\r\n'.repeat(2_000) })] }),
    unreadable,
  ],
  [
    205,
    'a header without a colon',
    (door) => ({ parts: [conversation, filePart(door, { headers: 'nonsense\r\n' })] }),
    unreadable,
  ],
  [206, 'no last boundary', (door) => ({ ...withFile(door), end: '' }), unreadable],
  [206, 'rubbish in the place of a form', () => ({ parts: [], end: 'rubbish' }), unreadable],
  [207, 'a boundary of 200 characters', (door) => ({ ...withFile(door), boundary: 'b'.repeat(200) }), '200'],
  [207, 'a boundary like a pattern', (door) => ({ ...withFile(door), boundary: '(.*)+[a-z]$' }), '200'],
  [
    208,
    'a form within the form, which is the file',
    (door) => ({
      parts: [
        conversation,
        filePart(door, {
          headers: 'Content-Type: multipart/mixed; boundary=inner\r\n',
          value: Buffer.concat([randomBytes(12), bytesOf({ parts: [filePart(door)], boundary: 'inner' })]),
        }),
      ],
    }),
    (door) => unless(door, '200'),
  ],
  [
    209,
    'base64, which is not decoded',
    (door) => ({
      parts: [
        conversation,
        filePart(door, {
          headers: 'Content-Transfer-Encoding: base64\r\n',
          value: fileAt(door).toString('base64'),
        }),
      ],
    }),
    (door) => unless(door, '200'),
  ],
  ...['-1', '1e9', 'abc', '1.5', '1234567890', ''].map((value): (typeof rows)[number] => [
    212,
    `a duration of "${value}"`,
    field('duration', value),
    '400',
    ['voice'],
  ]),
  ...['text/html', 'image/svg+xml', 'image/png]http://evil.example', ''].map((value): (typeof rows)[number] => [
    213,
    `the type "${value}"`,
    field('originalType', value),
    '400 originalType: not an image',
    ['image'],
  ]),
  [213, 'a type of 10 kB', field('originalType', 'x'.repeat(10_000)), tooLong('originalType'), ['image']],
  [214, 'no conversation', (door) => ({ parts: [filePart(door)] }), '400 conversationId is required', sealed],
  [
    214,
    'a conversation without an id',
    (door) => ({ parts: [{ name: 'conversationId', value: '' }, filePart(door)] }),
    '400',
    sealed,
  ],
  [
    214,
    'a conversation of 64 kB',
    (door) => ({ parts: [{ name: 'conversationId', value: 'x'.repeat(65_536) }, filePart(door)] }),
    tooLong('conversationId'),
    sealed,
  ],
  [214, 'two conversations', (door) => withFile(door, conversation), '400', sealed],
  [
    214,
    'a conversation that is a file',
    (door) => ({ parts: [filePart(door, { name: 'conversationId' }), filePart(door)] }),
    unreadable,
    sealed,
  ],
]

const cases = rows.flatMap(([id, what, make, outcome, where = everywhere]) =>
  where.map((door) => ({ id, what, door, make, wanted: typeof outcome === 'string' ? outcome : outcome(door) })),
)

/** What was received and is not deleted yet. */
async function left(): Promise<string[]> {
  const spools = (await readdir(receiving)).filter((name) => name.startsWith(`${host}.${process.pid}.`))
  const received = await Promise.all(spools.map((name) => readdir(join(receiving, name)).catch(() => [])))
  return [...received.flat(), ...(await readdir(join(folder, '.unfinished')))]
}

test('T23: what a process that died was receiving is removed at the next start', async () => {
  const names = await readdir(receiving)
  expect(names).not.toContain(leftBy.dead)
  expect(names).toEqual(expect.arrayContaining([leftBy.living, leftBy.elsewhere]))
})

describe('T23: forms of uploads, class by class', () => {
  test.each(cases)('$id: $what ($door)', async ({ door, make, wanted }) => {
    const begun = performance.now()
    const { outcome, path = '' } = await send(door, make(door))
    expect(outcome.startsWith('4') && !wanted.includes(' ') ? outcome.slice(0, 3) : outcome).toBe(wanted)
    if (outcome === '200') expect(path).toMatch(/^[a-z-]+\/0x[0-9a-f]{40}\/(YQ\/)?\d{13}_[0-9a-z]{25}\.(enc|png)$/)
    expect(performance.now() - begun).toBeLessThan(20_000)
    await expect.poll(left).toEqual([])
  })

  test.each(everywhere)('210: a form that is cut off by a reset leaves nothing (%s)', async (door) => {
    const body = bytesOf({ parts: [conversation, filePart(door, { value: randomBytes(megabyte) })] })
    const socket = dial(server.url)
    socket.on('error', () => {})
    const headers = [...headersOf('plaza'), `Content-Length: ${body.length}`]
    socket.write(request(`POST ${doors[door].path}`, headers, body.subarray(0, megabyte / 2)))
    await expect.poll(async () => (await left()).length).toBe(1)
    socket.resetAndDestroy()
    await expect.poll(left).toEqual([])
  })

  test.each(everywhere)(
    '211: a form that comes byte by byte keeps nobody else waiting, and leaves nothing (%s)',
    async (door) => {
      const body = bytesOf(withFile(door))
      const socket = dial(server.url)
      socket.on('error', () => {})
      const headers = [...headersOf('plaza'), `Content-Length: ${body.length}`]
      const at = body.indexOf('filename=') + 20
      socket.write(request(`POST ${doors[door].path}`, headers, body.subarray(0, at)))
      let sent = at
      const drip = setInterval(() => socket.write(body.subarray(sent, ++sent)), 50)
      await expect.poll(async () => (await left()).length).toBe(1)
      const begun = performance.now()
      expect((await send(door, withFile(door))).outcome).toBe('200')
      expect(performance.now() - begun).toBeLessThan(20_000)
      clearInterval(drip)
      socket.destroy()
      await expect.poll(left).toEqual([])
    },
  )

  test.each([
    ['a form that says so', '/api/upload', 'multipart/form-data; boundary=plaza', ''],
    ['JSON that says so', '/api/pixel-art/upload', 'application/json', '{"imageData":"'],
  ])('200: 1 GB is refused before it is sent: %s', async (_what, path, type, begun) => {
    const headers = [`Authorization: Bearer ${who.token}`, `Content-Type: ${type}`, 'Content-Length: 1073741824']
    const answer = await sendBytes(
      server.url,
      request(`POST ${path}`, headers, begun)
        .toString()
        .replace(/Connection: close\r\n/, ''),
    )
    expect([answer.status, answer.headers.connection]).toEqual([413, 'close'])
    expect(answer.body).toContain('PAYLOAD_TOO_LARGE')
    await expect.poll(left).toEqual([])
  })

  test.each([
    ['before it is sent', ['Content-Length: 11534336'], ''],
    ['while it comes without a length', ['Transfer-Encoding: chunked'], 'x'.repeat(10 * megabyte + 1)],
  ])('200: a file beyond the limit of its account is refused %s', async (_when, length, value) => {
    const form = bytesOf({ parts: [{ name: 'name', value: 'a.bin' }, filePart('picture', { value })], end: '' })
    const begun = value === '' ? form : Buffer.concat([Buffer.from(`${form.length.toString(16)}\r\n`), form])
    const asked = request('POST /api/upload/file', [...headersOf('plaza'), ...length], begun)
      .toString('latin1')
      .replace(/Connection: close\r\n/, '')
    const answer = await sendBytes(server.url, Buffer.from(asked, 'latin1'))
    expect([answer.status, answer.headers.connection]).toEqual([413, 'close'])
    expect(answer.body).toContain('Your account may send files of at most 10 MB')
    expect(answer.body).toContain('"most_bytes":10485760')
    await expect.poll(left).toEqual([])
  })

  test.each([
    ['a file that is too long', 413, [filePart('picture', { value: Buffer.alloc(5 * megabyte + 1) })]],
    ['two files', 400, [filePart('picture'), filePart('picture')]],
    ['more fields than any form has', 400, ['b', 'c', 'd', 'e', 'f', 'g'].map((name) => ({ name, value: '' }))],
    ['a file under another name', 400, [filePart('picture', { name: 'blob' })]],
  ])('203: a form that goes on is refused while it does: %s', async (_what, status, parts) => {
    const headers = [...headersOf('plaza'), 'Transfer-Encoding: chunked']
    const body = bytesOf({ parts: [...parts, filePart('picture', { name: 'rest' })], end: '' })
    const chunk = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')])
    const asked = request('POST /api/upload', headers, chunk)
      .toString('latin1')
      .replace(/Connection: close\r\n/, '')
    const answer = await sendBytes(server.url, Buffer.from(asked, 'latin1'))
    expect([answer.status, answer.headers.connection]).toEqual([status, 'close'])
    await expect.poll(left).toEqual([])
  })

  test('200: whoever sends three times too much is told so, by `fetch` and by the SDK, each time', heavy, async () => {
    const [file, url] = [new Blob([Buffer.alloc(30 * megabyte)]), server.url]
    const headers = { authorization: `Bearer ${who.token}` }
    const client = createClient({ url, token: who.token, transport: 'rest', storage: memoryStorage() })
    for (let run = 0; run < 20; run++) {
      const body = new FormData()
      body.set('conversationId', 'a')
      body.set('file', file)
      const answer = await fetch(`${url}/api/upload/image`, { method: 'POST', headers, body })
      expect(`${answer.status} ${await answer.text()}`).toMatch(/^413 .*PAYLOAD_TOO_LARGE/)
      const sent = client.uploads.image({ file: new File([file], 'x'), conversationId: 'a' })
      await expect(sent).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
    }
    client.close()
  })

  test('200: what comes after the answer is read, and not without end', heavy, async () => {
    // It goes on sending after the server has ended its side.
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(server.url).port), allowHalfOpen: true })
    let heard = ''
    let sent = 0
    socket.on('data', (part) => {
      heard += part
    })
    socket.on('error', () => undefined)
    const headers = [...headersOf('plaza'), 'Content-Length: 1073741824']
    socket.write(request('POST /api/upload', headers))
    const piece = Buffer.alloc(megabyte)
    while (!socket.destroyed && sent < 1_024) {
      sent++
      await new Promise<void>((resolve) => socket.write(piece, () => resolve()))
    }
    expect(heard).toMatch(/^HTTP\/1\.1 413 /)
    expect(sent).toBeGreaterThan(60)
    expect(sent).toBeLessThan(100)
  })
})
