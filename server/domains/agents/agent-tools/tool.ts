import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import type { ModelTool } from '#server/ports/model/port'
import { cut } from '#shared/kit/cut'

/** Something that an agent may do for an answer. */
export interface Tool {
  /** What people call who does it. */
  server: string
  /** As its server calls it. */
  name: string
  /** As the model is told of it; its name is unique among the tools of an agent. */
  shown: ModelTool
  /** One that keeps failing is left alone under this key. */
  key: string
  run(given: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<{ text: string; isError: boolean }>
}

const longestName = 64
const longestDescription = 1_000

/** Describes a tool to a model: by its own words, then by those of the agent's owner. */
export const described = (
  server: string,
  name: string,
  parts: readonly (string | null)[],
  parameters: ModelTool['parameters'],
): ModelTool => ({
  name: `${server}_${name}`.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, longestName),
  description: parts
    .flatMap((part) => part?.trim() || [])
    .map((part) => cut(part, longestDescription))
    .join('\n'),
  parameters,
})

/** Names that differ, as a model calls a tool by its name alone. */
export function distinct(tools: readonly Tool[]): Tool[] {
  const taken = new Set<string>()
  return tools.map((tool) => {
    let name = tool.shown.name
    for (let next = 2; taken.has(name); next++) name = `${tool.shown.name.slice(0, longestName - 4)}_${next}`
    taken.add(name)
    return { ...tool, shown: { ...tool.shown, name } }
  })
}

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
