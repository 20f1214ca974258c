import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const pending = new WeakMap<Socket, Set<() => void>>()

/**
 * Calls back once: when the answer is finished or its connection is gone, and at once where it is gone already. The
 * `close` of the answer does not tell: an answer behind another one of its connection has no socket, and emits none.
 */
export function whenOver({ socket }: IncomingMessage, answer: ServerResponse | Socket, callback: () => void): void {
  if (socket.destroyed) return void callback()
  const listeners = pending.get(socket) ?? listenersOf(socket)
  const over = () => {
    listeners.delete(over)
    answer.off('close', over)
    callback()
  }
  listeners.add(over)
  answer.once('close', over)
}

/** One listener for all answers of a connection. */
function listenersOf(socket: Socket): Set<() => void> {
  const listeners = new Set<() => void>()
  pending.set(socket, listeners)
  socket.once('close', () => {
    for (const over of [...listeners]) over()
  })
  return listeners
}
