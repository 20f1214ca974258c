import { EventEmitter } from 'node:events'
import type { Socket } from 'socket.io'
import { expect, test } from 'vitest'
import { audiences } from '#server/kernel/context'
import { eventScopesOf, LiveConnection } from '#server/kernel/sockets/connection'

const caller = { account: null, session: null, token: null, ip: '', userAgent: '' } as never

/** A connection that owes these packets, and so many bytes that its network has not taken. */
const owing = (packets: readonly string[], bufferedAmount = 0) => {
  const conn = { writeBuffer: packets.map((data) => ({ data })), transport: { socket: { bufferedAmount } } }
  return new LiveConnection({ conn } as unknown as Socket, caller, eventScopesOf({}))
}

const kilobytes = (count: number) => 'x'.repeat(count * 1_000)

test.each([
  ['nothing', owing([]), false, true],
  ['one packet', owing(['x']), false, false],
  ['as many packets as it may', owing(Array.from({ length: 256 }, () => 'x')), false, false],
  ['one packet more', owing(Array.from({ length: 257 }, () => 'x')), true, false],
  ['bytes on the network', owing([], 1), false, false],
  ['more bytes on the network than it may', owing([], 1_000_001), true, false],
  ['a few packets, large together', owing([kilobytes(600), kilobytes(600)]), true, false],
  ['bytes here and bytes there', owing([kilobytes(600)], 600_000), true, false],
])('who owes %s', (_what, { isBehind, isFlushed }, behind, flushed) => {
  expect({ isBehind, isFlushed }).toEqual({ isBehind: behind, isFlushed: flushed })
})

const many = Array.from({ length: 2_000 }, () => 'x')

test.each([
  ['reads each burst of packets', [many, [], many, []], [false, false, false, false]],
  ['leaves packets unread for a second', [many, many, many], [false, false, true]],
  ['leaves more bytes unread than it may', [[kilobytes(1_001)]], [true]],
])('who %s', (_what, looks, stuck) => {
  const conn = { writeBuffer: [] as object[], transport: {} }
  const live = new LiveConnection({ conn } as unknown as Socket, caller, eventScopesOf({}))
  const found = looks.map((packets, at) => {
    conn.writeBuffer = packets.map((data) => ({ data }))
    return live.looksStuck(at * 500)
  })
  expect(found).toEqual(stuck)
})

test('what is to be done at its end is done at once where it has ended', () => {
  const socket = Object.assign(new EventEmitter(), { connected: true })
  const live = new LiveConnection(socket as unknown as Socket, caller, eventScopesOf({}))
  const done: string[] = []
  live.onClose(() => void done.push('kept'))
  expect(done).toEqual([])
  socket.connected = false
  socket.emit('disconnect')
  live.onClose(() => void done.push('late'))
  expect(done).toEqual(['kept', 'late'])
  expect(live.signal.aborted).toBe(true)
})

test.each([1, 2] as const)(
  'who speaks protocol %s joins, holds and leaves rooms by one name, at most a hundred',
  (protocol) => {
    const rooms = new Set<string>()
    const socket = { rooms, join: (name: string) => rooms.add(name), leave: (name: string) => rooms.delete(name) }
    const live = new LiveConnection(socket as unknown as Socket, caller, eventScopesOf({}), protocol)
    const audienceOf = (at: number) => audiences.room(`channel:${at}`)
    live.join('all')
    for (let at = 0; at < 100; at++) live.join(audienceOf(at))
    expect(() => live.join(audienceOf(100))).toThrow('at most 100 rooms')
    live.join(audienceOf(7))
    live.leave(audienceOf(7))
    expect([6, 7, 100].map((at) => live.has(audienceOf(at)))).toEqual([true, false, false])
    live.join(audienceOf(100))
    expect(rooms.size).toBe(101)
    expect(live.has('all') && rooms.has('all')).toBe(true)
  },
)
