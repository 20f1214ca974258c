// Modes: embedded, two-nodes-redis
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { InstallationSettings } from '#server/domains/platform/installation/model'
import { AuditLines } from '#server/kernel/store/model'
import { moderation } from '#shared/api/moderation/moderation'
import { accounts } from '#shared/api/people/accounts'
import { inviteCodes } from '#shared/api/people/invites'
import { status as serverStatus } from '#shared/api/people/status'
import { installation } from '#shared/api/platform/installation'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from '#test/support/boot'
import { folderStorage } from '#test/support/folder-storage'
import { heavy } from '#test/support/heavy'
import { channelOf, type Person, person } from '#test/support/people'
import { pngOf } from '#test/support/pictures'
import { call, signed, wallet } from '#test/support/wallet'

let server: Booted
let [admin, who] = [] as unknown as [Person, Person]
/** Another node than that of the admin, where there are two. */
let elsewhere: string

beforeAll(async () => {
  server = await boot({
    environment: { ADMINS: wallet('decides').address },
    services: { storage: await folderStorage() },
  })
  elsewhere = server.urls.at(-1) ?? server.url
  admin = await person(server, 'decides', server.url)
  who = await person(server, 'is told', elsewhere)
})
afterAll(() => server.close())
beforeEach(async () => {
  await InstallationSettings.deleteMany({})
})

const put = (key: unknown, value: unknown, by = admin) => by.rest('PUT /api/admin/settings', { key, value })
const usual = { updated_by: null, updated_at: null }

test('admins read what holds, and who decided it', async () => {
  const all = [
    { key: 'registration_open', value: true, ...usual },
    { key: 'uploads_allowed', value: true, ...usual },
    { key: 'notice', value: null, ...usual },
  ]
  expect(await admin.does('rest', installation.settings, {})).toEqual({ settings: all })
  const { setting } = await admin.does('rest', installation.changeSetting, { key: 'uploads_allowed', value: false })
  expect(setting).toEqual({
    ...{ key: 'uploads_allowed', value: false },
    ...{ updated_by: admin.account, updated_at: expect.any(String) },
  })
  expect(await admin.does('rest', installation.settings, { key: 'uploads_allowed' })).toEqual({
    settings: [setting],
    value: false,
  })
  expect((await admin.rest('GET /api/admin/settings?key=')).body).toMatchObject({ settings: [{}, {}, {}] })
  await expect
    .poll(() => AuditLines.findOne({ operation: 'installation.changeSetting', actor: admin.account, outcome: 'ok' }))
    .toBeTruthy()
})

test('the audit line of an act on an account or a room names it, and that of a refused one nobody', heavy, async () => {
  const one = await person(server, 'is acted on', elsewhere)
  const room = await channelOf(one)
  const ofOne = { userAddress: one.account }
  await admin.does('rest', inviteCodes.grant, { walletAddress: one.account, additionalInvites: 1 })
  await admin.does('rest', accounts.updateUser, { ...ofOne, updates: { notes: 'a note' } })
  await admin.does('rest', moderation.act, { room: null, action: 'promote', target: one.account })
  await admin.does('rest', rooms.archive, { room })
  for (const ban of [true, false]) await admin.does('rest', accounts.suspend, { ...ofOne, ban })
  await who.refused('rest', accounts.suspend, { ...ofOne, ban: true })
  const acts = [
    ...['accounts.suspend', 'accounts.suspend', 'accounts.updateUser', 'inviteCodes.grant', 'moderation.act'],
  ]
  const linesOf = async (actor: string) => {
    const lines = await AuditLines.find({ actor, operation: { $in: [...acts, 'rooms.archive'] } }).lean()
    return lines.map(({ operation, target }) => `${operation} ${target}`).sort()
  }
  await expect
    .poll(() => linesOf(admin.account))
    .toEqual([...acts.map((act) => `${act} ${one.account}`), `rooms.archive channel:${room.id}`])
  await expect.poll(() => linesOf(who.account)).toEqual(['accounts.suspend undefined'])
})

test('only what is declared can be decided, and only by admins', async () => {
  const wrong: [key: unknown, value: unknown, says: string][] = [
    ['colour', true, 'key: one of registration_open'],
    [undefined, true, 'key'],
    ['registration_open', 'no', 'true or false'],
    ['registration_open', null, 'true or false'],
    ['registration_open', undefined, 'value'],
    ['uploads_allowed', '', 'true or false'],
    ['uploads_allowed', 0, 'value'],
    ['notice', true, 'value'],
    ['notice', 'x'.repeat(301), 'value'],
    ['notice', 'one\ntwo', 'value'],
  ]
  for (const [key, value, says] of wrong) {
    const { status, body } = await put(key, value)
    expect([key, value, status, body.error]).toEqual([key, value, 400, expect.stringContaining(says)])
  }
  expect((await admin.rest('GET /api/admin/settings?key=colour')).status).toBe(400)
  expect((await put('uploads_allowed', false, who)).status).toBe(403)
  expect((await who.rest('GET /api/admin/settings')).status).toBe(403)
  for (const route of ['GET /api/admin/settings', 'PUT /api/admin/settings'])
    expect((await call(server.url, route, route.startsWith('PUT') ? {} : null)).status).toBe(401)
  expect(await InstallationSettings.countDocuments()).toBe(0)
})

let newcomers = 0
const comes = async (url: string, name = `comes ${++newcomers}`) =>
  call(url, 'POST /api/auth/verify', await signed(url, wallet(name)))

test('where registration is closed nobody gets an account, on any node, and who has one signs in', async () => {
  await put('registration_open', false)
  for (const url of server.urls) {
    expect(await comes(url)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect((await comes(url, 'is told')).status).toBe(200)
  }
  await put('registration_open', true)
  for (const url of server.urls) expect((await comes(url)).status).toBe(200)
})

async function uploads({ url, token } = who) {
  const body = new FormData()
  body.set('file', new Blob([new Uint8Array(pngOf({ about: [...randomBytes(8)] }))]), 'x')
  const answer = await fetch(`${url}/api/bug-reports/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body,
  })
  return answer.status
}

test('where uploads are turned off no file is taken, on any node', heavy, async () => {
  expect(await uploads()).toBe(200)
  await put('uploads_allowed', false)
  expect([await uploads(), await uploads(admin)]).toEqual([403, 403])
  await put('uploads_allowed', true)
  expect(await uploads()).toBe(200)
})

test('a notice is told to everybody, on every node, until it is taken away', async () => {
  const told = async () =>
    Promise.all(server.urls.map(async (url) => (await call(url, 'GET /api/status')).body.notice ?? null))
  const all = (notice: string | null) => server.urls.map(() => notice)
  expect(await told()).toEqual(all(null))
  await put('notice', 'Back at nine')
  expect(await told()).toEqual(all('Back at nine'))
  expect(await who.does('rest', serverStatus.get, {})).toMatchObject({ notice: 'Back at nine' })
  await put('notice', '')
  expect(await told()).toEqual(all(null))
})

test('what another version has stored is as if it were not', async () => {
  await InstallationSettings.create({
    ...{ _id: 'uploads_allowed', value: 'on Sundays' },
    ...{ updated_by: admin.account, updated_at: new Date() },
  })
  expect(await admin.does('rest', installation.settings, { key: 'uploads_allowed' })).toMatchObject({ value: true })
  expect(await uploads()).toBe(200)
})
