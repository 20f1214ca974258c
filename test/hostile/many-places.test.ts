// Modes: embedded
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChatFolders } from '#server/domains/rooms/chat-folders/model'
import { Members, Reads } from '#server/domains/rooms/room-state/model'
import { Stars } from '#server/domains/rooms/stars/model'
import { chatFolders } from '#shared/api/rooms/chat-folders'
import { starsAtMost } from '#shared/api/rooms/stars'
import { roomKey } from '#shared/kit/primitives'
import { heavy } from '#test/support/heavy'
import { channelOf, groupOf, type Person, personAt, say } from '#test/support/people'
import { times } from '#test/support/times'
import { type ChangedServer, openChangedServer } from './changed-server.ts'

let server: ChangedServer
let one: Person
const now = Math.floor(Date.now() / 1_000) * 1_000

/** A server with the real limits, and a clock that stands. */
beforeEach(async () => {
  server = await openChangedServer({ RATE_LIMIT_SCALE: '1' }, (platform) => ({
    ...platform,
    database: { ...platform.database, now: () => now },
  }))
  one = await personAt(server.url, 'asks for much')
})
afterEach(() => server.close())

/** How often somebody is answered, with this status, until their budget ends. */
async function answered(ask: () => ReturnType<Person['rest']>, expected = 200): Promise<number> {
  for (let count = 0; ; count++) {
    const { status, code } = await ask()
    if (status === expected) continue
    expect([status, code]).toEqual([429, 'RATE_LIMIT_EXCEEDED'])
    return count
  }
}

/** Stars of messages that are nowhere, each in a room of its own. */
const starsNowhere = (count: number) =>
  Stars.insertMany(
    times(count, (at) => ({
      ...{ _id: `${one.account} ${at}`, star_id: `star ${at}`, user_address: one.account, message_id: `message ${at}` },
      ...{ room: `channel:nowhere-${at}`, room_type: 'channel', notes: null, created_at: new Date(now).toISOString() },
    })),
  )

test('starred messages in a hundred rooms are listed half as often as those in one', heavy, async () => {
  await starsNowhere(100)
  expect(await answered(() => one.rest('GET /api/messages/starred?limit=100'))).toBe(30)
})

test('a star more than there may be costs as much as all are that are looked through for it', heavy, async () => {
  const room = await channelOf(one)
  const { id: messageId } = await say(one, room, 'Look')
  await starsNowhere(starsAtMost)
  const starring = { messageId, messageType: 'channel', channelId: room.id }
  expect((await one.rest('POST /api/messages/starred', starring)).status).toBe(200)
  // Of sixty calls, one has said something, and ten were the star.
  expect(await answered(() => one.rest('GET /api/messages/starred'))).toBe(49)
})

test(
  'who is in thousands of rooms, as when others have written to them, is shown these all the same',
  heavy,
  async () => {
    await inRooms(one, 6_000)
    expect(await answered(() => one.rest('GET /api/user/rooms'))).toBe(4)
  },
)

test('the rooms of the caller, also those of places, are paid by their number', async () => {
  await inRooms(one, 500)
  expect(await answered(() => one.rest('GET /api/user/rooms?limit=1'))).toBe(10)
  const other = await personAt(server.url, 'other')
  await inRooms(other, 500, 'location')
  expect(await answered(() => other.rest('GET /api/location-chats/joined'))).toBe(10)
})

const inRooms = (who: Person, count: number, type = 'channel') =>
  Members.insertMany(
    times(count, (at) => ({
      ...{ _id: `${type}:nowhere-${at}|member:${who.account}`, room: `${type}:nowhere-${at}` },
      ...{ user_address: who.account, role: 'member', joined_at: new Date(now).toISOString() },
      ...{ applied_seq: 1, is_active: true },
    })),
  )

test('O04: what costly calls cost is counted for an address as well, however many accounts it has', heavy, async () => {
  const accounts = await Promise.all(times(7, (at) => personAt(server.url, `account ${at}`)))
  for (const who of accounts) await inRooms(who, 1_250)
  let count = 0
  for (const who of accounts) count += await answered(() => who.rest('GET /api/user/rooms?limit=1'))
  // Each costs 24 calls beyond itself, and the address has 600.
  expect(count).toBe(25)
})

test('O04: lists of channels, dry runs and pages of history are paid by what they read', heavy, async () => {
  await inRooms(one, 1_000)
  expect(await answered(() => one.rest('GET /api/channels?joined=true&limit=1'))).toBe(10)
  const other = await personAt(server.url, 'other')
  expect(await answered(() => other.rest('GET /api/channels?offset=1000&limit=1'))).toBe(10)
  const owner = await personAt(server.url, 'owner')
  const room = await channelOf(owner)
  for (let at = 0; at < 51; at += 1) await owner.rest(`POST /api/channels/${room.id}/messages`, { content: 'Look' })
  const count = await answered(() => owner.rest('POST /api/moderation/simulate', { room, word: 'zork' }))
  // Of a hundred calls, one has made the channel.
  expect(count).toBe(49)
  const reader = await personAt(server.url, 'reader')
  expect(await answered(() => reader.rest(`GET /api/channels/${room.id}/messages?limit=100`))).toBe(50)
})

const hundred = times(100, (at) => ({ type: 'channel', id: `nowhere-${at}` }) as const)
test.each([
  ['listed', 200, () => one.rest('GET /api/chat-folders')],
  ['changed', 200, (id: string) => one.rest(`PATCH /api/chat-folders/${id}`, { label: 'Changed' })],
  ['filled', 404, (id: string) => one.rest(`PUT /api/chat-folders/${id}/chats`, { chats: hundred })],
] as const)('folders of a hundred chats are %s half as often as those of few', async (_how, status, ask) => {
  const { folder } = await one.does('rest', chatFolders.create, { label: 'Large' })
  await ChatFolders.updateOne({ _id: folder.id }, { $set: { chats: hundred.map(roomKey) } })
  // Of a hundred calls, one has made it.
  expect(await answered(() => ask(folder.id), status)).toBe(49)
})

test('receipts of a hundred messages are told half as often as those of few', async () => {
  const { id } = await groupOf(one)
  const room = `group:${id}`
  const joined_at = new Date(now).toISOString()
  const readers = times(100, (at) => ({ room, user_address: `reader ${at}`, n: at + 1 }))
  await Members.insertMany(
    readers.map(({ user_address }) => ({
      ...{ _id: `${room}|member:${user_address}`, room, user_address, role: 'member', joined_at },
      ...{ applied_seq: 1, is_active: true },
    })),
  )
  await Reads.insertMany(
    readers.map(({ user_address, n }) => ({ _id: `${room}|${user_address}`, room, user_address, seq: n, n })),
  )
  const count = await answered(() => one.rest(`GET /api/groups/${id}/read`))
  // Making the group has cost some of the hundred calls.
  expect([count > 30, count <= 50]).toEqual([true, true])
})
