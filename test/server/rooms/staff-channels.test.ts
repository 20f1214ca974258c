// Modes: embedded, two-nodes-redis
import { afterEach, describe, expect, test, vi } from 'vitest'
import { updateAllStaffMemberships } from '#server/domains/rooms/room-state/membership'
import { Members, Rooms } from '#server/domains/rooms/room-state/model'
import { ensureStaffChannel } from '#server/domains/rooms/rooms/index'
import { accounts } from '#shared/api/people/accounts'
import { chatFolders } from '#shared/api/rooms/chat-folders'
import { inbox, unreadChanged, unreadSnapshot } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { bootWith } from '#test/support/boot-with'
import { appoint } from '#test/support/moderation'
import { alpha, channelOf, listenTo, moderates, type Person, people, person, say } from '#test/support/people'
import { solo } from '#test/support/solo'

const { server, admin, root, stranger } = await bootWith(['admin', 'root', 'stranger'], {
  entry: 'through the door',
  admins: ['admin'],
  superAdmins: ['root'],
})

const patience = { timeout: 15_000 }
let founded = 0

async function staffChannel(): Promise<RoomRef & { id: string }> {
  const asked = { name: `Bridge ${process.pid} ${++founded}`, accessLevel: 'staff' } as const
  const { channel } = await admin.does('rest', rooms.createChannel, asked)
  expect(channel).toMatchObject({ access_level: 'staff', is_official: true, slug: null, is_member: true })
  return { type: 'channel', id: channel.id }
}

const demote = (who: Person) => moderates(root, { room: null, action: 'demote', target: who.account })
const membershipOf = async (who: Person, room: RoomRef) =>
  (await Members.findOne({ _id: `${roomKey(room)}|member:${who.account}` }).lean())?.is_active ?? null
const becomes = (who: Person, room: RoomRef, isIn: boolean) =>
  expect.poll(() => membershipOf(who, room), patience).toBe(isIn)
const codeOf = async (who: Person, room: RoomRef) => {
  const answer = await who.tries('rest', rooms.get, { room })
  return answer.ok ? 'seen' : answer.error.code
}
const idsOf = (channels: readonly { id: string }[]) => channels.map(({ id }) => id)
const listed = async (who: Person, query: { joined?: boolean } = {}) =>
  idsOf((await who.does('rest', rooms.list, { limit: 200, ...query })).channels)
const own = async (who: Person) => idsOf((await who.does('rest', inbox.list, {})).rooms)

/** No node settles who is in the rooms of the staff, as where it dies. */
function settlesNothing() {
  const find = Rooms.find.bind(Rooms)
  const dying = (filter: { access_level?: unknown }, ...more: []) => {
    if (filter.access_level === 'staff') throw new Error('The process has died')
    return find(filter as object, ...more)
  }
  return vi.spyOn(Rooms, 'find').mockImplementation(dying as unknown as typeof Rooms.find)
}
afterEach(() => vi.restoreAllMocks())

describe('a channel of the staff', () => {
  test('is founded by admins alone, has no slug, and is of no event', async () => {
    const asked = { name: `Crow's nest ${process.pid}`, accessLevel: 'staff' } as const
    const refused = await stranger.refused('rest', rooms.createChannel, asked)
    expect(refused).toMatchObject({
      status: 403,
      code: 'FORBIDDEN',
      message: 'Only admins found channels of the staff',
    })
    for (const more of [{ slug: 'nest' }, { attendanceEventId: 7 }])
      expect((await admin.refused('rest', rooms.createChannel, { ...asked, ...more })).code).toBe('VALIDATION_ERROR')
    for (const [at, accessLevel] of [null, '', 'public'].entries()) {
      const { body } = await stranger.rest('POST /api/channels', { name: `Deck ${process.pid} ${at}`, accessLevel })
      expect(body.channel).toMatchObject({ access_level: 'public', is_official: false })
    }
    expect((await admin.rest('POST /api/channels', { ...asked, accessLevel: 'members' })).status).toBe(400)
  })

  solo('takes no name from anybody, so that nobody learns of it by a name that is taken', async () => {
    const room = await staffChannel()
    const { name } = (await admin.does('rest', rooms.get, { room })).room
    expect((await stranger.does('rest', rooms.createChannel, { name })).channel.name).toBe(name)
    const renamed = `Wheelhouse ${process.pid}`
    await admin.does('rest', rooms.update, { room, name: renamed })
    expect((await stranger.does('rest', rooms.createChannel, { name: renamed })).channel.name).toBe(renamed)
    expect((await admin.refused('rest', rooms.update, { room, slug: 'wheelhouse' })).code).toBe('VALIDATION_ERROR')
    expect((await admin.does('rest', rooms.get, { room })).room).toMatchObject({ name: renamed, slug: null })
  })

  test('has all admins for members from the start, and is listed to members alone', async () => {
    const room = await staffChannel()
    await becomes(root, room, true)
    expect(await listed(root)).toContain(room.id)
    expect(await listed(root, { joined: true })).toContain(room.id)
    await expect.poll(() => own(root), patience).toContain(room.id)
    expect(await listed(stranger)).not.toContain(room.id)
    expect(await membershipOf(stranger, room)).toBeNull()
    await root.does('rest', rooms.leave, { room })
    await becomes(root, room, false)
    expect(await listed(root)).not.toContain(room.id)
    expect(await codeOf(root, room)).toBe('seen')
  })

  test('is joined by whoever comes to moderate everywhere, and left by whoever does so no more', async () => {
    const room = await staffChannel()
    const [judge] = await people(server, 'judge')
    expect(await codeOf(judge, room)).toBe('ROOM_NOT_FOUND')
    await appoint(root, null, judge)
    await becomes(judge, room, true)
    await say(judge, room, 'On the bridge')
    await demote(judge)
    expect(await codeOf(judge, room)).toBe('ROOM_NOT_FOUND')
    await becomes(judge, room, false)
    expect(await own(judge)).not.toContain(room.id)
    await appoint(root, null, judge)
    await becomes(judge, room, true)
    await demote(judge)
  })

  test('keeps an admin who moderates no more, and who moderates everywhere and is no admin any more', async () => {
    const room = await staffChannel()
    const [both] = await people(server, 'both')
    await root.does('rest', accounts.grantAdmin, { walletAddress: both.account })
    await becomes(both, room, true)
    await appoint(root, null, both)
    await demote(both)
    expect(await codeOf(both, room)).toBe('seen')
    await appoint(root, null, both)
    await root.does('rest', accounts.revokeAdmin, { address: both.account })
    expect(await codeOf(both, room)).toBe('seen')
    expect(await membershipOf(both, room)).toBe(true)
    await demote(both)
    await becomes(both, room, false)
  })

  test('is lost with a suspension, and found again when that is lifted', async () => {
    const room = await staffChannel()
    const [judge] = await people(server, 'a judge who is suspended')
    await appoint(root, null, judge)
    await becomes(judge, room, true)
    await root.does('rest', accounts.suspend, { userAddress: judge.account, ban: true })
    expect(await codeOf(judge, room)).toBe('ROOM_NOT_FOUND')
    await becomes(judge, room, false)
    await root.does('rest', accounts.suspend, { userAddress: judge.account, ban: false })
    await becomes(judge, room, true)
    await demote(judge)
  })

  test('that somebody of the staff has left brings them back when they sign in again, unless they are banned there', async () => {
    const room = await staffChannel()
    const [judge, banned] = await people(server, 'a judge who leaves', 'a judge who is banned')
    for (const who of [judge, banned]) await appoint(root, null, who)
    for (const who of [judge, banned]) await becomes(who, room, true)
    await judge.does('rest', rooms.leave, { room })
    await moderates(root, { room, action: 'ban', target: banned.account, duration: '1h' })
    for (const who of [judge, banned]) await becomes(who, room, false)
    for (const { node } of server.apps) await updateAllStaffMemberships(node)
    expect(await membershipOf(judge, room)).toBe(false)
    for (const name of ['a judge who leaves', 'a judge who is banned']) await person(server, name)
    await becomes(judge, room, true)
    expect(await membershipOf(banned, room)).toBe(false)
    for (const who of [judge, banned]) await demote(who)
  })

  test('shows itself to nobody who is demoted, nor to who is suspended, where the node dies that was to take them out, which is made up for', async () => {
    const room = await staffChannel()
    const [gone, silenced, fresh] = await people(server, 'gone', 'silenced', 'fresh')
    for (const who of [gone, silenced]) await appoint(root, null, who)
    for (const who of [gone, silenced]) await becomes(who, room, true)
    for (const who of [gone, silenced]) await who.does('rest', chatFolders.setPinned, { chats: [room] })
    const spy = settlesNothing()
    await demote(gone)
    await root.does('rest', accounts.suspend, { userAddress: silenced.account, ban: true })
    await appoint(root, null, fresh)
    for (const who of [gone, silenced]) {
      expect(await membershipOf(who, room)).toBe(true)
      expect(await codeOf(who, room)).toBe('ROOM_NOT_FOUND')
    }
    expect((await gone.refused('socket', messages.send, { room, text: 'Still here?' })).code).toBe('ROOM_NOT_FOUND')
    for (const who of [gone, silenced]) {
      expect(await own(who)).not.toContain(room.id)
      expect(await listed(who)).not.toContain(room.id)
      expect((await who.does('rest', chatFolders.list, {})).pinned).toEqual([])
    }
    const pinning = { chats: [room] }
    expect((await gone.refused('rest', chatFolders.setPinned, pinning)).code).toBe('ROOM_NOT_FOUND')
    expect(await membershipOf(fresh, room)).toBeNull()
    spy.mockRestore()
    await Promise.all(server.apps.map(({ node }) => updateAllStaffMemberships(node)))
    for (const who of [gone, silenced]) await becomes(who, room, false)
    await becomes(fresh, room, true)
    for (const who of [silenced, fresh]) await demote(who)
  })

  test('is heard by nobody who is demoted, from the answer to that on', async () => {
    const room = await staffChannel()
    const url = server.urls.at(-1)
    const elsewhere = await channelOf(admin)
    const [keeper, judge] = [await person(server, 'keeper', url), await person(server, 'a judge who listens', url)]
    for (const who of [keeper, judge]) await appoint(root, null, who)
    for (const who of [keeper, judge]) await becomes(who, room, true)
    await judge.does('rest', rooms.join, { room: elsewhere })
    const [kept, lost] = [await listenTo(keeper, room), await listenTo(judge, room)]
    await say(admin, room, 'For both')
    for (const line of [kept, lost]) await line.follows(room, ({ type }) => type === 'message.created')
    const told = await judge.line('/notifications')
    await told.hears(unreadSnapshot)
    // The record of it is not to be what ends it.
    settlesNothing()
    await demote(judge)
    for (const line of [lost, told]) line.forget()
    const { id } = await say(admin, room, 'For one')
    await kept.follows(room, ({ data }) => 'message' in data && data.message?.id === id)
    expect((await judge.refused(lost, messages.join, { room })).code).toBe('ROOM_NOT_FOUND')
    await judge.does(lost, messages.join, { room: alpha })
    expect(lost.log(room)).toEqual([])
    await say(admin, elsewhere, 'For everybody')
    await told.hears(unreadChanged, (news) => news.room.id === elsewhere.id)
    expect(told.all(unreadChanged).filter((news) => news.room.id === room.id)).toEqual([])
    vi.restoreAllMocks()
    await demote(keeper)
  })

  solo('of the house is there once, and stays archived', async () => {
    const nodes = server.apps.map(({ node }) => node)
    for (const node of [...nodes, ...nodes]) await ensureStaffChannel(node)
    const found = await Rooms.find({ access_level: 'staff', name: 'Team' }).lean()
    expect(found).toMatchObject([{ is_official: true, is_active: true }])
    const room = { type: 'channel', id: found[0]?.id ?? '' } as const
    for (const node of nodes) await updateAllStaffMemberships(node)
    await becomes(root, room, true)
    await root.does('rest', rooms.archive, { room })
    for (const node of nodes) await ensureStaffChannel(node)
    expect((await root.does('rest', rooms.get, { room })).room.is_active).toBe(false)
  })
})
