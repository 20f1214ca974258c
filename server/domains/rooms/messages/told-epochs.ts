import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import type { RoomKey } from '#server/log/types'

/** Of each room the epoch that all who listen by protocol 2 were told last; none where somebody of them was not told one. */
const toldOn = nodeState(() => new Map<RoomKey, string>())

/** Who comes has not been told; and nothing is kept of a room that nobody listens to. */
export const listenersChanged = (node: Node, key: RoomKey): void => void toldOn(node).delete(key)

/** Whether the next event says its epoch. */
export function saysEpoch(node: Node, key: RoomKey, epoch: string): boolean {
  const told = toldOn(node)
  if (told.get(key) === epoch) return false
  told.set(key, epoch)
  return true
}
