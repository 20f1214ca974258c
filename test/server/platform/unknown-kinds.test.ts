// Modes: embedded
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { Flags, Members, RoomFacts, Rooms } from '#server/domains/rooms/room-state/model'
import { finishRooms } from '#server/domains/rooms/rooms/founding'
import { RoomEvents, RoomHeads } from '#server/log/model'
import { logged, moderation } from '#shared/api/moderation/moderation'
import { inbox, unreadSnapshot } from '#shared/api/rooms/inbox'
import { invitations } from '#shared/api/rooms/invitations'
import { messages } from '#shared/api/rooms/messages'
import { type RoomRef, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, moderates, over, type Person, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'

const id = crypto.randomUUID()
const key = `assembly:${id}`
const models = [Rooms, Members, RoomFacts, Flags, RoomEvents, RoomHeads]
let server: Booted
let root: Person
let owner: Person
let member: Person
let known: RoomRef
let token: string

/** A room as a node of the next version stores it: one of ours under a kind that this version does not know. */
beforeAll(async () => {
  server = await boot({ environment: { SUPER_ADMINS: wallet('root').address } })
  root = await person(server, 'root')
  owner = await person(server, 'owner')
  member = await person(server, 'member')
  known = await channelOf(owner, member)
  const renamed = await channelOf(owner, member)
  const word = { word: 'heron', word_action: 'flag' } as const
  await moderates(owner, { room: renamed, action: 'word_add', patch: word })
  await owner.does('rest', messages.send, { room: renamed, text: 'hello heron' })
  await moderates(owner, { room: renamed, action: 'warn', target: member.account })
  token = (await owner.does('rest', invitations.create, { room: renamed })).token
  const before = roomKey(renamed)
  const isRecorded = { room: before, 'value.token_hash': { $exists: true } }
  await vi.waitFor(async () => expect(await RoomFacts.countDocuments(isRecorded)).toBe(1))
  for (const { collection } of models)
    for (const document of await collection.find({}).toArray()) {
      const text = JSON.stringify(document)
      if (!text.includes(before)) continue
      const { slug: _, unique_name: __, ...next } = JSON.parse(text.replaceAll(before, key))
      await collection.deleteOne({ _id: document._id })
      await collection.insertOne(collection === Rooms.collection ? { ...next, type: 'assembly', id } : next)
    }
})
afterAll(() => server.close())

const stored = () => Promise.all(models.map((model) => (model as typeof Rooms).find({}).lean()))

test.each(over)('over %s, a room of an unknown kind is refused by its type', async (door) => {
  const room = { type: 'assembly', id } as unknown as RoomRef
  expect(await owner.refused(door, messages.send, { room, text: 'one' })).toMatchObject({ status: 400 })
  expect(await owner.refused(door, messages.history, { room, limit: 10 })).toMatchObject({ status: 400 })
})

test('lists answer without the rooms of an unknown kind', async () => {
  for (const who of [owner, member]) {
    const list = await who.does('rest', inbox.list, {})
    expect(list.rooms.map((row) => row.id)).toContain(known.id)
    expect(list.rooms.map((row) => row.id)).not.toContain(id)
    const line = await who.socket('/notifications')
    const told = await line.hears(unreadSnapshot)
    expect(told.rooms.map(({ room }) => room.id)).toContain(known.id)
    expect(told.rooms.map(({ room }) => room.id)).not.toContain(id)
  }
})

test('an invitation to a room of an unknown kind leads nowhere', async () => {
  for (const door of over)
    expect(await root.refused(door, invitations.read, { token })).toMatchObject({ code: 'INVITATION_NOT_FOUND' })
  expect(await root.refused('rest', invitations.accept, { token })).toMatchObject({ code: 'INVITATION_NOT_FOUND' })
})

test('moderators everywhere are told of the rooms of known kinds', async () => {
  const line = await root.line('/moderation')
  await root.does('socket', moderation.queue, {})
  const rows = await RoomEvents.find({ room: key, chained: true }).lean()
  for (const app of server.apps) for (const row of rows) app.node.peers.tell('moderation', row)
  await moderates(owner, { room: known, action: 'warn', target: member.account })
  await line.hears(logged)
  const { logs } = (await root.does('rest', moderation.inspect, { action: 'mod-log' })) as { logs: object[] }
  expect(rows.length).toBeGreaterThan(0)
  expect(logs).toMatchObject([{ action_type: 'warn' }, { action_type: 'admin_role' }])
  expect((await root.does('socket', moderation.queue, {})).queue).toEqual([])
  expect(line.all(logged).map(({ room }) => room)).toEqual([known])
})

test('what is stored of a room of an unknown kind stays as it is', async () => {
  await Rooms.updateOne({ _id: key }, { $set: { founding: { members: [member.account] } } })
  const before = await stored()
  for (const app of server.apps) await finishRooms(app.node)
  expect(await stored()).toEqual(before)
})
