// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import type { Operation } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, over, type Person, person } from '#test/support/people'

let server: Booted
let owner: Person

beforeAll(async () => {
  server = await boot()
  owner = await person(server, 'owner')
})
afterAll(() => server.close())

const invisible = ['', ' ', '\u200b', '\u2060\ufeff', '\u00ad', '\u2800', '\u3164', '\uffa0 \u115f', '\u202e', '\ufe0f']
const places: [
  what: string,
  operation: Operation,
  inputOf: (text: string, about: { room: RoomRef; id: string }) => object,
][] = [
  ['a message', messages.send, (text, { room }) => ({ room, text })],
  ['an edit', messages.edit, (text, { room, id }) => ({ room, id, text })],
  ['a reaction', messages.react, (emoji, { room, id }) => ({ room, id, emoji, on: true })],
  ['a question', polls.create, (question, { room }) => ({ room, question, options: ['one', 'another'] })],
  ['an answer of a poll', polls.create, (text, { room }) => ({ room, question: 'which?', options: ['one', text] })],
  ['the name of a channel', rooms.createChannel, (name) => ({ name })],
  ['the name of a group', rooms.createGroup, (name) => ({ name, memberAddresses: [] })],
  ['a new name', rooms.update, (name, { room }) => ({ room, name })],
]

describe.each(over)('over %s', (door) => {
  const tell = (operation: Operation, input: object): Promise<string> =>
    owner.does(operation.socket ? door : 'rest', operation, input as never).then(
      () => 'OK',
      (error: Error) => /"code":\s*"(\w+)"/.exec(error.message)?.[1] ?? error.message,
    )

  test.each(places)('%s of which nothing can be seen is refused', async (_what, operation, inputOf) => {
    const room = await channelOf(owner)
    const { message } = await owner.does(door, messages.send, { room, text: 'about this' })
    for (const text of invisible)
      expect([escape(text), await tell(operation, inputOf(text, { room, id: message.id }))]).toEqual([
        escape(text),
        'VALIDATION_ERROR',
      ])
    for (const sign of ['👍🏽', '❤️', 'ـ'])
      expect(
        await tell(operation, inputOf(`${sign} ${crypto.randomUUID().slice(0, 8)}`, { room, id: message.id })),
      ).toBe('OK')
  })
})
