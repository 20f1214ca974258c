// Modes: embedded
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { moderation } from '#shared/api/moderation/moderation'
import type { ModerationAction } from '#shared/api/moderation/moderation-acts'
import { messages } from '#shared/api/rooms/messages'
import { polls } from '#shared/api/rooms/polls'
import type { RoomEvent } from '#shared/api/rooms/room-events'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import type { More } from '#test/support/moderation'
import { channelOf, listenTo, type Person, people } from '#test/support/people'
import { applyEvent, fetchState, type RoomState } from '#test/support/room-state'

let server: Booted
let everybody: readonly [Person, Person, Person, Person]
beforeAll(async () => {
  server = await boot()
  everybody = await people(server, 'owner', 'ada', 'bo', 'cy')
})
afterAll(() => server.close())

/** One thing that somebody tries; the numbers choose among whatever is there. */
interface Step {
  kind: keyof typeof kinds
  by: number
  to: number
  which: number
}

interface Scene {
  room: RoomRef & { id: string }
  by: Person
  to: string
  /** Some message that was sent and some poll that was asked, or nothing of the kind. */
  message: { id: string; version: number }
  poll: string
  which: number
}

const nothing = 'nothing'
const texts = ['Hello', 'How are you?', 'Fine', 'So am I']
const signs = ['👍', '🎉']
const rulesChanges = [
  { read_only: true },
  { read_only: false },
  { max_message_length: 3 },
  { links_allowed: 'disabled' },
] as const
const pick = <T>(choices: readonly T[], which: number): T => choices[which % choices.length] as T
const message = ({ room, message: { id } }: Scene) => ({ room, id })
const poll = ({ room, poll: pollId }: Scene) => ({ room, pollId })
const moderating =
  (action: ModerationAction, more: (scene: Scene) => More = ({ to }) => ({ target: to })) =>
  (scene: Scene) =>
    scene.by.tries('socket', moderation.act, { room: scene.room, action, ...more(scene) })

const kinds = {
  say: ({ by, room, which }: Scene) => by.tries('socket', messages.send, { room, text: pick(texts, which) }),
  edit: (scene: Scene) =>
    scene.by.tries('socket', messages.edit, { ...message(scene), text: `${pick(texts, scene.which)}!` }),
  remove: (scene: Scene) => scene.by.tries('socket', messages.remove, message(scene)),
  react: (scene: Scene) =>
    scene.by.tries('socket', messages.react, { ...message(scene), emoji: pick(signs, scene.which) }),
  pin: (scene: Scene) => scene.by.tries('socket', messages.pin, { ...message(scene), pinned: scene.which % 3 > 0 }),
  ask: ({ by, room }: Scene) => by.tries('socket', polls.create, { room, question: 'Tea?', options: ['Yes', 'No'] }),
  vote: (scene: Scene) => scene.by.tries('rest', polls.vote, { ...poll(scene), optionIndex: scene.which % 2 }),
  closePoll: (scene: Scene) => scene.by.tries('rest', polls.update, { ...poll(scene), isClosed: true }),
  deletePoll: (scene: Scene) => scene.by.tries('rest', polls.remove, poll(scene)),
  join: ({ by, room }: Scene) => by.tries('rest', rooms.join, { room }),
  // The owner stays, and so hears all of it.
  leave: ({ room, which }: Scene) => pick(everybody.slice(1), which).tries('rest', rooms.leave, { room }),
  kick: ({ by, room, to }: Scene) => by.tries('rest', rooms.kick, { room, address: to }),
  role: ({ by, room, to, which }: Scene) =>
    by.tries('rest', rooms.setRole, { room, address: to, role: pick(['admin', 'member'] as const, which) }),
  rename: ({ by, room, which }: Scene) => by.tries('rest', rooms.update, { room, name: `${room.id} ${which}` }),
  rules: moderating('rules', ({ which }) => ({ patch: { rules: pick(rulesChanges, which) } })),
  ban: moderating('ban', ({ to, which }) => ({ target: to, duration: pick(['1h', 'permanent'], which) })),
  unban: moderating('unban'),
  mute: moderating('mute', ({ to, which }) => ({ target: to, duration: pick(['10m', 'permanent'], which) })),
  unmute: moderating('unmute'),
  warn: moderating('warn'),
  purge: moderating('purge'),
}

/** The owner may do everything, so that half of what is tried is theirs. */
const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom('say' as const, 'join' as const) },
    { weight: 4, arbitrary: fc.constantFrom(...(Object.keys(kinds) as (keyof typeof kinds)[])) },
  ),
  by: fc.oneof(fc.constant(0), fc.nat(3)),
  to: fc.nat(3),
  which: fc.nat(30),
})

const Sent = z.object({ message: z.object({ id: z.string(), version: z.number() }) })
const Asked = z.object({ poll: z.object({ id: z.string() }) })

async function play(
  room: RoomRef & { id: string },
  steps: readonly Step[],
  made: { messages: Scene['message'][]; polls: string[] },
) {
  for (const { kind, by, to, which } of steps) {
    const answer = await kinds[kind]({
      room,
      by: pick(everybody, by),
      to: pick(everybody, to).account,
      message: made.messages.length > 0 ? pick(made.messages, which) : { id: nothing, version: 1 },
      poll: made.polls.length > 0 ? pick(made.polls, which) : nothing,
      which,
    })
    if (!answer.ok) {
      expect(answer.error.status, `${kind} ${JSON.stringify(answer.error)}`).toBeLessThan(500)
      continue
    }
    const [sent, asked] = [Sent.safeParse(answer.data).data, Asked.safeParse(answer.data).data]
    if (sent && (kind === 'say' || kind === 'ask')) made.messages.push(sent.message)
    if (asked && kind === 'ask') made.polls.push(asked.poll.id)
  }
}

async function eventsAfter(room: RoomRef, after_seq: number) {
  const page = await everybody[0].does('rest', messages.sync, { room, after_seq })
  expect(page.complete).toBe(true)
  return page
}

function applied(state: RoomState, events: readonly RoomEvent[]): RoomState {
  const after = structuredClone(state)
  for (const event of events) applyEvent(after, event)
  return after
}

const stepsOf = (steps: readonly (readonly [Step['kind'], by: number, to: number, which: number])[]): Step[] =>
  steps.map(([kind, by, to, which]) => ({ kind, by, to, which }))

/** What is pinned goes with what takes it back. */
const pinnedAndGone: [Step[], Step[]] = [
  stepsOf([
    ['say', 2, 0, 0],
    ['pin', 0, 0, 2],
  ]),
  stepsOf([
    ['purge', 0, 2, 0],
    ['ask', 0, 0, 0],
    ['pin', 0, 0, 1],
    ['deletePoll', 0, 0, 0],
    ['say', 1, 0, 0],
    ['pin', 0, 0, 2],
    ['remove', 0, 0, 2],
  ]),
]

/** In catch-up the poll comes as it is now, and is gone with the purge all the same. */
const pollPurged: [Step[], Step[]] = [
  stepsOf([['say', 0, 0, 0]]),
  stepsOf([
    ['ask', 2, 0, 0],
    ['closePoll', 2, 0, 0],
    ['purge', 0, 2, 0],
  ]),
]

/** One of each kind that can be. */
const everything: [Step[], Step[]] = [
  stepsOf([['say', 0, 0, 0]]),
  stepsOf([
    ['say', 0, 0, 0],
    ['edit', 0, 0, 0],
    ['react', 0, 0, 0],
    ['pin', 0, 0, 2],
    ['pin', 0, 0, 0],
    ['rules', 0, 0, 3],
    ['rename', 0, 0, 1],
    ['role', 0, 1, 0],
    ['mute', 0, 2, 1],
    ['unmute', 0, 2, 0],
    ['ask', 0, 0, 0],
    ['vote', 1, 0, 0],
    ['deletePoll', 0, 0, 0],
    ['say', 2, 0, 0],
    ['purge', 0, 2, 0],
    ['kick', 0, 2, 0],
    ['join', 2, 0, 0],
    ['ban', 0, 3, 0],
    ['unban', 0, 3, 0],
    ['join', 3, 0, 0],
    ['leave', 0, 0, 0],
    ['remove', 0, 0, 1],
  ]),
]

const met = new Set<string>()

test('P3 P5: what a room was, and the events since, make what it is now', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 12 }),
      fc.array(step, { minLength: 6, maxLength: 30 }),
      async (before, after) => {
        const [owner, ...others] = everybody
        const room = await channelOf(owner, ...others)
        const listening = await listenTo(owner, room)
        const made = { messages: [], polls: [] }

        await play(room, before, made)
        const { head_seq: a } = await eventsAfter(room, 0)
        const was = await fetchState(owner, room)
        await play(room, after, made)
        const is = await fetchState(owner, room)
        const { events, head_seq: b } = await eventsAfter(room, a)

        expect(events.map(({ seq }) => seq)).toEqual(Array.from({ length: b - a }, (_, index) => a + 1 + index))
        expect(applied(was, events)).toEqual(is)
        const live = () => listening.log(room).filter(({ seq }) => seq > a)
        await expect.poll(() => live().length).toBe(b - a)
        expect(applied(was, live())).toEqual(is)
        for (const { type } of events) met.add(type)
      },
    ),
    {
      numRuns: 25,
      endOnFailure: true,
      interruptAfterTimeLimit: 20_000,
      examples: [pollPurged, everything, pinnedAndGone],
    },
  )
  // What never happened was not shown to hold.
  expect([...met].sort()).toEqual(
    expect.arrayContaining([
      'message.created',
      'message.edited',
      'message.deleted',
      'reaction.changed',
      'message.pinned',
      'poll.changed',
      'member.joined',
      'member.left',
      'member.removed',
      'role.changed',
      'rules.updated',
      'moderation.applied',
      'messages.purged',
      'room.updated',
    ]),
  )
}, 180_000)
