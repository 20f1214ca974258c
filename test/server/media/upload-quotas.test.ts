// Modes: embedded
import { randomBytes } from 'node:crypto'
import type { StatsFs } from 'node:fs'
import fs, { mkdtemp, readdir, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { UploadQuotas } from '#server/domains/media/files/model'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Person, person } from '#test/support/people'

const megabyte = 1024 * 1024
let server: Booted
let data = ''
afterEach(async () => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  await server.close()
  vi.useRealTimers()
  if (data !== '') await rm(data, { recursive: true, force: true })
})

const upload = async ({ token, url }: Person, file = randomBytes(megabyte - 1_000)) => {
  const body = new FormData()
  body.set('conversationId', 'a')
  body.set('file', new File([file], 'x'))
  const headers = { authorization: `Bearer ${token}` }
  const answer = await fetch(`${url}/api/upload/image`, { method: 'POST', headers, body })
  const { code = '', retryAfter = 0 } = (await answer.json()) as { code?: string; retryAfter?: number }
  return { outcome: `${answer.status} ${code}`.trim(), retryAfter }
}
const outcomes = async (who: Person, times: number) => {
  const all = []
  for (let at = 0; at < times; at++) all.push((await upload(who)).outcome)
  return all
}

test('T23: an account that is younger than a day may upload less', heavy, async () => {
  server = await boot({ environment: { STORAGE_RESERVE_MB: '0', UPLOAD_QUOTA_MB: '3', UPLOAD_QUOTA_NEW_MB: '1' } })
  const young = await person(server, 'young')
  expect(await outcomes(young, 2)).toEqual(['200', '429 RATE_LIMIT_EXCEEDED'])
  server.setAhead(86_400)
  const older = await person(server, 'young')
  expect(await outcomes(older, 4)).toEqual(['200', '200', '200', '429 RATE_LIMIT_EXCEEDED'])
})

test(
  'T23: from one address all accounts together may upload so much, and what is refused counts for nobody',
  heavy,
  async () => {
    server = await boot({ environment: { STORAGE_RESERVE_MB: '0', UPLOAD_QUOTA_ADDRESS_MB: '2' } })
    const [one, two, three] = [await person(server, 'one'), await person(server, 'two'), await person(server, 'three')]
    expect([...(await outcomes(one, 1)), ...(await outcomes(two, 1))]).toEqual(['200', '200'])
    const { outcome, retryAfter } = await upload(three)
    expect([outcome, retryAfter > 0]).toEqual(['429 RATE_LIMIT_EXCEEDED', true])
    const rows = await UploadQuotas.find({}).lean()
    expect(rows.filter(({ _id }) => _id.startsWith(three.account)).map(({ bytes }) => bytes)).toEqual([0])
    server.setAhead(86_400)
    expect(await outcomes(await person(server, 'three'), 1)).toEqual(['200'])
  },
)

test('T23: an upload that would leave less than the reserve of the disk is refused, and counts for nobody', async () => {
  server = await boot({ environment: { STORAGE_RESERVE_MB: '1000000000' } })
  expect(await outcomes(await person(server, 'late'), 1)).toEqual(['503 SERVICE_UNAVAILABLE'])
  expect((await UploadQuotas.find({}).lean()).filter(({ bytes }) => bytes > 0)).toEqual([])
})

/** Uploads that stop within their file, with as many bytes as they say, or without saying so. */
function begun({ token, url }: Person, bytes: number | null) {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'multipart/form-data; boundary=b',
    ...(bytes === null ? {} : { 'content-length': bytes }),
  }
  const asked = request(`${url}/api/upload/image`, { method: 'POST', headers }).on('error', () => {})
  const status = new Promise<number>((resolve) => {
    asked.once('response', (answer) => resolve(answer.resume().statusCode ?? 0)).once('close', () => resolve(0))
  })
  asked.write('--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n')
  asked.write(randomBytes(1_000))
  return { status, leave: () => void asked.destroy() }
}
/** The statuses of those that are answered, which are refused: none comes to its end. */
const answered = async (all: readonly { status: Promise<number> }[]) => {
  const none = Promise.resolve(null)
  const statuses = await Promise.all(all.map(({ status }) => Promise.race([status, none])))
  return statuses.filter((status) => status !== null)
}
/** Files of which something is received and not deleted yet. */
const received = async () => {
  const parent = join(data, 'receiving')
  const names = await readdir(parent).catch(() => [])
  return (await Promise.all(names.map((name) => readdir(join(parent, name))))).flat().length
}
const bootWith = async (environment: Record<string, string>) => {
  data = await mkdtemp(join(tmpdir(), 'plaza-data-'))
  // An upload that stops would be given up meanwhile.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  server = await boot({ environment: { DATA_DIR: data, STORAGE_RESERVE_MB: '0', ...environment } })
}

test(
  'T23: twenty uploads at a time that begin within a quota of one are received one at a time, and nothing stays taken',
  heavy,
  async () => {
    await bootWith({ UPLOAD_QUOTA_MB: '1', UPLOAD_QUOTA_NEW_MB: '1' })
    const greedy = await person(server, 'greedy')
    const all = Array.from({ length: 20 }, () => begun(greedy, megabyte))
    await expect.poll(() => answered(all)).toEqual(Array(19).fill(429))
    await expect.poll(received).toBe(1)
    expect((await upload(await person(server, 'other'))).outcome).toBe('200')
    for (const { leave } of all) leave()
    await expect.poll(received).toBe(0)
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => upload(greedy)))
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['200', ...Array(19).fill('429 RATE_LIMIT_EXCEEDED')])
    const stored = (await UploadQuotas.find({}).lean()).find(({ _id }) => _id.startsWith(`${greedy.account} `))
    expect(stored?.bytes).toBe(megabyte - 1_000)
  },
)

test('T23: a form that does not say how long it is counts as long as it may be', heavy, async () => {
  await bootWith({ UPLOAD_QUOTA_MB: '15', UPLOAD_QUOTA_NEW_MB: '15' })
  const who = await person(server, 'chunked')
  const first = begun(who, null)
  await expect.poll(received).toBe(1)
  expect(await begun(who, 5 * megabyte).status).toBe(429)
  expect(await begun(who, null).status).toBe(429)
  expect((await upload(who)).outcome).toBe('200')
  first.leave()
  await expect.poll(received).toBe(0)
  expect((await Promise.all([upload(who), upload(who)])).map(({ outcome }) => outcome)).toEqual(['200', '200'])
})

test('T23: the same file is answered again also where a day allows no more', heavy, async () => {
  await bootWith({ UPLOAD_QUOTA_MB: '1', UPLOAD_QUOTA_NEW_MB: '1' })
  const who = await person(server, 'again')
  const file = randomBytes(megabyte - 1_000)
  expect((await upload(who, file)).outcome).toBe('200')
  expect((await upload(who)).outcome).toBe('429 RATE_LIMIT_EXCEEDED')
  expect((await upload(who, file)).outcome).toBe('200')
})

test('T23: what is being received is taken from what the disk has beside its reserve', heavy, async () => {
  await bootWith({ STORAGE_RESERVE_MB: '100', UPLOAD_QUOTA_MB: '5000', UPLOAD_QUOTA_NEW_MB: '5000' })
  vi.spyOn(fs, 'statfs').mockResolvedValue({ bavail: (400 * megabyte) / 4_096, bsize: 4_096 } as StatsFs)
  syncBuiltinESMExports()
  const who = await person(server, 'many')
  const all = Array.from({ length: 60 }, () => begun(who, 10 * megabyte))
  await expect.poll(() => answered(all)).toEqual(Array(30).fill(503))
  await expect.poll(received).toBe(30)
  for (const { leave } of all) leave()
  await expect.poll(received).toBe(0)
  expect((await upload(who)).outcome).toBe('200')
})
