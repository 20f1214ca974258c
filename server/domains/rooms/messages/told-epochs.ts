import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import type { RoomKey } from '#server/log/types'

/** The last epoch sent to all listeners of protocol 2 in each room; unset if a listener missed it. */
const toldOn = nodeState(() => new Map<RoomKey, string>())

/** A new listener has not received the epoch. Rooms without listeners need no entry. */
export const listenersChanged = (node: Node, key: RoomKey): void => void toldOn(node).delete(key)

/** Must the next event contain its epoch? */
export function saysEpoch(node: Node, key: RoomKey, epoch: string): boolean {
  const told = toldOn(node)
  if (told.get(key) === epoch) return false
  told.set(key, epoch)
  return true
}
