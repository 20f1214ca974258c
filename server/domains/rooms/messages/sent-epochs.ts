import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import type { RoomKey } from '#server/log/types'

/** The last epoch sent to all listeners of protocol 2 in each room; unset if a listener missed it. */
const sentEpochsOn = nodeState(() => new Map<RoomKey, string>())

/** A new listener has not received the epoch. Rooms without listeners need no entry. */
export const forgetSentEpoch = (node: Node, key: RoomKey): void => void sentEpochsOn(node).delete(key)

/** Must the next event contain its epoch? */
export function isNewEpoch(node: Node, key: RoomKey, epoch: string): boolean {
  const sent = sentEpochsOn(node)
  if (sent.get(key) === epoch) return false
  sent.set(key, epoch)
  return true
}
