// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Sessions } from '#server/domains/people/identity/model'
import { moderation } from '#shared/api/moderation/moderation'
import { accounts } from '#shared/api/people/accounts'
import { serviceTokens } from '#shared/api/people/service-tokens'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { enter } from '#test/support/enter'
import { channelOf, groupOf, type Person, person } from '#test/support/people'
import { solo } from '#test/support/solo'
import { call, wallet } from '#test/support/wallet'

let server: Booted
let owner: Person
let root: Person
/** Acts on another node than the one that keeps somebody waiting, where there are several. */
let elsewhere: string

beforeAll(async () => {
  server = await boot({ environment: { SUPER_ADMINS: wallet('waiting root').address } })
  elsewhere = server.urls.at(-1) ?? server.url
  owner = await person(server, 'waiting owner', elsewhere)
  root = await person(server, 'waiting root', elsewhere)
})
afterAll(() => server.close())

type Place = RoomRef & { id: string }
const idOf = (token: string) => JSON.parse(atob(token.split('.')[1] ?? '')).jti as string
const soon = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds))

const places: [string, (...members: Person[]) => Promise<Place>][] = [
  ['a group', (...members) => groupOf(owner, ...members)],
  ['a channel for who is signed in', (...members) => closed('signed_in', members)],
  ['a channel for members', (...members) => closed('members', members)],
]

async function closed(read_access: 'signed_in' | 'members', members: readonly Person[]): Promise<Place> {
  const room = await channelOf(owner, ...members)
  await owner.does('rest', moderation.act, { room, action: 'rules', patch: { rules: { read_access } } })
  return room
}

/** A wait of 20 s that somebody begins, with how it ended and after how long. */
async function waitingIn(room: Place, token: string, url = server.url) {
  const { head_seq } = await owner.does('rest', messages.sync, { room, after_seq: 0, limit: 1 })
  const path = `GET /api/rooms/${room.type}/${room.id}/events?after_seq=${head_seq}`
  const began = performance.now()
  const waited = call(url, `${path}&wait=20`, null, token)
  await soon(400)
  return {
    next: () => call(url, path, null, token),
    async end() {
      const { status, code, body } = await waited
      return { status, code, events: body.events, milliseconds: performance.now() - began - 400 }
    },
  }
}

const ends: [string, (who: Person) => Promise<unknown>][] = [
  ['signing out', (who) => call(elsewhere, 'POST /api/auth/logout', { allDevices: false }, who.token)],
  ['signing out everywhere', (who) => call(elsewhere, 'POST /api/auth/logout', { allDevices: true }, who.token)],
  [
    'another device that ends it',
    async (who) => {
      const { sessionToken } = await enter(elsewhere, wallet(named(who)))
      return call(elsewhere, `DELETE /api/auth/sessions/${idOf(who.token)}`, null, sessionToken)
    },
  ],
  [
    'another device that ends all others',
    async (who) => {
      const { sessionToken } = await enter(elsewhere, wallet(named(who)))
      return call(elsewhere, 'DELETE /api/auth/sessions', null, sessionToken)
    },
  ],
]
const names = new Map<string, string>()
const named = ({ account }: Person) => names.get(account) ?? ''
let waiters = 0
async function waiter(): Promise<Person> {
  const name = `waiter ${++waiters}`
  const who = await person(server, name, server.url)
  names.set(who.account, name)
  return who
}

describe.each(places)('R7: a wait in %s', (_place, make) => {
  test.each(ends)('ends with the session, by %s, as the next call does', async (_how, end) => {
    const who = await waiter()
    const room = await make(who)
    const wait = await waitingIn(room, who.token)
    await end(who)
    const { milliseconds, status, code, events } = await wait.end()
    const next = await wait.next()
    expect({ status, code, events }).toEqual({ status: next.status, code: next.code, events: undefined })
    expect(status).toBeGreaterThanOrEqual(401)
    expect(milliseconds).toBeLessThan(12_000)
  })

  test('ends when the session runs out', async () => {
    const who = await waiter()
    const room = await make(who)
    await Sessions.updateOne({ _id: idOf(who.token) }, { $set: { expires_at: new Date(Date.now() + 1_500) } })
    const wait = await waitingIn(room, who.token)
    const { milliseconds, status, code } = await wait.end()
    const next = await wait.next()
    expect({ status, code }).toEqual({ status: next.status, code: next.code })
    expect(milliseconds).toBeLessThan(12_000)
  })

  solo('holds no row after the end, though the row comes first', async () => {
    const who = await waiter()
    const room = await make(who)
    const wait = await waitingIn(room, who.token)
    await Sessions.deleteOne({ _id: idOf(who.token) })
    await owner.does('rest', messages.send, { room, text: 'not for them' })
    const { status, code, events } = await wait.end()
    const next = await wait.next()
    expect({ status, code, events }).toEqual({ status: next.status, code: next.code, events: undefined })
  })

  test.each([['banned', (room: Place, who: Person) => ({ room, action: 'ban' as const, target: who.account })]])(
    'ends for who is %s, as the next call does',
    async (_what, act) => {
      const who = await waiter()
      const room = await make(who)
      const wait = await waitingIn(room, who.token)
      await owner.does('rest', moderation.act, act(room, who))
      const { milliseconds, status, code } = await wait.end()
      const next = await wait.next()
      expect({ status, code }).toEqual({ status: next.status, code: next.code })
      expect(status).toBeGreaterThanOrEqual(403)
      expect(milliseconds).toBeLessThan(12_000)
    },
  )

  test('ends for somebody who is suspended, with the answer of the next call', async () => {
    const who = await waiter()
    const room = await make(who)
    const wait = await waitingIn(room, who.token)
    await root.does('rest', accounts.suspend, { userAddress: who.account, ban: true })
    const { milliseconds, status, events } = await wait.end()
    const next = await wait.next()
    expect({ status, events }).toEqual({ status: next.status, events: next.body.events })
    expect(milliseconds).toBeLessThan(12_000)
  })
})

solo('R7: a wait in a public room ends with the session of its bearer', async () => {
  const who = await waiter()
  const room = await channelOf(owner, who)
  const wait = await waitingIn(room, who.token)
  await Sessions.deleteOne({ _id: idOf(who.token) })
  await owner.does('rest', messages.send, { room, text: 'after the end' })
  expect(await wait.end()).toMatchObject({ status: 401, code: 'SESSION_NOT_FOUND' })
})

test('R7: a wait of a bot ends when its token is revoked', async () => {
  const made = await root.does('rest', serviceTokens.create, { name: 'Waiting bot', scopes: ['messages:read'] })
  const room = await closed('signed_in', [])
  const wait = await waitingIn(room, made.token)
  await root.does('rest', serviceTokens.revoke, { id: made.serviceToken.id })
  const { milliseconds, status, code } = await wait.end()
  const next = await wait.next()
  expect({ status, code }).toEqual({ status: next.status, code: next.code })
  expect(status).toBe(401)
  expect(milliseconds).toBeLessThan(12_000)
})

test('R7: a wait goes on where somebody else signs out, and another device ends it without a refusal', async () => {
  const [who, other] = [await waiter(), await waiter()]
  const room = await groupOf(owner, who, other)
  const { sessionToken } = await enter(elsewhere, wallet(named(who)))
  const wait = await waitingIn(room, who.token)
  await call(elsewhere, 'POST /api/auth/logout', {}, other.token)
  await soon(1_500)
  const { message } = await owner.does('rest', messages.send, { room, text: 'for them' })
  expect(await wait.end()).toMatchObject({ status: 200, events: [{ seq: message.seq }] })
  const again = await waitingIn(room, who.token)
  await call(elsewhere, 'POST /api/auth/logout', { allDevices: false }, sessionToken)
  expect(await again.end()).toMatchObject({ status: 200, events: [] })
  expect(await again.next()).toMatchObject({ status: 200 })
})

solo('R7: over a socket nothing comes after the end of the session', async () => {
  const who = await waiter()
  const room = await groupOf(owner, who)
  const { head_seq: after_seq } = await owner.does('rest', messages.sync, { room, after_seq: 0, limit: 1 })
  const line = await who.line()
  let answer: unknown = null
  line.socket.emit('room:sync', { room, after_seq, limit: 200, wait: 20 }, (given: unknown) => {
    answer = given
  })
  await soon(400)
  await Sessions.deleteOne({ _id: idOf(who.token) })
  await owner.does('rest', messages.send, { room, text: 'not for them' })
  await expect.poll(() => answer, { timeout: 5_000 }).toMatchObject({ ok: false, error: { code: 'SESSION_NOT_FOUND' } })
})

solo.each([['leaves', (room: Place, who: Person) => who.does('rest', rooms.leave, { room })]])(
  'R7: over a socket a wait ends for who %s',
  async (_what, act) => {
    const who = await waiter()
    const room = await groupOf(owner, who)
    const { head_seq: after_seq } = await owner.does('rest', messages.sync, { room, after_seq: 0, limit: 1 })
    const waiting = who.refused('socket', messages.sync, { room, after_seq, limit: 200, wait: 20 })
    await soon(400)
    await act(room, who)
    expect(await waiting).toMatchObject({ code: 'ROOM_NOT_FOUND' })
  },
)
