import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const pending = new WeakMap<ServerResponse | Socket, (() => void)[]>()

/** Calls back once, when the answer is finished or its connection has closed. */
export function onAnswerEnd({ socket }: IncomingMessage, answer: ServerResponse | Socket, callback: () => void): void {
  if (socket.destroyed) return void callback()
  const known = pending.get(answer)
  if (known) return void known.push(callback)
  const callbacks = [callback]
  pending.set(answer, callbacks)
  answer.once('close', () => {
    for (const over of callbacks) over()
  })
}
