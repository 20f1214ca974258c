// Modes: embedded, two-nodes, two-nodes-redis
import { describe, expect, test, vi } from 'vitest'
import { Accounts } from '#server/domains/people/accounts/model'
import { memberLeft } from '#server/domains/rooms/room-state/events/people'
import { giveUpMembership } from '#server/domains/rooms/room-state/membership'
import { Members } from '#server/domains/rooms/room-state/model'
import { appointMissingManagers } from '#server/domains/rooms/room-state/succession'
import type { View } from '#server/log/types'
import { accounts } from '#shared/api/people/accounts'
import { messages } from '#shared/api/rooms/messages'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { rooms } from '#shared/api/rooms/rooms'
import { type RoomRef, roomKey } from '#shared/kit/primitives'
import { bootWith } from '#test/support/boot-with'
import { heavy } from '#test/support/heavy'
import { appoint } from '#test/support/moderation'
import { channelOf, groupOf, moderates, over, type Person, people } from '#test/support/people'
import { solo } from '#test/support/solo'

const { server, root, owner, early, late, mod } = await bootWith(['root', 'owner', 'early', 'late', 'mod'], {
  superAdmins: ['root'],
})
const kinds = [
  ['channel', channelOf, 'owner', 'admin'],
  ['group', groupOf, 'admin', 'moderator'],
] as const

async function eventsOf(room: RoomRef, by: Person): Promise<RoomEvent[]> {
  const { events } = await by.does('socket', messages.sync, { room, after_seq: 0 })
  return events
}

/** Who has which role, as the records and the log say. */
async function rolesIn(room: RoomRef, by: Person): Promise<{ [account: string]: string }> {
  const { members } = await by.does('rest', rooms.members, { room })
  return Object.fromEntries(members.map(({ user_address, role }) => [user_address, role]))
}

/** Whether after each row somebody runs the room, from the first who did until nobody is left. */
function gapsIn(events: readonly RoomEvent[], role: string, founder: string): number[] {
  const roles = new Map<string, string>([[founder, role]])
  return events.flatMap(({ seq, type, data }) => {
    if (type === 'member.joined') roles.set(data.member.id, data.member.role)
    if (type === 'role.changed') roles.set(data.target.id, data.role)
    if (type === 'member.left' || type === 'member.removed') roles.delete(data.member.id)
    if (type === 'moderation.applied' && data.action === 'ban') roles.delete(data.target.id)
    return [...roles.values()].includes(role) || roles.size === 0 ? [] : [seq]
  })
}

describe.each(kinds)('O28: of a %s', (type, made, role, below) => {
  solo.each(over)('who runs it hands it over, over %s, and has the role below afterwards', async (door) => {
    const room = await made(owner, early, late)
    const input = { room, address: late.account, client_action_id: crypto.randomUUID() }
    await owner.does(door, rooms.handOver, input)
    expect(await owner.does(door, rooms.handOver, input)).toEqual({ success: true })
    expect(await rolesIn(room, owner)).toEqual({
      [owner.account]: below,
      [early.account]: 'member',
      [late.account]: role,
    })
    const told = (await eventsOf(room, early)).filter(({ type }) => type === 'role.changed')
    expect(told).toMatchObject([
      { actor: { id: owner.account }, data: { target: { id: late.account }, role } },
      { actor: { id: owner.account }, data: { target: { id: owner.account }, role: below } },
    ])
    await late.does('rest', rooms.update, { room, description: 'run by another' })
    if (type === 'channel')
      expect((await early.does('rest', rooms.get, { room })).room.owner_address).toBe(late.account)
  })

  test('the oldest moderator follows who leaves, then the oldest member, and who comes back is a member', async () => {
    const room = await made(owner, early, late, mod)
    await appoint(owner, room, mod)
    await owner.does('rest', rooms.leave, { room })
    expect(await rolesIn(room, mod)).toMatchObject({ [mod.account]: role, [early.account]: 'member' })
    if (type === 'channel') {
      await owner.does('rest', rooms.join, { room })
      expect(await rolesIn(room, mod)).toMatchObject({ [mod.account]: role, [owner.account]: 'member' })
    }
    await mod.does('rest', rooms.leave, { room })
    expect(await rolesIn(room, late)).toMatchObject({ [early.account]: role, [late.account]: 'member' })
    const events = await eventsOf(room, late)
    expect(gapsIn(events, role, owner.account)).toEqual([])
    expect(events.filter(({ type }) => type === 'role.changed').at(-1)).toMatchObject({
      actor: { id: mod.account },
      data: { target: { id: early.account }, role },
    })
  })

  test('of the last who leave at once one is followed by a member, and no row leaves nobody who runs it', async () => {
    for (let round = 0; round < 5; round++) {
      const [one, other, third] = await people(server, ...named(`${type} ${round}`, 3))
      const room = await made(one, other, third)
      const both = { room, address: other.account, role: 'admin' } as const
      await one.does('rest', rooms.setRole, both)
      await Promise.all([one, other].map((who) => who.does('rest', rooms.leave, { room })))
      expect(await rolesIn(room, third)).toEqual({ [third.account]: role })
      expect(gapsIn(await eventsOf(room, third), role, one.account)).toEqual([])
    }
  })

  test('who is to be erased follows nobody', async () => {
    const room = await made(owner, early, late)
    await Accounts.updateOne({ _id: early.account }, { $set: { erased_at: new Date(Date.now() + 86_400_000) } })
    await owner.does('rest', rooms.leave, { room })
    await Accounts.updateOne({ _id: early.account }, { $unset: { erased_at: '' } })
    expect(await rolesIn(room, late)).toMatchObject({ [early.account]: 'member', [late.account]: role })
  })

  test('who is suspended is followed', async () => {
    const [gone] = await people(server, `suspended of ${type}`)
    const room = await made(gone, early, late)
    await root.does('rest', accounts.suspend, { userAddress: gone.account, ban: true, reason: 'spam' })
    await vi.waitFor(
      async () => expect(await rolesIn(room, late)).toMatchObject({ [early.account]: role, [gone.account]: below }),
      10_000,
    )
    await root.does('rest', accounts.suspend, { userAddress: gone.account, ban: false })
    expect(await rolesIn(room, late)).toMatchObject({ [early.account]: role, [gone.account]: below })
  })

  test('a super admin appoints somebody to run it', async () => {
    const room = await made(owner, early, late)
    await root.does('rest', rooms.handOver, { room, address: late.account })
    expect(await rolesIn(room, early)).toMatchObject({ [late.account]: role })
    expect(await rolesIn(room, early)).toMatchObject({ [owner.account]: type === 'channel' ? below : role })
  })

  solo(
    'which older versions left without anybody who runs it, the oldest moderator does from the next start',
    async () => {
      const room = await made(owner, early, late, mod)
      await appoint(owner, room, mod)
      await leaveAsBefore(room, owner)
      expect(await rolesIn(room, late)).toMatchObject({ [mod.account]: 'member' })
      await Promise.all(server.apps.map(({ node }) => appointMissingManagers(node)))
      expect(await rolesIn(room, late)).toEqual({
        [mod.account]: role,
        [early.account]: 'member',
        [late.account]: 'member',
      })
      const before = (await eventsOf(room, late)).length
      await Promise.all(server.apps.map(({ node }) => appointMissingManagers(node)))
      expect((await eventsOf(room, late)).length).toBe(before)
    },
  )
})

const named = (name: string, many: number) =>
  Array.from({ length: many }, (_, at) => `${name} ${at}`) as [string, string, string]

/** As older versions let somebody leave. */
async function leaveAsBefore(room: RoomRef, { account }: Person): Promise<void> {
  const judge = (view: View) => giveUpMembership(view, { account, name: 'as before' })
  await server.apps[0]?.node.log.act(roomKey(room), { sender: account, makes: memberLeft, judge })
}

describe('O28: of a channel', () => {
  solo.each(['kick', 'ban'] as const)('whose owner goes by a %s, the one who follows has it before', async (how) => {
    const room = await channelOf(owner, early, late)
    if (how === 'kick') await root.does('rest', rooms.kick, { room, address: owner.account })
    else await moderates(root, { room, action: 'ban', target: owner.account })
    expect(await rolesIn(room, late)).toEqual({ [early.account]: 'owner', [late.account]: 'member' })
    expect(gapsIn(await eventsOf(room, late), 'owner', owner.account)).toEqual([])
  })

  solo('an admin follows its owner before a moderator who came first', async () => {
    const room = await channelOf(owner, mod, late)
    await owner.does('rest', rooms.setRole, { room, address: mod.account, role: 'moderator' })
    await owner.does('rest', rooms.setRole, { room, address: late.account, role: 'admin' })
    await owner.does('rest', rooms.leave, { room })
    expect(await rolesIn(room, mod)).toEqual({ [late.account]: 'owner', [mod.account]: 'moderator' })
  })

  solo('who is suspended follows nobody, and of a channel that all left who comes first runs it', async () => {
    const [first] = await people(server, 'suspended heir')
    const room = await channelOf(owner, first, late)
    await root.does('rest', accounts.suspend, { userAddress: first.account, ban: true })
    await owner.does('rest', rooms.leave, { room })
    expect(await rolesIn(room, late)).toMatchObject({ [first.account]: 'member', [late.account]: 'owner' })
    await root.does('rest', accounts.suspend, { userAddress: first.account, ban: false })
    for (const who of [first, late]) await who.does('rest', rooms.leave, { room })
    expect((await early.does('rest', rooms.get, { room })).room).toMatchObject({ is_active: true, member_count: 0 })
    await early.does('rest', rooms.join, { room })
    expect(await rolesIn(room, early)).toEqual({ [early.account]: 'owner' })
  })

  solo('in which everybody who could run it is suspended, who joins next runs it', async () => {
    const [gone, other] = await people(server, 'suspended alone', 'suspended beside')
    const room = await channelOf(gone, other)
    for (const who of [other, gone])
      await root.does('rest', accounts.suspend, { userAddress: who.account, ban: true, reason: 'spam' })
    expect(await rolesIn(room, early)).toMatchObject({ [gone.account]: 'owner' })
    await early.does('rest', rooms.join, { room })
    await late.does('rest', rooms.join, { room })
    const roles = { [early.account]: 'owner', [gone.account]: 'admin', [other.account]: 'member' }
    expect(await rolesIn(room, early)).toEqual({ ...roles, [late.account]: 'member' })
    await root.does('rest', accounts.suspend, { userAddress: gone.account, ban: false })
    expect(await rolesIn(room, early)).toEqual({ ...roles, [late.account]: 'member' })
  })
})

/** Adds members who cannot follow: every other one is to be erased, the rest are suspended. All came at the same time. */
async function addUnable(room: RoomRef, many: number): Promise<void> {
  const key = roomKey(room)
  const template = await Members.findOne({ room: key }).sort({ joined_at: -1 }).lean()
  const joined_at = new Date(Date.parse(template?.joined_at ?? '') + 1).toISOString()
  const ids = Array.from({ length: many }, (_, at) => `unable ${room.id} ${at}`)
  const time = new Date()
  const states = [{ erased_at: new Date(Date.now() + 86_400_000) }, { is_banned: true }]
  const times = { created_at: time, updated_at: time }
  await Accounts.insertMany(ids.map((_id, at) => ({ _id, ...times, ...states[at % 2] })))
  const own = (user_address: string) => ({
    _id: `${key}|member:${user_address}`,
    user_address,
    role: 'member',
    joined_at,
  })
  await Members.insertMany(ids.map((id) => ({ ...template, ...own(id) })))
}

test('O28: the oldest member who can follows, behind however many who cannot', async () => {
  const room = await channelOf(owner)
  await addUnable(room, 230)
  for (const who of [early, late]) await who.does('rest', rooms.join, { room })
  await owner.does('rest', rooms.leave, { room })
  expect(await rolesIn(room, late)).toMatchObject({ [early.account]: 'owner', [late.account]: 'member' })
})

solo('O28: behind 5,000 members who cannot follow, the newest one does', heavy, async () => {
  const room = await channelOf(owner)
  await addUnable(room, 5_000)
  for (const who of [early, late]) await who.does('rest', rooms.join, { room })
  await owner.does('rest', rooms.leave, { room })
  expect(await rolesIn(room, late)).toMatchObject({ [early.account]: 'member', [late.account]: 'owner' })
})

solo('O28: an admin of a group makes a second one, whom they cannot take out', async () => {
  const room = await groupOf(owner, early, late)
  await owner.does('rest', rooms.setRole, { room, address: early.account, role: 'admin' })
  expect(await rolesIn(room, late)).toMatchObject({ [owner.account]: 'admin', [early.account]: 'admin' })
  expect(await owner.refused('rest', rooms.kick, { room, address: early.account })).toMatchObject({ code: 'FORBIDDEN' })
  await early.does('rest', rooms.setRole, { room, address: late.account, role: 'moderator' })
  await owner.does('rest', rooms.leave, { room })
  expect(await rolesIn(room, late)).toEqual({ [early.account]: 'admin', [late.account]: 'moderator' })
})
