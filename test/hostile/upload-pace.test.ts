// Modes: embedded
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Person, person } from '#test/support/people'
import { dial } from '#test/support/raw-connection'
import { request } from './wire.ts'

let data: string
let server: Booted
let who: Person
const sockets: Socket[] = []
beforeAll(async () => {
  // The looks at what comes are this test's to make.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  data = await mkdtemp(join(tmpdir(), 'plaza-data-'))
  server = await boot({ environment: { DATA_DIR: data } })
  who = await person(server, 'sender')
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})
afterAll(async () => {
  await server.close()
  vi.useRealTimers()
  await rm(data, { recursive: true, force: true })
})

/** Files of which something was received and is not deleted yet. */
async function left(): Promise<string[]> {
  const spools = await readdir(join(data, 'receiving'))
  return (await Promise.all(spools.map((name) => readdir(join(data, 'receiving', name))))).flat()
}

const seconds = (many: number) => vi.advanceTimersByTime(many * 1_000)

/** What is sent and heard on a connection of its own. */
function sending(line: string, headers: readonly string[], begun: string) {
  const socket = dial(server.url)
  sockets.push(socket)
  const heard = { text: '', isClosed: false, socket }
  socket.on('data', (part) => {
    heard.text += part
  })
  socket.on('error', () => undefined)
  socket.on('close', () => {
    heard.isClosed = true
  })
  socket.write(request(line, headers, begun))
  return heard
}

const boundary = '\r\n--plaza--\r\n'
const head =
  '--plaza\r\nContent-Disposition: form-data; name="conversationId"\r\n\r\na\r\n' +
  '--plaza\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'
const upload = (bytes: number) =>
  sending(
    'POST /api/upload/image',
    [
      `Authorization: Bearer ${who.token}`,
      'Content-Type: multipart/form-data; boundary=plaza',
      `Content-Length: ${head.length + bytes + boundary.length}`,
    ],
    head,
  )

/** The server, which is of this process, has read what was sent. */
async function isRead(): Promise<void> {
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  while (sockets.some((socket) => !socket.closed && socket.writableLength > 0)) await turn()
  for (let turns = 0; turns < 20; turns++) await turn()
}

test('T23: a body that does not come is given up after twenty seconds, a file, JSON and a stranger’s alike', async () => {
  const file = upload(10_000_000)
  const json = sending('POST /api/auth/verify', ['Content-Type: application/json', 'Content-Length: 100'], '{')
  const chunked = sending('POST /api/auth/verify', ['Content-Type: application/json', 'Transfer-Encoding: chunked'], '')
  await isRead()
  seconds(19)
  await isRead()
  expect([file, json, chunked].map(({ isClosed }) => isClosed)).toEqual([false, false, false])
  const all = [file, json, chunked]
  // Looks at which the server was still busy with what had come do not count.
  for (let look = 0; look < looksAtMost && !all.every(({ isClosed }) => isClosed); look++) {
    seconds(1)
    await isRead()
  }
  for (const one of all) {
    await expect.poll(() => one.isClosed).toBe(true)
    expect(one.text).toMatch(/^HTTP\/1\.1 408 /)
  }
})

const looksAtMost = 60

test('T23: a file that comes drop by drop is given up as well, however fast it was before', async () => {
  const file = upload(5_000_000)
  file.socket.write(randomBytes(1_000_000))
  await isRead()
  seconds(20)
  for (let drop = 0; drop < 19; drop++) {
    file.socket.write(randomBytes(1_000))
    await isRead()
    seconds(1)
  }
  expect(file.isClosed).toBe(false)
  // Looks at which the server was still writing what had come do not count.
  for (let more = 0; more < looksAtMost && !file.isClosed; more++) {
    file.socket.write(randomBytes(1_000))
    await isRead()
    seconds(1)
  }
  await expect.poll(() => file.isClosed).toBe(true)
  expect(file.text).toMatch(/^HTTP\/1\.1 408 /)
  await expect.poll(left).toEqual([])
})

test(
  'T23: 10 MB over 512 kBit/s, with the line away for half of the time, is stored after more than two minutes',
  heavy,
  async () => {
    const bytes = 10_000_000
    const file = upload(bytes)
    let sent = 0
    let second = 0
    for (; sent < bytes; second++) {
      if (second % 20 < 10) {
        const next = Math.min(64_000, bytes - sent)
        await new Promise<void>((resolve) => file.socket.write(randomBytes(next), () => resolve()))
        sent += next
      }
      await isRead()
      seconds(1)
    }
    file.socket.write(boundary)
    await expect.poll(() => file.text).toMatch(/^HTTP\/1\.1 200 /)
    expect(second).toBeGreaterThan(240)
  },
)
