// Modes: embedded
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { moderation } from '#shared/api/moderation/moderation'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { channelOf, groupOf, over, type Person, person } from '#test/support/people'

let server: Booted
let owner: Person
let member: Person

beforeAll(async () => {
  server = await boot()
  ;[owner, member] = [await person(server, 'owner', server.url), await person(server, 'member', server.url)]
})
afterAll(() => server.close())
afterEach(() => vi.restoreAllMocks())

type Place = RoomRef & { id: string }
const out: [string, (room: Place) => Promise<unknown>, () => Promise<Place>][] = [
  [
    'banned',
    (room) => owner.does('rest', moderation.act, { room, action: 'ban', target: member.account, duration: '1h' }),
    () => channelOf(owner, member),
  ],
  [
    'removed',
    (room) => owner.does('rest', rooms.kick, { room, address: member.account }),
    () => groupOf(owner, member),
  ],
  ['leaving', (room) => member.does('rest', rooms.leave, { room }), () => groupOf(owner, member)],
]

/** Between the judgement of a catch-up and its reading of rows the member is put out, and something is said. */
function putOutBeforeReading(room: Place, putOut: (room: Place) => Promise<unknown>): void {
  const { log } = server.apps[0]?.node ?? {}
  if (!log) throw new Error('There is no node.')
  const read = log.read.bind(log)
  vi.spyOn(log, 'read').mockImplementationOnce(async (...asked) => {
    await putOut(room)
    await owner.does('rest', messages.send, { room, text: 'not for them' })
    return read(...asked)
  })
}

describe.each(over)('M47: a catch-up over %s', (door) => {
  test.each(out)('gives who is %s meanwhile nothing above the head it was judged at', async (_what, putOut, make) => {
    const room = await make()
    const { message } = await owner.does('rest', messages.send, { room, text: 'for all' })
    putOutBeforeReading(room, putOut)
    const { events, head_seq, complete } = await member.does(door, messages.sync, { room, after_seq: 0, limit: 200 })
    expect(events.at(-1)?.seq).toBe(message.seq)
    expect({ head_seq, complete }).toEqual({ head_seq: message.seq, complete: true })
  })

  test.each(out)('that waits gives who is %s meanwhile nothing more either', async (_what, putOut, make) => {
    const room = await make()
    const { message } = await owner.does('rest', messages.send, { room, text: 'for all' })
    const waiting = member.does(door, messages.sync, { room, after_seq: message.seq, limit: 200, wait: 10 })
    putOutBeforeReading(room, putOut)
    await new Promise((resolve) => setTimeout(resolve, 300))
    const next = await owner.does('rest', messages.send, { room, text: 'the next' })
    const { events } = await waiting
    expect(events.map(({ seq }) => seq)).toEqual([next.message.seq])
  })

  test.each(out.filter(([what]) => what !== 'banned'))(
    'M50: that waits is looked at again, and refused to who is %s while it waits',
    async (_what, putOut, make) => {
      const room = await make()
      const { message } = await owner.does('rest', messages.send, { room, text: 'for all' })
      const input = { room, after_seq: message.seq, limit: 200, wait: 10 }
      const waiting = member.does(door, messages.sync, input).then(
        ({ events }) => events,
        () => 'refused',
      )
      await new Promise((resolve) => setTimeout(resolve, 300))
      await putOut(room)
      await owner.does('rest', messages.send, { room, text: 'not for them' })
      expect(await waiting).toBe('refused')
    },
  )
})

test('M47: the page that joins a room ends at the head it was judged at', async () => {
  const room = await channelOf(owner, member)
  const { message } = await owner.does('rest', messages.send, { room, text: 'for all' })
  putOutBeforeReading(room, async () => {})
  const { events, head_seq, complete } = await member.does('socket', messages.join, { room, after_seq: 0 })
  expect(events.at(-1)?.seq).toBe(message.seq)
  expect({ head_seq, complete }).toEqual({ head_seq: message.seq, complete: true })
})
