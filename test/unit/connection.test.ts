import { EventEmitter } from 'node:events'
import type { Socket } from 'socket.io'
import { expect, test } from 'vitest'
import { LiveConnection } from '#server/kernel/connection'

const caller = { account: null, session: null, token: null, ip: '', userAgent: '' } as never

/** A connection that owes these packets, and so many bytes that its network has not taken. */
const owing = (packets: readonly string[], bufferedAmount = 0) => {
  const conn = { writeBuffer: packets.map((data) => ({ data })), transport: { socket: { bufferedAmount } } }
  return new LiveConnection({ conn } as unknown as Socket, caller, { perSecond: 1 })
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

test('what is to be done at its end is done at once where it has ended', () => {
  const socket = Object.assign(new EventEmitter(), { connected: true })
  const live = new LiveConnection(socket as unknown as Socket, caller, { perSecond: 1 })
  const done: string[] = []
  live.onClose(() => void done.push('kept'))
  expect(done).toEqual([])
  socket.connected = false
  socket.emit('disconnect')
  live.onClose(() => void done.push('late'))
  expect(done).toEqual(['kept', 'late'])
  expect(live.signal.aborted).toBe(true)
})
