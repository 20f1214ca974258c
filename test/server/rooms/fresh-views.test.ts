// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, expect, test } from 'vitest'
import { moderation } from '#shared/api/moderation/moderation'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import type { Operation } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { befriend, groupOf, over, type Person, person } from '#test/support/people'

let server: Booted
let owner: Person
let guest: Person
let third: Person

beforeAll(async () => {
  server = await boot()
  const at = (node: number) => server.urls[node % server.urls.length] ?? server.url
  ;[owner, guest, third] = [
    await person(server, 'owner', at(0)),
    await person(server, 'guest', at(1)),
    await person(server, 'third', at(0)),
  ]
  await befriend(owner, guest)
})
afterAll(() => server.close())

interface Place {
  room: RoomRef & { id: string }
  message: string
  poll: string
}

const acts: [string, Operation, (place: Place) => object][] = [
  ['leaves', rooms.leave, ({ room }) => ({ room })],
  ['sends', messages.send, ({ room }) => ({ room, text: 'hello' })],
  ['reacts', messages.react, ({ room, message }) => ({ room, id: message, emoji: '👍' })],
  ['asks', polls.create, ({ room }) => ({ room, question: 'Which?', options: ['a', 'b'] })],
  ['votes', polls.vote, ({ poll }) => ({ id: poll, optionIndex: 1 })],
  ['deletes', messages.remove, ({ room, message }) => ({ room, id: message })],
  ['pins', messages.pin, ({ room, message }) => ({ room, id: message, pinned: true })],
  ['removes somebody', rooms.kick, ({ room }) => ({ room, address: third.account })],
  ['bans', moderation.act, ({ room }) => ({ room, action: 'ban', target: third.account, duration: '1h' })],
  ['renames', rooms.update, ({ room }) => ({ room, name: 'Another name' })],
]

test.each(acts)(
  'M43: who was let in on one node %s on another at once, and is known there',
  async (_what, act, inputOf) => {
    for (const door of over) {
      const room = await groupOf(owner, third)
      const { message } = await owner.does('rest', messages.send, { room, text: 'welcome' })
      const { poll } = await owner.does('rest', polls.create, { room, question: 'Which?', options: ['a', 'b'] })
      // The other node knows the room, and that this person is not in it.
      await guest.refused('rest', messages.history, { room })
      await owner.does('rest', rooms.addMembers, { id: room.id, addresses: [guest.account] })
      const says = await guest
        .does(act.socket ? door : 'rest', act, inputOf({ room, message: message.id, poll: poll.id }) as never)
        .then(
          () => 'done',
          (error: Error) => error.message,
        )
      expect(says).not.toMatch(/_NOT_FOUND|NOT_A_MEMBER|Invalid/)
    }
  },
)
