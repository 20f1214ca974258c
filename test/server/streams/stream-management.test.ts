// Modes: embedded
import type { Socket } from 'socket.io-client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { audiences } from '#server/kernel/context'
import { messages } from '#shared/api/rooms/messages'
import { type RoomEvent, roomEvent } from '#shared/api/rooms/room-events'
import type { OutputOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import type { Line } from '#test/support/line'
import { channelOf, type Person, person } from '#test/support/people'

// What XMPP servers are tested with where a stream is lost and taken up again, in our words; the names are theirs.
let server: Booted
let alice: Person
let bob: Person
let bobs = 0
beforeAll(async () => {
  server = await boot()
  alice = await person(server, 'alice')
})
beforeEach(async () => {
  bob = await person(server, `bob ${++bobs}`)
})
afterAll(() => server.close())

type Snapshot = OutputOf<typeof messages.join>
const seqs = (events: readonly RoomEvent[]) => events.map(({ seq }) => seq)
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, at) => first + at)
const textsOf = (events: readonly RoomEvent[]) =>
  events.flatMap(({ data }) => ('message' in data && data.message ? [data.message.content] : []))

const say = async (room: RoomRef, ...texts: readonly string[]) => {
  for (const text of texts) await alice.does('socket', messages.send, { room, text })
}

const sayMany = (room: RoomRef, count: number, text = 'one of many') =>
  Promise.all(Array.from({ length: count }, () => alice.does('socket', messages.send, { room, text })))

async function resume(line: Line, room: RoomRef, position: { after_seq?: number; epoch?: string }): Promise<Snapshot> {
  const answer = await line.socket.emitWithAck('room:join', { room, ...position })
  return messages.join.output.parse(answer.data)
}

interface Wire {
  pause(): void
  resume(): void
  terminate(): void
}
const wireOf = ({ io: { engine } }: Socket): Wire => (engine.transport as unknown as { ws: Wire }).ws

/** Ends the connection below the socket, without a word. */
const kill = (socket: Socket): void => wireOf(socket).terminate()

const last = (room: RoomRef, seq: number) => (line: Line) => line.follows(room, (event) => event.seq === seq)

describe('a stream that is lost and taken up again', () => {
  test('P5: preserve_order', async () => {
    const room = await channelOf(alice, bob)
    const first = await bob.socket('/rooms')
    const { head_seq, epoch } = await resume(first, room, {})
    await say(room, '1', '2')
    await last(room, head_seq + 2)(first)
    kill(first.socket)
    await say(room, '3', '4')
    const second = await bob.socket('/rooms')
    const missed = await resume(second, room, { after_seq: head_seq + 2, epoch })
    const third = await bob.socket('/rooms')
    const replaced = await resume(third, room, { after_seq: head_seq + 4, epoch })
    await say(room, '5', '6')
    await last(room, head_seq + 6)(third)
    const shown = [...first.log(room), ...missed.events, ...replaced.events, ...third.log(room)]
    expect(textsOf(shown)).toEqual(['1', '2', '3', '4', '5', '6'])
    expect(seqs(shown)).toEqual(upTo(head_seq + 6, head_seq + 1))
  })

  test('P5: resend_unacked_on_reconnection', async () => {
    const room = await channelOf(alice, bob)
    const line = await bob.socket('/rooms')
    const { head_seq, epoch } = await resume(line, room, {})
    await say(room, 'shown', 'told, and lost in a crash', 'told, and lost as well')
    await last(room, head_seq + 3)(line)
    kill(line.socket)
    const again = await resume(await bob.socket('/rooms'), room, { after_seq: head_seq + 1, epoch })
    expect(again.events).toEqual(line.log(room).slice(1))
    expect(again.complete).toBe(true)
  })

  test('P5: client_acks_more_than_sent', async () => {
    const room = await channelOf(alice, bob)
    await say(room, 'one')
    const line = await bob.socket('/rooms')
    const { head_seq } = await resume(line, room, {})
    const ahead = await resume(line, room, { after_seq: head_seq + 1 })
    expect(ahead).toMatchObject({ reset: true, events: [], head_seq, from_seq: head_seq })
    const read = await bob.does('socket', messages.read, { room, seq: head_seq + 1_000 })
    expect(read).toMatchObject({ read_seq: head_seq, unread: 0 })
    await say(room, 'two')
    expect(textsOf([await last(room, head_seq + 1)(line)])).toEqual(['two'])
  })

  test('P15: too_many_unacked_stanzas', async () => {
    const room = await channelOf(alice, bob)
    const line = await bob.socket('/rooms')
    const { head_seq, epoch } = await resume(line, room, {})
    const wire = wireOf(line.socket)
    wire.pause()
    let burst = 0
    for (; connectionsOf(bob) > 0 && burst < 4_000; burst += 50) await sayMany(room, 50, 'x'.repeat(9_900))
    expect(connectionsOf(bob)).toBe(0)
    await say(room, 'said when he was dropped')
    burst++
    wire.resume()
    await line.hears('disconnect')
    const told = seqs(line.log(room))
    expect(told).toEqual(upTo(head_seq + told.length, head_seq + 1))
    expect(told.length).toBeLessThan(burst)
    const rest = await pages(bob, room, { after_seq: head_seq + told.length, epoch })
    expect([...told, ...seqs(rest)]).toEqual(upTo(head_seq + burst, head_seq + 1))
  }, 60_000)

  test('P5: resend_more_offline_messages_than_buffer_size', async () => {
    const room = await channelOf(alice, bob)
    const { head_seq, epoch } = await bob.does('socket', messages.join, { room })
    for (let sent = 0; sent < 450; sent += 150) await sayMany(room, 150)
    const line = await bob.socket('/rooms')
    const first = await resume(line, room, { after_seq: head_seq, epoch })
    expect(first).toMatchObject({ complete: false, head_seq: head_seq + 450 })
    const rest = await pages(bob, room, { after_seq: first.events.at(-1)?.seq ?? 0, epoch })
    expect(seqs([...first.events, ...rest])).toEqual(upTo(head_seq + 450, head_seq + 1))
  })

  test('P5: resume_session_kills_old_C2S_gracefully', async () => {
    const room = await channelOf(alice, bob)
    const old = await bob.socket('/rooms')
    const { head_seq, epoch } = await resume(old, room, {})
    wireOf(old.socket).pause()
    const resumed = await bob.socket('/rooms')
    expect((await resume(resumed, room, { after_seq: head_seq, epoch })).online).toBe(1)
    await say(room, 'while the old one hangs')
    await last(room, head_seq + 1)(resumed)
    kill(old.socket)
    await expect.poll(() => connectionsOf(bob)).toBe(1)
    await say(room, 'when it is gone')
    await last(room, head_seq + 2)(resumed)
    expect(seqs(resumed.log(room))).toEqual([head_seq + 1, head_seq + 2])
  })

  test('P5: resume_session_with_wrong_h_does_not_leak_sessions', async () => {
    const room = await channelOf(alice, bob)
    const line = await bob.socket('/rooms')
    for (const after_seq of [-1, 2 ** 53, 1.5, 'all']) {
      const answer = await line.socket.emitWithAck('room:join', { room, after_seq })
      expect(answer).toMatchObject({ ok: false, error: { code: 'VALIDATION_ERROR', status: 400 } })
    }
    await say(room, 'nobody listens')
    const { head_seq, online } = await resume(line, room, {})
    expect(online).toBe(1)
    await say(room, 'bob listens')
    await last(room, head_seq + 1)(line)
    expect(line.all(roomEvent).map(({ seq }) => seq)).toEqual([head_seq + 1])
    kill(line.socket)
    await expect.poll(() => connectionsOf(bob)).toBe(0)
  })

  test('P5: h_non_given_closes_stream_gracefully', async () => {
    const room = await channelOf(alice, bob)
    await say(room, 'before')
    const line = await bob.socket('/rooms')
    const fresh = await resume(line, room, {})
    expect(fresh).toMatchObject({ events: [], from_seq: fresh.head_seq, complete: true })
    expect(fresh.reset).toBeUndefined()
    const whole = await bob.does('socket', messages.sync, { room })
    expect(seqs(whole.events)).toEqual(upTo(fresh.head_seq))
    await say(room, 'after')
    await last(room, fresh.head_seq + 1)(line)
  })
})

/** How many connections of a person the nodes hold. */
const connectionsOf = ({ account }: Person): number =>
  server.apps.flatMap(({ node }) => node.live.connectionsOf('/rooms', audiences.account(account))).length

/** Everything after a position, page by page. */
async function pages(who: Person, room: RoomRef, position: { after_seq: number; epoch: string }): Promise<RoomEvent[]> {
  const all: RoomEvent[] = []
  for (let after_seq = position.after_seq; ; ) {
    const page = await who.does('rest', messages.sync, { room, epoch: position.epoch, after_seq })
    all.push(...page.events)
    after_seq = page.next_after_seq
    if (page.complete) return all
  }
}
