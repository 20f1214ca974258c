// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { moderation } from '#shared/api/moderation/moderation'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import type { Operation } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { encoderNames } from '#test/hostile/generator'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, over, type Person, person } from '#test/support/people'

let server: Booted
let owner: Person
let member: Person

beforeAll(async () => {
  server = await boot()
  ;[owner, member] = await Promise.all([person(server, 'owner'), person(server, 'member')])
})
afterAll(() => server.close())

/** Every place of an act on which a person writes what they like. */
const acts: [string, Operation, (text: string, about: { room: RoomRef; id: string }) => object][] = [
  ['a reaction', messages.react, (emoji, { room, id }) => ({ room, id, emoji, on: true })],
  ['a message', messages.send, (text, { room }) => ({ room, text })],
  ['a key', messages.send, (client_msg_id, { room }) => ({ room, text: 'x', client_msg_id })],
  [
    'a mention',
    messages.send,
    (id, { room }) => ({ room, text: 'hello you', mentions: [{ kind: 'user', id, start: 0, len: 5 }] }),
  ],
  [
    'an attachment',
    messages.send,
    (name, { room }) => ({ room, text: 'x', attachments: [{ url: 'https://example.com/a.png', name, mime: name }] }),
  ],
  ['an edit', messages.edit, (text, { room, id }) => ({ room, id, text })],
  ['a reason', messages.remove, (reason, { room, id }) => ({ room, id, reason })],
  ['a poll', polls.create, (text, { room }) => ({ room, question: text, options: [text, 'another'] })],
  ['a room', rooms.update, (text, { room }) => ({ room, name: `${text} ${text}`, description: text, emoji: text })],
  ['a warning', moderation.act, (text, { room }) => ({ room, action: 'warn', target: member.account, reason: text })],
  [
    'a word',
    moderation.act,
    (word, { room }) => ({ room, action: 'word_add', patch: { word, word_action: 'flag', is_regex: false } }),
  ],
]

describe.each(over)('M41: over %s', (door) => {
  /** What it answers, refusal or not. */
  const tell = (operation: Operation, input: object): Promise<string> =>
    owner.does(operation.socket ? door : 'rest', operation, input as never).then(
      () => 'OK',
      (error: Error) => (error.message.includes('"code"') ? error.message : `not a refusal: ${error.message}`),
    )

  test.each(acts)('%s an encoder refuses is refused alone, and its room goes on', async (_what, operation, inputOf) => {
    const room = await channelOf(owner, member)
    for (const name of encoderNames) {
      const { message } = await owner.does(door, messages.send, { room, text: 'about this' })
      const began = performance.now()
      const says = await tell(operation, inputOf(name, { room, id: message.id }))
      expect(says, name).not.toMatch(/SERVICE_UNAVAILABLE|INTERNAL_ERROR|DATABASE_ERROR|not a refusal/)
      expect(performance.now() - began).toBeLessThan(15_000)
    }
    await member.does(door, messages.send, { room, text: 'still here' })
  })
})
