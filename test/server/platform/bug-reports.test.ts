// Modes: embedded
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sweepFiles } from '#server/domains/media/uploads/store'
import { BugReports } from '#server/domains/platform/bug-reports/model'
import { localStorage } from '#server/ports/storage/local'
import { bugReports, bugStates } from '#shared/api/platform/bug-reports'
import { type Booted, boot } from '#test/support/boot'
import { over, type Person, person } from '#test/support/people'
import { pngOf } from '#test/support/pictures'
import { call, wallet } from '#test/support/wallet'

let server: Booted
let folder: string
let admin: Person
let who: Person
let named = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-bugs-'))
  const storage = await localStorage(folder)
  server = await boot({ environment: { ADMINS: wallet('bugs: admin').address }, services: { storage } })
  admin = await person(server, 'bugs: admin')
})
beforeEach(async () => {
  who = await person(server, `bugs: ${++named}`)
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const fault = { category: 'Chats', description: 'The list jumps.' } as const
const send = async (more: object = {}, by = who) =>
  (await by.does('rest', bugReports.send, { ...fault, ...more })).bugReport
const listed = async (query: object = {}) =>
  (await admin.does('rest', bugReports.list, { limit: 100, ...query })).bugReports
async function upload({ url, token } = who, path = '/api/bug-reports/upload'): Promise<string> {
  const body = new FormData()
  body.set('file', new Blob([new Uint8Array(pngOf({ about: [...randomBytes(8)] }))]), 'x')
  const answer = await fetch(url + path, { method: 'POST', headers: { authorization: `Bearer ${token}` }, body })
  return ((await answer.json()) as { url: string }).url
}
const isThere = async (url: string) => (await fetch(server.url + new URL(url).pathname)).status === 200

test.each(over)('a fault that is reported over %s is the newest that admins read, and open', async (door) => {
  const replicationSteps = 'Open it.\nScroll.'
  const { bugReport } = await who.does(door, bugReports.send, { ...fault, replicationSteps, userAddress: who.account })
  expect(bugReport).toEqual({
    ...{ id: bugReport.id, user_address: who.account, category: 'Chats', description: 'The list jumps.' },
    ...{ replication_steps: replicationSteps, media_urls: [], status: 'open', admin_notes: null },
    ...{ resolved_by: null, resolved_at: null, github_issue_url: null, github_issue_number: null },
    ...{ created_at: bugReport.created_at, updated_at: bugReport.created_at },
  })
  const { bugReports: all } = await admin.does(door, bugReports.list, { limit: 1 })
  expect(all).toEqual([bugReport])
})

test('what is no report of a fault is refused', async () => {
  const wrong: [input: object, says: string][] = [
    [{ category: 'Weather' }, 'category'],
    [{ category: undefined }, 'category'],
    [{ description: undefined }, 'description is required'],
    [{ description: ' \n ' }, 'description is required'],
    [{ description: 'x'.repeat(5_001) }, 'Too long'],
    [{ mediaUrls: Array.from({ length: 11 }, () => 'https://a.test/b') }, 'mediaUrls'],
  ]
  for (const [input, says] of wrong) {
    const { status, body } = await who.rest('POST /api/bug-reports', { ...fault, ...input })
    expect([input, status, body.error]).toEqual([input, 400, expect.stringContaining(says)])
  }
  expect((await call(server.url, 'POST /api/bug-reports', fault)).status).toBe(401)
  expect((await who.rest('POST /api/bug-reports', { ...fault, userAddress: admin.account })).status).toBe(403)
})

test('a repeat with the same key is the same report', async () => {
  const asked = { ...fault, idempotency_key: `once-${named}` }
  const [one, again] = [await send(asked), await send(asked)]
  expect(again).toEqual(one)
  expect(await BugReports.countDocuments({ user_address: who.account })).toBe(1)
})

test.each(over)('over %s an account has twenty reports open, and more once one was looked at', async (door) => {
  const made = []
  for (let at = 0; at < 20; at++) made.push(await send())
  expect((await who.refused(door, bugReports.send, fault)).code).toBe('CONFLICT')
  await admin.does('rest', bugReports.update, { id: made[0]?.id ?? '', status: 'in_progress' })
  await who.does(door, bugReports.send, fault)
})

describe('what shows a fault', () => {
  test('is named by its report', async () => {
    const urls = [await upload(), await upload()]
    expect((await send({ mediaUrls: [...urls, urls[0]] })).media_urls).toEqual(urls)
  })

  test('was uploaded for it by the reporter', async () => {
    const other = await person(server, `bugs: ${++named}`)
    const theirs = await upload(other)
    const elsewhere = await upload(who, '/api/upload')
    const own = await upload()
    const wrong = [
      theirs,
      elsewhere,
      `${own}x`,
      own.replace('.png', '.gif'),
      'https://elsewhere.test/a.png',
      `${own}?a`,
    ]
    for (const url of wrong) {
      const { status, body } = await who.rest('POST /api/bug-reports', { ...fault, mediaUrls: [own, url] })
      expect([url, status, body.error]).toEqual([url, 400, expect.stringContaining('mediaUrls')])
    }
  })

  test('stays until the report is closed, whatever the sweep thinks of it', async () => {
    const [kept, unnamed] = [await upload(), await upload()]
    const { id } = await send({ mediaUrls: [kept] })
    await admin.does('rest', bugReports.update, { id, status: 'resolved' })
    server.setAhead(90_000)
    const [app] = server.apps
    if (app) await sweepFiles(app.node, new AbortController().signal)
    server.setAhead(0)
    expect([await isThere(kept), await isThere(unnamed)]).toEqual([true, false])
    const { bugReport } = await admin.does('rest', bugReports.update, { id, status: 'closed' })
    expect([bugReport.media_urls, await isThere(kept)]).toEqual([[], false])
  })
})

describe('admins', () => {
  test.each(over)('say over %s how far a report is', async (door) => {
    const { id } = await send()
    const to = async (status: (typeof bugStates)[number], more = {}) =>
      (await admin.does(door, bugReports.update, { id, status, ...more })).bugReport
    const resolved = await to('resolved', { adminNotes: 'In the next version' })
    expect(resolved).toMatchObject({ resolved_by: admin.account, admin_notes: 'In the next version' })
    expect(Date.parse(resolved.resolved_at ?? '')).toBeGreaterThanOrEqual(Date.parse(resolved.created_at))
    expect(await to('closed')).toMatchObject({ status: 'closed', resolved_by: admin.account })
    expect(await to('in_progress')).toMatchObject({ resolved_by: null, resolved_at: null })
    expect(await to('open', { adminNotes: null })).toMatchObject({ status: 'open', admin_notes: null })
    expect((await listed())[0]).toMatchObject({ id, status: 'open', admin_notes: null })
  })

  test('read those of one state, in pages', async () => {
    const made = [await send(), await send(), await send()]
    for (const { id } of made) await admin.does('rest', bugReports.update, { id, status: 'in_progress' })
    const first = await admin.does('rest', bugReports.list, { status: 'in_progress', limit: 2 })
    expect(first.bugReports.map(({ id }) => id)).toEqual([made[2]?.id, made[1]?.id])
    const cursor = first.next_cursor ?? ''
    const rest = await admin.does('rest', bugReports.list, { status: 'in_progress', limit: 1, cursor })
    expect(rest.bugReports.map(({ id }) => id)).toEqual([made[0]?.id])
    for (const status of bugStates) {
      const all = await listed({ status })
      expect(all.every((report) => report.status === status)).toBe(true)
    }
    expect((await admin.rest(`GET /api/admin/bug-reports?status=open&cursor=${cursor}`)).code).toBe('INVALID_PARAMETER')
  })

  test('alone', async () => {
    const { id } = await send()
    for (const door of over) {
      expect((await who.refused(door, bugReports.list, {})).code).toBe('FORBIDDEN')
      expect((await who.refused(door, bugReports.update, { id, status: 'closed' })).code).toBe('FORBIDDEN')
      expect((await admin.refused(door, bugReports.update, { id: 'none', status: 'closed' })).code).toBe('NOT_FOUND')
    }
    const wrong = await admin.rest(`PATCH /api/admin/bug-reports/${id}`, { status: 'gone' })
    expect([wrong.status, wrong.body.error]).toEqual([400, 'Invalid status'])
    expect((await call(server.url, 'GET /api/admin/bug-reports')).status).toBe(401)
  })
})
