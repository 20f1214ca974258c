import type { Node } from './context.ts'
import { nodeState } from './operate/node-state.ts'

const lookedForOn = nodeState(() => new Map<string, Promise<unknown>>())

/**
 * One look-up for all callers of one event-loop turn. It begins after that turn, so each answer is newer than its
 * question. A thousand followers of a room thus cost one.
 */
export function sharedLook<T>(node: Pick<Node, 'state'>, key: string, look: () => Promise<T>): Promise<T> {
  const due = lookedForOn(node)
  const known = due.get(key) as Promise<T> | undefined
  if (known) return known
  const begun = new Promise((resolve) => setImmediate(resolve)).then(() => {
    due.delete(key)
    return look()
  })
  due.set(key, begun)
  return begun
}
