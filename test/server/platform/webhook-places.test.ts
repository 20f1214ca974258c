// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accounts } from '#shared/api/people/accounts'
import { webhooks } from '#shared/api/platform/webhooks'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { channelOf, type Person, people, person } from '#test/support/people'
import { solo } from '#test/support/solo'
import { wallet } from '#test/support/wallet'
import { webOver } from '#test/support/web'

let server: Booted
let root: Person
let admins: Person[]

beforeAll(async () => {
  const environment = { SUPER_ADMINS: wallet('places: root').address }
  server = await boot({ environment, services: { web: webOver({ 'hooks.test': 1 }) } })
  root = await person(server, 'places: root')
  admins = await people(server, 'places: a', 'places: b', 'places: c', 'places: d')
  for (const { account } of admins)
    await root.does('rest', accounts.grantAdmin, { walletAddress: account, makeSuperAdmin: false })
})
afterAll(() => server.close())

const url = 'https://hooks.test/'
const make = async (by: Person, room: RoomRef) =>
  (await by.does('rest', webhooks.create, { url, rooms: [room] })).webhook.id
const makeAll = (by: Person, room: RoomRef, count: number) =>
  Promise.all(Array.from({ length: count }, () => make(by, room)))
const enable = (by: Person, id: string, enabled: boolean) => by.tries('rest', webhooks.update, { id, enabled })
const outcomesOf = (answers: readonly { ok: boolean; error?: { code: string } }[]) =>
  answers.map((one) => (one.ok ? 'ok' : one.error?.code)).toSorted()
let owners = 0
/** Each is somebody else, as an account has twenty webhooks at most. */
const newOwner = () => person(server, `places: owner ${++owners}`)

test('N90: the last place of a room goes to one of those who make a webhook at once', async () => {
  const owner = await newOwner()
  const room = await channelOf(owner)
  await makeAll(owner, room, 19)
  const answers = await Promise.all(
    admins.flatMap((admin) => [1, 2].map(() => admin.tries('rest', webhooks.create, { url, rooms: [room] }))),
  )
  expect(outcomesOf(answers)).toEqual([...Array(7).fill('CONFLICT'), 'ok'])
})

solo('N90: the last place of a room goes to one of those whose webhooks move there at once', async () => {
  const owner = await newOwner()
  const [room, elsewhere] = [await channelOf(owner), await channelOf(owner)]
  await makeAll(owner, room, 19)
  const moved = await Promise.all(admins.map(async (admin) => ({ admin, id: await make(admin, elsewhere) })))
  const answers = await Promise.all(
    moved.map(({ admin, id }) => admin.tries('rest', webhooks.update, { id, rooms: [elsewhere, room] })),
  )
  expect(outcomesOf(answers)).toEqual([...Array(3).fill('CONFLICT'), 'ok'])
})

solo('N90: a webhook that is stopped leaves its place to others, and goes on where one is free', async () => {
  const owner = await newOwner()
  const room = await channelOf(owner)
  const [first = ''] = await makeAll(owner, room, 20)
  const [admin] = admins as [Person]
  expect((await admin.refused('rest', webhooks.create, { url, rooms: [room] })).code).toBe('CONFLICT')
  expect((await enable(owner, first, false)).ok).toBe(true)
  const instead = await make(admin, room)
  expect(await enable(owner, first, true)).toMatchObject({ ok: false, error: { code: 'CONFLICT' } })
  await enable(admin, instead, false)
  // Both want it again.
  const answers = await Promise.all([enable(owner, first, true), enable(admin, instead, true)])
  expect(outcomesOf(answers)).toEqual(['CONFLICT', 'ok'])
})

solo('N90: a webhook changes its rooms while it is paused, and takes its places when it goes on', async () => {
  const owner = await newOwner()
  const [room, other] = [await channelOf(owner), await channelOf(owner)]
  await makeAll(owner, room, 19)
  const [admin, another] = admins as [Person, Person]
  const id = await make(admin, other)
  await enable(admin, id, false)
  await admin.does('rest', webhooks.update, { id, rooms: [room] })
  const last = await make(another, room)
  expect(await enable(admin, id, true)).toMatchObject({ ok: false, error: { code: 'CONFLICT' } })
  await another.does('rest', webhooks.remove, { id: last })
  expect(await enable(admin, id, true)).toMatchObject({ ok: true })
})

test('N90: who enables a webhook and moves it to a full room at once goes around no limit', heavy, async () => {
  const owner = await newOwner()
  const [full, elsewhere] = [await channelOf(owner), await channelOf(owner)]
  await makeAll(owner, full, 20)
  const [admin] = admins as [Person]
  const id = await make(admin, elsewhere)
  for (let round = 0; round < 24; round++) {
    await admin.does('rest', webhooks.update, { id, rooms: [elsewhere], enabled: false })
    const enabling = enable(admin, id, true)
    // Later by so many calls.
    for (let left = round % 6; left > 0; left--) await fetch(`${server.url}/api/status`)
    await Promise.all([enabling, admin.tries('rest', webhooks.update, { id, rooms: [full] })])
    const { webhook } = await admin.does('rest', webhooks.read, { id })
    expect(webhook.enabled && webhook.rooms.some((room) => room.id === full.id)).toBe(false)
  }
})
