import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { RoomEvent } from '#shared/api/room-events'
import { type Booted, boot } from '#test/support/boot'
import { act, channelOf, done, listenTo, type Place, people, type Somebody } from '#test/support/community'
import { applyEvent, fetchState, type RoomState } from '#test/support/room-state'

let server: Booted
let everybody: readonly [Somebody, Somebody, Somebody, Somebody]
beforeAll(async () => {
  server = await boot()
  everybody = await people(server, 'owner', 'ada', 'bo', 'cy')
})
afterAll(() => server.close())

type Room = Place & { id: string }

/** One thing that somebody tries; the numbers choose among whatever is there. */
interface Step {
  kind: keyof typeof kinds
  by: number
  to: number
  which: number
}

interface Scene {
  room: Room
  by: Somebody
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
]
const pick = <T>(choices: readonly T[], which: number): T => choices[which % choices.length] as T
const onMessage = (verb: string, input: object) => (scene: Scene) =>
  scene.by.ask(verb, { room: scene.room, id: scene.message.id, ...input })
const moderates =
  (action: Parameters<typeof act>[2], more: (scene: Scene) => object = ({ to }) => ({ target: to })) =>
  (scene: Scene) =>
    act(scene.by, scene.room, action, more(scene))

const kinds = {
  say: ({ by, room, which }: Scene) => by.ask('message:send', { room, text: pick(texts, which) }),
  edit: (scene: Scene) => onMessage('message:edit', { text: `${pick(texts, scene.which)}!` })(scene),
  remove: onMessage('message:delete', {}),
  react: (scene: Scene) => onMessage('message:react', { emoji: pick(signs, scene.which) })(scene),
  pin: (scene: Scene) => onMessage('message:pin', { pinned: scene.which % 3 > 0 })(scene),
  ask: ({ by, room }: Scene) => by.ask('poll:create', { room, question: 'Tea?', options: ['Yes', 'No'] }),
  vote: ({ by, room, poll, which }: Scene) =>
    by.call(`POST /api/rooms/channel/${room.id}/polls/${poll}/vote`, { optionIndex: which % 2 }),
  closePoll: ({ by, room, poll }: Scene) =>
    by.call(`PATCH /api/rooms/channel/${room.id}/polls/${poll}`, { isClosed: true }),
  deletePoll: ({ by, room, poll }: Scene) => by.call(`DELETE /api/rooms/channel/${room.id}/polls/${poll}`),
  join: ({ by, room }: Scene) => by.call(`POST /api/channels/${room.id}/join`, {}),
  // The owner stays, and so hears all of it.
  leave: ({ room, which }: Scene) => pick(everybody.slice(1), which).call(`POST /api/channels/${room.id}/leave`, {}),
  kick: ({ by, room, to }: Scene) => by.call(`POST /api/rooms/channel/${room.id}/members/${to}/kick`, {}),
  role: ({ by, room, to, which }: Scene) =>
    by.call(`PATCH /api/rooms/channel/${room.id}/members/${to}/role`, { role: pick(['admin', 'member'], which) }),
  rename: ({ by, room, which }: Scene) =>
    by.call(`PATCH /api/rooms/channel/${room.id}`, { name: `${room.id} ${which}` }),
  rules: moderates('rules', ({ which }) => ({ patch: { rules: pick(rulesChanges, which) } })),
  ban: moderates('ban', ({ to, which }) => ({ target: to, duration: pick(['1h', 'permanent'], which) })),
  unban: moderates('unban'),
  mute: moderates('mute', ({ to, which }) => ({ target: to, duration: pick(['10m', 'permanent'], which) })),
  unmute: moderates('unmute'),
  warn: moderates('warn'),
  purge: moderates('purge'),
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

async function play(room: Room, steps: readonly Step[], made: { messages: Scene['message'][]; polls: string[] }) {
  for (const { kind, by, to, which } of steps) {
    const answer = await kinds[kind]({
      room,
      by: pick(everybody, by),
      to: pick(everybody, to).account,
      message: made.messages.length > 0 ? pick(made.messages, which) : { id: nothing, version: 1 },
      poll: made.polls.length > 0 ? pick(made.polls, which) : nothing,
      which,
    })
    expect(answer.status, `${kind} ${JSON.stringify(answer.body)}`).toBeLessThan(500)
    const [sent, asked] = [Sent.safeParse(answer.body).data, Asked.safeParse(answer.body).data]
    if (sent && (kind === 'say' || kind === 'ask')) made.messages.push(sent.message)
    if (asked && kind === 'ask') made.polls.push(asked.poll.id)
  }
}

const Page = z.object({ events: z.array(RoomEvent), complete: z.literal(true), head_seq: z.number() })
const eventsAfter = async (room: Room, seq: number) =>
  Page.parse(await done(everybody[0].call(`GET /api/rooms/channel/${room.id}/events?after_seq=${seq}`)))

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
        const live = async () =>
          listening
            .events()
            .map((event) => RoomEvent.parse(event))
            .filter(({ seq, room: { id } }) => id === room.id && seq > a)
        await expect.poll(async () => (await live()).length).toBe(b - a)
        expect(applied(was, await live())).toEqual(is)
        for (const { type } of events) met.add(type)
      },
    ),
    { numRuns: 25, endOnFailure: true, interruptAfterTimeLimit: 20_000, examples: [everything, pinnedAndGone] },
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
