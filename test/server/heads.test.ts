import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { messages } from '#shared/api/messages'
import { heads } from '#shared/api/rooms'
import { roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, type Person, person } from '#test/support/people'

let server: Booted
let owner: Person
let member: Person
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  server = await boot()
  owner = await person(server, 'owner')
  member = await person(server, 'member')
})
afterAll(async () => {
  await server.close()
  vi.useRealTimers()
})

test('every 25 seconds a connection is told the heads of the rooms it listens to, and of no others', async () => {
  const heard = await channelOf(owner, member)
  const unheard = await channelOf(owner, member)
  const line = await member.line()
  await member.does('socket', messages.join, { room: heard })
  const { message } = await owner.does('socket', messages.send, { room: heard, text: 'the head' })
  await owner.does('socket', messages.send, { room: unheard, text: 'elsewhere' })
  await line.follows(heard, ({ seq }) => seq === message.seq)

  vi.advanceTimersByTime(24_999)
  expect(line.all(heads)).toEqual([])
  vi.advanceTimersByTime(1)
  await line.hears(heads.name)
  expect(line.all(heads)).toEqual([{ heads: { [roomKey(heard)]: message.seq } }])
})
