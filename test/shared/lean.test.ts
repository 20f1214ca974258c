import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { leanBatch, leanEvent, leanSent, wholeBatch, wholeEvent, wholeSent } from '#shared/api/rooms/lean'
import { draft, LeanMessage, Message, type Sent, sent } from '#shared/api/rooms/message'
import { Person } from '#shared/api/rooms/room'
import { type RoomEvent, roomEventTypes } from '#shared/api/rooms/room-events'
import { roomTypes } from '#shared/kit/room-kinds'
import { arbitraryOf } from '#test/support/arbitrary'

const runs = { numRuns: 300 }
const room = fc.oneof(
  fc.record({
    type: fc.constantFrom(...roomTypes, 'kind-of-tomorrow'),
    id: fc.constantFrom(null, '', 'id', 'a~b', 'x:y'),
  }),
)
const nobody = { id: '', name: '', role: null, isAgent: false }
const actor = fc.oneof(fc.constant(nobody), arbitraryOf(Person))
const usualMessage = ({ room, seq, at, actor }: RoomEvent): Partial<Message> => ({
  room,
  channel_id: room.type === 'channel' ? room.id : null,
  seq,
  created_at: at,
  sender: { ...actor },
  sender_address: actor.id,
  version: 1,
  message_type: 'text',
  attachments: [],
  mentions: [],
  reactions: {},
  ...{ reply_to: null, reply_to_id: null, poll_id: null, is_pinned: false, pinned_by: null, pinned_at: null },
  ...{ is_edited: false, edited_at: null, is_deleted: false, deleted_by: null, deleted_at: null, delete_reason: null },
})
const place = { room, epoch: fc.constantFrom('first', 'second'), seq: fc.nat(3), at: arbitraryOf(z.string()), actor }

/** An event of a type; a message in it has some fields as they usually are, and the others as they may be. */
const eventOf = (type: string, data: z.ZodType) =>
  fc
    .record({ ...place, type: fc.constant(type), data: arbitraryOf(data) as fc.Arbitrary<Record<string, unknown>> })
    .chain((event) => {
      const usual = usualMessage(event as never)
      return fc.subarray(Object.keys(usual) as (keyof Message)[]).map((fields) => {
        const some = Object.fromEntries(fields.map((field) => [field, usual[field]]))
        const { message } = event.data
        const data =
          message === undefined ? event.data : { ...event.data, message: { ...(message as Message), ...some } }
        return { ...event, data } as unknown as RoomEvent
      })
    })

const types: [string, z.ZodType][] = [
  ...Object.entries(roomEventTypes).map(([type, { data }]): [string, z.ZodType] => [type, data]),
  ['unreadable', z.object({})],
  ['of.tomorrow', z.record(z.string(), z.unknown())],
  ['message.of_tomorrow', z.object({ message: Message.pick({ id: true }) })],
]
const anyEvent = fc.oneof(...types.map(([type, data]) => eventOf(type, data)))
/** As it comes over a wire. */
const wired = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

describe('an event of protocol 2', () => {
  test.each(types)('of the type %s means exactly the event that was', (type, data) => {
    fc.assert(
      fc.property(eventOf(type, data), fc.boolean(), (event, saysEpoch) => {
        const lean = wired(leanEvent(event, saysEpoch))
        expect(wholeEvent(lean, saysEpoch ? 'another' : event.epoch)).toEqual(wired(event))
      }),
      runs,
    )
  })

  test('means it among others of one room too, of whichever epoch each is', () => {
    fc.assert(
      fc.property(
        fc.array(anyEvent, { minLength: 1, maxLength: 5 }),
        fc.constantFrom('first', 'second', ''),
        (some, told) => {
          const room = (some[0] as RoomEvent).room
          const batch = { room, events: some.map((event) => ({ ...event, room })) }
          let last: string = told
          const lean = leanBatch(batch, ({ epoch }) => {
            const isNews = epoch !== last
            last = epoch
            return isNews
          })
          expect(wholeBatch(wired(lean), told)).toEqual(wired(batch))
        },
      ),
      runs,
    )
  })

  test('says nothing of a plain message but what nothing else says', () => {
    const event = {
      room: { type: 'channel', id: 'plaza' },
      epoch: 'first',
      seq: 7,
      at: '2026-11-23T14:33:19.123Z',
      type: 'message.created',
      actor: { id: '0xada', name: 'Ada', role: 'member', isAgent: false },
      data: {},
    } as unknown as RoomEvent
    const told = { id: 'm7', n: 5, client_msg_id: 'c1', content: 'hello' }
    const message = { ...told, ...usualMessage(event) } as Message
    expect(leanEvent({ ...event, data: { message } } as RoomEvent, false)).toEqual({
      room: 'channel:plaza',
      seq: 7,
      at: Date.parse(event.at),
      actor: { id: '0xada', name: 'Ada' },
      data: { message: told },
    })
    const edited = { ...event, type: 'message.edited', data: { message } } as RoomEvent
    expect(leanEvent(edited, false)).toMatchObject({ type: 'message.edited', data: { message: told } })
    expect(Object.keys((leanEvent(edited, false).data as { message: object }).message)).toEqual(Object.keys(told))
    expect(Object.keys(LeanMessage.shape)).toEqual(Object.keys(Message.shape))
  })

  test('keeps the fields that a newer server adds', () => {
    const event = fc.sample(eventOf('message.created', roomEventTypes['message.created'].data), 1)[0] as RoomEvent
    const data = event.data as { message: Message }
    const newer = { ...event, more: 1, data: { ...data, more: [2], message: { ...data.message, more: null } } }
    expect(wholeEvent(wired(leanEvent(newer as RoomEvent, true)), '')).toEqual(wired(newer))
  })
})

describe('an answer to a send by protocol 2', () => {
  const written = arbitraryOf(z.object({ ...draft, client_msg_id: z.string().optional() })) as fc.Arbitrary<object>
  const answer = arbitraryOf(z.object(sent)) as fc.Arbitrary<Sent>
  test('means, with what was sent, exactly the answer that was', () => {
    const seen = { said: 0, left: 0 }
    fc.assert(
      fc.property(
        written,
        room,
        answer,
        fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
        (written, room, answer, as) => {
          const drafted = wired({ ...written, room }) as unknown as Parameters<typeof leanSent>[1]
          const { text, content, type, attachments, mentions, client_msg_id } = drafted
          const sentFields = {
            ...(as[0] && { room }),
            ...(as[1] && client_msg_id !== undefined && { client_msg_id }),
            ...(as[2] && { content: (text ?? content ?? '').trim() }),
            ...(as[3] && type !== undefined && { message_type: type }),
            ...(as[4] && { attachments: attachments ?? [] }),
            ...(as[5] && { mentions: mentions ?? [] }),
          }
          const whole = wired({ ...answer, message: { ...answer.message, ...sentFields } }) as Sent
          if (as[6]) Object.assign(whole.verdict, acceptedBefore(whole.message.seq))
          const lean = wired(leanSent(whole, drafted))
          seen[lean.verdict ? 'said' : 'left']++
          expect(wholeSent(lean, drafted)).toEqual(whole)
        },
      ),
      { numRuns: 1_000 },
    )
    expect(Math.min(seen.said, seen.left)).toBeGreaterThan(100)
  })
})

const acceptedBefore = (seq: number) => ({
  ...{ ok: true, step: null, code: null, status: 200, text: null, rule: null, until: null },
  judged_seq: seq - 1,
})
