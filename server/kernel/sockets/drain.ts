import { randomInt } from 'node:crypto'
import type { Server } from 'socket.io'
import { serverNotice } from '#shared/kit/connection'
import type { LiveConnection } from './connection.ts'
import { allLiveConnections } from './live.ts'

const drainMilliseconds = 8_000
const batchOfClosing = 200

/** Asks clients to reconnect to another node, waits for running calls and unsent answers, then closes the connections in batches. */
export async function drainConnections(io: Server): Promise<void> {
  const all = () => allLiveConnections(io)
  for (const live of all())
    live.emit(serverNotice, {
      kind: 'draining',
      detail: 'This server is restarting.',
      reconnect_after_ms: randomInt(8_000),
    })
  const until = performance.now() + drainMilliseconds
  const owes = (live: LiveConnection) => live.busy || !live.isFlushed
  // An answer is written a moment after its call has released its slot.
  do await new Promise((resolve) => setTimeout(resolve, 50))
  while (performance.now() < until && all().some(owes))
  const open = all()
  for (let from = 0; from < open.length; from += batchOfClosing) {
    for (const live of open.slice(from, from + batchOfClosing)) live.drop()
    await new Promise((resolve) => setTimeout(resolve, from + batchOfClosing < open.length ? 100 : 0))
  }
  // The process does not wait for connections that are slow to close.
  void io.close()
}
