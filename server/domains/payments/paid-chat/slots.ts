import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import { AppError } from '#shared/errors'

/** The most paid questions that a node works on at a time, of one agent and from one address. */
const most = { agent: 128, address: 64 } as const

const takenOf = nodeState(() => new Map<string, number>())

/**
 * Takes a slot of an agent and one of an address; refuses where either has none left, before anything is charged. Returns what gives both
 * back; calling that again does nothing.
 */
export function takeSlots(node: Node, agent: string, address: string): () => void {
  const taken = takenOf(node)
  const slots = [
    [`agent ${agent}`, most.agent],
    [`address ${address}`, most.address],
  ] as const
  for (const [key, limit] of slots)
    if ((taken.get(key) ?? 0) >= limit) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: 1 })
  for (const [key] of slots) taken.set(key, (taken.get(key) ?? 0) + 1)
  let isGivenBack = false
  return () => {
    if (isGivenBack) return
    isGivenBack = true
    for (const [key] of slots) {
      const left = (taken.get(key) ?? 1) - 1
      if (left === 0) taken.delete(key)
      else taken.set(key, left)
    }
  }
}
