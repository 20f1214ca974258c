import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import type { ModelTool } from '#server/ports/model/port'
import { cut } from '#shared/kit/cut'

/** A tool that an agent may use in an answer. */
export interface Tool {
  /** The display name of its server. */
  server: string
  /** The name at its server. */
  name: string
  /** The description for the model; its name is unique per agent. */
  shown: ModelTool
  /** The key under which repeated failures pause it. */
  key: string
  run(given: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<{ text: string; isError: boolean }>
}

const longestName = 64
const longestDescription = 1_000

/** Describes a tool to a model: its own text, then the owner's. */
export const describedTool = (
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

/** Makes names unique, as models call tools by name. */
export function distinctTools(tools: readonly Tool[]): Tool[] {
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

/** Recent failures. */
const failing = nodeState(() => new Map<string, { failures: number; until: number }>())

/** Whether a failing tool is paused. */
export const isRestingTool = (node: Node, key: string): boolean =>
  (failing(node).get(key)?.until ?? 0) > performance.now()

/** After three failures in a row a tool pauses for 30 s, then twice as long each time. */
export function noteToolOutcome(node: Node, key: string, isThere: boolean): void {
  const known = failing(node)
  const failures = isThere ? 0 : (known.get(key)?.failures ?? 0) + 1
  known.delete(key)
  if (failures === 0) return
  const pause = Math.min(firstPauseMilliseconds * 2 ** (failures - failuresAtMost), longestPauseMilliseconds)
  known.set(key, { failures, until: failures < failuresAtMost ? 0 : performance.now() + pause })
  const [oldest] = known.keys()
  if (known.size > mostKept && oldest !== undefined) known.delete(oldest)
}
