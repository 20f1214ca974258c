import { setImmediate as breathe } from 'node:timers/promises'
import { repeatWork } from '#server/kernel/beat'
import type { Connection, Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { heads } from '#shared/api/rooms/rooms'
import { roomsOf } from './listen.ts'

const sendEveryMilliseconds = 25_000
const slotMilliseconds = 1_000
const sentAtOnce = 50

/** Connections take turns, so that they are not all notified at once. */
const turnOf = nodeState(() => ({
  slots: Array.from({ length: sendEveryMilliseconds / slotMilliseconds }, () => new Set<Connection>()),
  arrivals: 0,
  at: 0,
}))

/** Sends the heads of its rooms to the connection every 25 s. */
export function addHeadReceiver(node: Node, connection: Connection): void {
  const turn = turnOf(node)
  const slot = turn.slots[turn.arrivals++ % turn.slots.length]
  slot?.add(connection)
  connection.onClose(() => slot?.delete(connection))
}

export function startHeads(node: Node): () => void {
  const turn = turnOf(node)
  return repeatWork(slotMilliseconds, () => {
    const slot = turn.slots[turn.at++ % turn.slots.length]
    if (slot && slot.size > 0) void sendSlot(node, slot)
  })
}

async function sendSlot(node: Node, slot: ReadonlySet<Connection>): Promise<void> {
  let sent = 0
  for (const connection of slot) {
    void sendHeads(node, connection).catch(() => {})
    if (++sent % sentAtOnce === 0) await breathe()
  }
}

async function sendHeads(node: Node, connection: Connection): Promise<void> {
  const held = [...roomsOf(connection).keys()]
  if (held.length === 0) return
  const known = await Promise.all(held.map(async (key) => [key, (await node.log.head(key)).seq] as const))
  connection.emit(heads, { heads: Object.fromEntries(known) })
}
