// Modes: embedded
import { expect, test } from 'vitest'
import { fakeVideo } from '#server/ports/video/fake'
import { meetings } from '#shared/api/meetings/meetings'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import { rooms } from '#shared/api/rooms/rooms'
import { streams } from '#shared/api/streams/streams'
import type { Operation } from '#shared/kit/contract'
import { bootWith } from '#test/support/boot-with'
import { channelOf, moderates, over, say } from '#test/support/people'

const tooComplex = { status: 400, code: 'TEXT_TOO_COMPLEX', verdict: { ok: false, step: 'blocked_words', rule: null } }
const { admin, founder } = await bootWith(['admin', 'founder'], {
  admins: ['admin'],
  environment: { VERDICT_STEPS: '3000' },
  services: { video: fakeVideo() },
})
await moderates(admin, { room: null, action: 'word_add', patch: { word: 'zork' } })
const costly = 'ж'.repeat(32)
const room = await channelOf(founder)
const { stream } = await founder.does('rest', streams.create, { title: 'Show' })
const { id } = await say(founder, room, 'hello')
const question = { room, question: 'Tea?', options: ['Yes', 'No'] }
const { poll } = await founder.does('socket', polls.create, question)
const { room: meeting } = await founder.does('rest', meetings.create, {})
const asked: readonly (readonly [string, Operation, object])[] = [
  ['send', messages.send, { room, text: costly }],
  ['edit', messages.edit, { room, id, text: costly }],
  ['react', messages.react, { room, id, emoji: costly }],
  ['remove', messages.remove, { room, id, reason: costly }],
  ['create a poll', polls.create, { ...question, question: costly }],
  ['change a poll', polls.update, { room, pollId: poll.id, question: costly }],
  ['found a channel', rooms.createChannel, { name: costly }],
  ['found a group', rooms.createGroup, { name: costly }],
  ['change a room', rooms.update, { room, description: costly }],
  ['set a topic', rooms.setTopic, { room, topic: costly }],
  ['open a stream', streams.create, { title: costly }],
  ['change a stream', streams.change, { id: stream.id, title: costly }],
  ['open a meeting', meetings.create, { title: costly }],
  ['enter a meeting', meetings.token, { code: meeting.joinCode, displayName: costly }],
  ['say in a stream', streams.say, { id: stream.id, message: costly }],
]

test.each(asked)('N01: words of every act are judged by it, over each door: %s', async (_title, operation, input) => {
  for (const door of over.filter((door) => (door === 'rest' ? operation.http : operation.socket))) {
    expect(await founder.refused(door, operation, input as never), door).toMatchObject(tooComplex)
  }
})
