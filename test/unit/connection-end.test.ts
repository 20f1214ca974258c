import { EventEmitter } from 'node:events'
import type { Socket } from 'socket.io'
import { expect, test } from 'vitest'
import { LiveConnection } from '#server/kernel/sockets/connection'

test('O45: however many wait for the end of a connection, its socket has one listener of theirs', () => {
  const socket = Object.assign(new EventEmitter(), { connected: true }) as unknown as Socket
  const caller = { account: null, session: null, ip: '', userAgent: '' }
  const connection = new LiveConnection(socket, caller, { excludedRoomsOf: () => [] } as never)
  const over: number[] = []
  for (let at = 0; at < 20; at++) connection.onClose(() => over.push(at))
  expect(socket.listenerCount('disconnect')).toBe(1)
  socket.emit('disconnect')
  expect(over).toEqual(Array.from({ length: 20 }, (_, at) => at))
  Object.assign(socket, { connected: false })
  connection.onClose(() => over.push(20))
  expect(over.at(-1)).toBe(20)
})
