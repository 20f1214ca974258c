import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'

const failuresAtMost = 3
const firstPauseMilliseconds = 30_000
const longestPauseMilliseconds = 10 * 60_000
const mostKept = 1_000

/** Those that failed lately. */
const failing = nodeState(() => new Map<string, { failures: number; until: number }>())

/** Is one that kept failing left alone for now? */
export const isResting = (node: Node, key: string): boolean => (failing(node).get(key)?.until ?? 0) > performance.now()

/** After three failures in a row it is left alone for 30 s, and after each further one for twice as long. */
export function noteOutcome(node: Node, key: string, isThere: boolean): void {
  const known = failing(node)
  const failures = isThere ? 0 : (known.get(key)?.failures ?? 0) + 1
  known.delete(key)
  if (failures === 0) return
  const pause = Math.min(firstPauseMilliseconds * 2 ** (failures - failuresAtMost), longestPauseMilliseconds)
  known.set(key, { failures, until: failures < failuresAtMost ? 0 : performance.now() + pause })
  const [oldest] = known.keys()
  if (known.size > mostKept && oldest !== undefined) known.delete(oldest)
}
