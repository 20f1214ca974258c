// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, type Person, people, say } from '#test/support/people'

let server: Booted
let owner: Person
let member: Person
let late: Person
beforeAll(async () => {
  server = await boot()
  ;[owner, member, late] = await people(server, 'owner', 'member', 'late')
})
afterAll(() => server.close())

const firstFor = async (who: Person, room: RoomRef) =>
  (await who.does('socket', messages.join, { room })).me.first_unread

test('N50: who joins is told the first message that is unread to them: after the mark, or after they came', async () => {
  const room = await channelOf(owner, member)
  expect(await firstFor(member, room)).toBeNull()
  const said = []
  for (const text of ['one', 'two', 'three']) said.push(await say(owner, room, text))
  const [one, two, three] = said.map(({ seq, created_at }) => ({ seq, created_at }))
  expect(await firstFor(member, room)).toEqual(one)
  await member.does('rest', messages.read, { room, seq: one?.seq ?? 0 })
  expect(await firstFor(member, room)).toEqual(two)
  await late.does('rest', rooms.join, { room })
  expect(await firstFor(late, room)).toBeNull()
  const four = await say(owner, room, 'four')
  expect(await firstFor(late, room)).toEqual({ seq: four.seq, created_at: four.created_at })
  await member.does('rest', messages.read, { room, seq: four.seq })
  expect(await firstFor(member, room)).toBeNull()
  expect(three?.seq).toBeLessThan(four.seq)
})
