// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inbox } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, over, type Person, people } from '#test/support/people'

let server: Booted
let owner: Person
let member: Person

beforeAll(async () => {
  server = await boot()
  ;[owner, member] = await people(server, 'owner', 'member')
})
afterAll(() => server.close())

test.each(over)('N24: a quote and a preview end with a whole character, over %s', async (door) => {
  const room = await channelOf(owner, member)
  const { message } = await owner.does(door, messages.send, { room, text: `a${'🇩🇪'.repeat(150)}` })
  const reply = await member.does(door, messages.send, { room, text: `${'b'.repeat(49)}😀😀`, reply_to: message.id })
  expect(reply.message.reply_to?.content).toBe(`a${'🇩🇪'.repeat(99)}`)
  const told = JSON.stringify(await owner.does(door, inbox.list, {}))
  expect(told).toContain(`${'b'.repeat(49)}😀"`)
})
