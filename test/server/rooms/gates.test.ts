// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { memberJoined } from '#server/domains/rooms/room-state/events/people'
import { becomeMember } from '#server/domains/rooms/room-state/membership'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { finishRooms } from '#server/domains/rooms/rooms/founding'
import { recheckMembers } from '#server/domains/rooms/rooms/rechecks'
import type { View } from '#server/log/types'
import { fakeChain } from '#server/ports/chain/fake'
import { invitations } from '#shared/api/rooms/invitations'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { moderates, over, type Person, person } from '#test/support/people'

const chain = fakeChain(8453)
const token = `0x${'70'.repeat(20)}` as const
const gate = {
  ...{ by: 'balance', chain_id: 8453, token_address: token, token_name: 'Heron', token_symbol: 'HRN' },
  ...{ token_decimals: 2, min_balance: '1000' },
} as const
let server: Booted
let founder: Person
let named = 0
const someone = () => person(server, `gate ${++named}`)

beforeAll(async () => {
  const environment = { RATE_LIMIT_SCALE: '1', GATE_RECHECK_MINUTES: '60' }
  server = await boot({ services: { chains: new Map([[8453, chain]]) }, environment })
  founder = await person(server, 'founder')
})
afterAll(() => server.close())

/** A room for holders of the token, with its founder in it. */
async function roomOfHolders(asked: object | null = gate): Promise<RoomRef> {
  const room = { type: 'token', id: crypto.randomUUID() } as const
  const at = new Date(Date.now() - 7_200_000).toISOString()
  const shown = { name: 'Holders', emoji: '🪙', category: 'token', gate: asked, gate_checked_at: at }
  const whose = { creator_address: founder.account, owner_address: founder.account }
  const founding = { members: [] }
  await Rooms.create({ _id: roomKey(room), ...room, ...shown, ...whose, founding, created_at: at, updated_at: at })
  await finishRooms(node())
  return room
}

const give = (who: Person, value: bigint) => chain.transfer({ to: who.account as `0x${string}`, value, token })
const take = (who: Person, value: bigint) =>
  chain.transfer({ from: who.account as `0x${string}`, to: token, value, token })
const isMember = async (who: Person, room: RoomRef) => (await who.does('rest', rooms.get, { room })).room.is_member
const node = (at = 0) => {
  const app = server.apps[at]
  if (!app) throw new Error('No node')
  return app.node
}
async function whileAway<T>(how: 'UPSTREAM_ERROR' | 'TIMEOUT', then: () => Promise<T>): Promise<T> {
  chain.away = how
  return then().finally(() => {
    chain.away = null
  })
}
const linkInto = async (room: RoomRef) => (await founder.does('rest', invitations.create, { room })).token

test('T80: who holds enough joins, and a refusal shows what was looked at', async () => {
  const room = await roomOfHolders()
  const [rich, poor] = await Promise.all([someone(), someone()])
  give(rich, 1000n)
  give(poor, 999n)
  await rich.does('rest', rooms.join, { room })
  expect(await isMember(rich, room)).toBe(true)
  const refusal = await poor.refused('rest', rooms.join, { room })
  expect(refusal).toMatchObject({
    code: 'GATE_NOT_PASSED',
    status: 403,
    message: 'You need 10 HRN and hold 9.99 HRN',
    details: { required: '1000', actual: '999', symbol: 'HRN', walletsChecked: 1 },
  })
  expect(refusal.details?.breakdown).toEqual([{ label: 'Wallet', balance: '999' }])
  expect(refusal.details?.checked).toMatchObject([{ subject: poor.account, result: '9.99 HRN', source: 'chain 8453' }])
  expect(await isMember(poor, room)).toBe(false)
})

test.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)('T80: nobody joins while the chain answers %s', async (how) => {
  const room = await roomOfHolders()
  const rich = await someone()
  give(rich, 1000n)
  await whileAway(how, async () => {
    expect((await rich.refused('rest', rooms.join, { room })).code).toBe(how)
    for (const door of over) {
      expect((await rich.refused(door, rooms.gate, { room })).code).toBe(how)
      expect((await (await someone()).refused(door, rooms.recheckGate, { room })).code).toBe(how)
    }
  })
  expect(await isMember(rich, room)).toBe(false)
  await rich.does('rest', rooms.join, { room })
})

test.each(over)('over %s, a room shows its gate and how the caller stands before it', async (door) => {
  const room = await roomOfHolders()
  const nowhere = { type: 'token', id: crypto.randomUUID() } as const
  const who = await someone()
  give(who, 3n)
  expect(await who.does(door, rooms.gate, { room })).toMatchObject({
    gate,
    answer: { passed: false, details: { actual: '3' } },
  })
  expect(await founder.does(door, rooms.gate, { room })).toMatchObject({ gate, answer: null })
  expect((await who.refused(door, rooms.gate, { room: nowhere })).code).toBe('ROOM_NOT_FOUND')
  expect((await who.refused(door, rooms.recheckGate, { room: nowhere })).code).toBe('ROOM_NOT_FOUND')
  const open = await roomOfHolders(null)
  expect(await who.does(door, rooms.recheckGate, { room: open })).toEqual({ gate: null, answer: null })
})

test.each(over)('over %s, who was refused is asked again at once, and then once a minute', async (door) => {
  const room = await roomOfHolders()
  const who = await someone()
  expect((await who.refused('rest', rooms.join, { room })).code).toBe('GATE_NOT_PASSED')
  give(who, 1000n)
  expect((await who.refused('rest', rooms.join, { room })).code).toBe('GATE_NOT_PASSED')
  expect(await who.does(door, rooms.recheckGate, { room })).toMatchObject({ answer: { passed: true } })
  expect(await who.refused(door, rooms.recheckGate, { room })).toMatchObject({
    code: 'RATE_LIMIT_EXCEEDED',
    retryAfter: 60,
  })
})

test.each(over)('T80: over %s, a link to a room shows its gate, and lets in who passes it alone', async (door) => {
  const room = await roomOfHolders()
  const link = await linkInto(room)
  const [rich, poor] = await Promise.all([someone(), someone()])
  give(rich, 1000n)
  expect((await poor.does(door, invitations.read, { token: link })).room.gate).toEqual(gate)
  expect(await poor.refused(door, invitations.accept, { token: link })).toMatchObject({
    code: 'GATE_NOT_PASSED',
    details: { required: '1000', actual: '0' },
  })
  for (const how of ['UPSTREAM_ERROR', 'TIMEOUT'] as const) {
    const code = await whileAway(how, async () => (await rich.refused(door, invitations.accept, { token: link })).code)
    expect(code).toBe(how)
  }
  await rich.does(door, invitations.accept, { token: link })
  expect([await isMember(rich, room), await isMember(poor, room)]).toEqual([true, false])
  expect((await founder.does('rest', invitations.list, { room })).invitations).toMatchObject([{ uses: 1 }])
})

test('what keeps somebody out is said before the gate is asked', async () => {
  const room = await roomOfHolders()
  const banned = await someone()
  await moderates(founder, { room, action: 'ban', target: banned.account })
  await whileAway('TIMEOUT', async () => {
    expect((await banned.refused('rest', rooms.join, { room })).code).toBe('BANNED')
  })
})

test('T80: a room with a gate lets nobody in by a way that does not ask it', async () => {
  const room = await roomOfHolders()
  const who = await someone()
  give(who, 1000n)
  const actor = { account: who.account, name: 'who' }
  const judge = (view: View, now: number) => becomeMember(view, now, actor, { invited: true })
  const entering = { sender: who.account, makes: memberJoined, judge }
  await expect(node().log.act(roomKey(room), entering)).rejects.toMatchObject({ code: 'GATE_NOT_PASSED' })
  for (const pass of [
    { room: 'token:another', account: who.account },
    { room: roomKey(room), account: founder.account },
  ]) {
    const judged = node().log.ask(roomKey(room), (view, now) => becomeMember(view, now, actor, { pass }))
    expect(await judged).toMatchObject({ refuse: { code: 'GATE_NOT_PASSED' } })
  }
})

test('T80: fifty joins at once of who holds enough are one, and of who does not none', async () => {
  const room = await roomOfHolders()
  const [rich, poor] = await Promise.all([someone(), someone()])
  give(rich, 1000n)
  const asked = vi.spyOn(chain, 'tokenBalance')
  const joined = await Promise.all(
    Array.from({ length: 50 }, (_, at) => (at % 2 ? rich : poor).tries('rest', rooms.join, { room })),
  )
  expect(joined.filter((answer) => answer.ok && !answer.data.already)).toHaveLength(1)
  expect(joined.filter(({ ok }) => !ok)).toHaveLength(25)
  expect(asked.mock.calls.length).toBeLessThanOrEqual(2 * server.apps.length)
  asked.mockRestore()
  const { members } = await rich.does('rest', rooms.members, { room })
  expect(members.map(({ user_address }) => user_address).sort()).toEqual([founder.account, rich.account].sort())
})

test('T80: members who hold too little later are taken out by the re-check, which the room is told', async () => {
  const room = await roomOfHolders()
  const [kept, lost] = await Promise.all([someone(), someone()])
  for (const who of [kept, lost]) {
    give(who, 1000n)
    await who.does('rest', rooms.join, { room })
  }
  const line = await kept.line()
  await kept.does(line, messages.join, { room })
  take(lost, 1n)
  await whileAway('TIMEOUT', () => recheckMembers(node()))
  expect(await isMember(lost, room)).toBe(true)
  server.setAhead(3_700)
  await Promise.all(server.apps.map((app) => recheckMembers(app.node)))
  server.setAhead(0)
  const told = await line.follows(room, ({ type }) => type === 'member.removed')
  expect(told).toMatchObject({
    actor: { id: 'plaza' },
    data: { member: { id: lost.account }, reason: 'No longer has what the room asks for', members_count: 2 },
  })
  expect([await isMember(kept, room), await isMember(lost, room), await isMember(founder, room)]).toEqual([
    true,
    false,
    true,
  ])
  expect((await lost.refused('rest', messages.history, { room, limit: 1 })).code).toBe('NOT_A_MEMBER')
  expect((await lost.refused('socket', messages.send, { room, text: 'still here' })).code).toBe('NOT_A_MEMBER')
})
