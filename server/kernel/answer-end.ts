import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const pending = new WeakMap<ServerResponse | Socket, Set<() => void>>()

/**
 * Calls back once: when the answer is finished or its connection is gone, and at once where it is gone already. The
 * `close` of the answer does not tell: an answer behind another one of its connection has no socket, and emits none.
 */
export function whenOver({ socket }: IncomingMessage, answer: ServerResponse | Socket, callback: () => void): void {
  if (socket.destroyed) return void callback()
  const places = [listenersOf(socket), listenersOf(answer)]
  const over = () => {
    for (const listeners of places) listeners.delete(over)
    callback()
  }
  for (const listeners of places) listeners.add(over)
}

/** One listener for all that wait for the end of an answer, or of a connection. */
function listenersOf(ending: ServerResponse | Socket): Set<() => void> {
  const known = pending.get(ending)
  if (known) return known
  const listeners = new Set<() => void>()
  pending.set(ending, listeners)
  ending.once('close', () => {
    for (const over of [...listeners]) over()
  })
  return listeners
}
