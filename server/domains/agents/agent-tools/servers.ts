import type { StoredToolServer } from '#server/domains/agents/agent-state/model'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import type { ModelTool } from '#server/ports/model/port'
import type { ToolServer, ToolServers } from '#server/ports/tool-servers/port'
import { type Redact, redactorOf } from './redaction.ts'
import { headersOf, unsealSecrets } from './secrets.ts'
import { serverPlace } from './stored.ts'
import { describedTool, isRestingTool, noteToolOutcome, type Tool, tidiedSchema } from './tool.ts'

const listMilliseconds = 5_000
const keptMilliseconds = 60 * 60_000
const mostLists = 500

const connections = nodeState(() => ({ servers: null as ToolServers | null }))
/** A tool of a server; without parameters if its name or schema makes it unusable. */
interface Listed {
  name: string
  description: string
  parameters: ModelTool['parameters'] | null
}
const lists = nodeState(() => new Map<string, { tools: readonly Listed[]; until: number }>())

function serversOf(node: Node): ToolServers {
  const state = connections(node)
  state.servers ??= node.services.toolServers((url, request) => node.services.web.ask(url, request))
  return state.servers
}

interface Reached {
  server: ToolServer
  redact: Redact
  /** Changes with key, headers and URL. */
  key: string
}

export function toolServerOf(node: Node, agent: string, stored: StoredToolServer): Reached {
  const secrets = unsealSecrets(node.settings.sessionKeys, serverPlace(agent, stored), stored.sealed)
  const key = JSON.stringify([agent, stored.id, stored.url, stored.sealed])
  const server = { url: stored.url, headers: headersOf(secrets), of: agent }
  return { server, redact: redactorOf(secrets, stored.url), key }
}

/** Loads a server's tools and caches them for an hour. Throws without an answer. */
export async function refreshTools(
  node: Node,
  { server, redact, key }: Reached,
  signal: AbortSignal,
): Promise<readonly Listed[]> {
  const late = AbortSignal.timeout(listMilliseconds)
  try {
    const offered = await serversOf(node).list(server, AbortSignal.any([signal, late]))
    const tools = offered.map(({ name, description, inputSchema }) => ({
      name: redact(name),
      description: redact(description),
      parameters: redact(name) === name ? inputSchema && tidiedSchema(inputSchema, redact) : null,
    }))
    noteToolOutcome(node, key, true)
    const known = lists(node)
    const [oldest] = known.keys()
    if (known.size >= mostLists && oldest !== undefined) known.delete(oldest)
    known.set(key, { tools, until: performance.now() + keptMilliseconds })
    return tools
  } catch (error) {
    if (!signal.aborted) noteToolOutcome(node, key, false)
    throw error
  }
}

/** The tools of a server; null if it does not answer, or did not recently. */
export async function toolsOfServer(
  node: Node,
  agent: string,
  stored: StoredToolServer,
  signal: AbortSignal,
): Promise<Tool[] | null> {
  const reached = toolServerOf(node, agent, stored)
  if (isRestingTool(node, reached.key)) return null
  const known = lists(node).get(reached.key)
  const isKnown = known !== undefined && known.until > performance.now()
  const offered = isKnown ? known.tools : await refreshTools(node, reached, signal).catch(() => null)
  signal.throwIfAborted()
  return offered?.flatMap((tool) => toolOf(node, stored, reached, tool) ?? []) ?? null
}

function toolOf(
  node: Node,
  stored: StoredToolServer,
  { server, redact, key }: Reached,
  { name, description, parameters }: Listed,
): Tool | null {
  const own = [stored.description, stored.instructions]
  return (
    parameters && {
      server: stored.name,
      name,
      shown: describedTool(stored.name, name, [description, ...own.map((part) => part && redact(part))], parameters),
      key,
      async run(given, signal) {
        const { text, isError } = await serversOf(node).call(server, name, given, signal)
        return { text: redact(text), isError }
      },
    }
  )
}
