import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { AppError } from '#shared/errors'

/** Paid questions in progress on a node, at most. */
const most = { agent: 128, address: 64 } as const

const takenOf = nodeState(() => new Map<string, number>())

/** Takes a slot of the agent and of the address before any charge, or refuses. Returns the release, which works once. */
export function takeQuestionSlots(node: Node, agent: string, address: string): () => void {
  const taken = takenOf(node)
  const slots = [
    [`agent ${agent}`, most.agent],
    [`address ${address}`, most.address],
  ] as const
  for (const [key, limit] of slots)
    if ((taken.get(key) ?? 0) >= limit) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: 1 })
  for (const [key] of slots) taken.set(key, (taken.get(key) ?? 0) + 1)
  let isReleased = false
  return () => {
    if (isReleased) return
    isReleased = true
    for (const [key] of slots) {
      const left = (taken.get(key) ?? 1) - 1
      if (left === 0) taken.delete(key)
      else taken.set(key, left)
    }
  }
}
