import { mayChangeAgent } from '#server/domains/agents/agent-state/access'
import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { KnowledgeItems, type StoredItem } from '#server/domains/agents/library/model'
import type { Connection, Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { knowledgeEvents } from '#shared/api/agents/knowledge'
import type { KnowledgeChange } from '#shared/api/agents/knowledge-records'

const lookMilliseconds = 500

interface Watched {
  /** The watching connections, with their accounts. */
  connections: Map<Connection, string>
  /** The last notice of each item. */
  sent: Map<string, KnowledgeChange>
}

/** Agents that are watched at this node. Changes are read from the store, whichever node made them. */
const watchedOn = nodeState(() => ({
  agents: new Map<string, Watched>(),
  looking: null as Promise<void> | null,
  timer: undefined as NodeJS.Timeout | undefined,
}))

export function watchKnowledge(
  node: Node,
  connection: Connection,
  account: string,
  agent: string,
  items: readonly StoredItem[],
): void {
  const state = watchedOn(node)
  const { agents } = state
  const watched = agents.get(agent) ?? {
    connections: new Map(),
    sent: new Map(items.map((item) => [item._id, changeOf(item)])),
  }
  agents.set(agent, watched)
  state.timer ??= setInterval(() => checkWatchedSoon(node), lookMilliseconds).unref()
  if (watched.connections.has(connection)) return
  watched.connections.set(connection, account)
  connection.onClose(() => leave(agents, agent, connection))
}

function leave(agents: Map<string, Watched>, agent: string, connection: Connection): void {
  const watched = agents.get(agent)
  watched?.connections.delete(connection)
  if (watched?.connections.size === 0) agents.delete(agent)
}

/** Checks for changes at once. */
export function checkWatchedSoon(node: Node): void {
  const state = watchedOn(node)
  if (state.agents.size === 0) {
    stopLooking(node)
    return
  }
  state.looking ??= look(node, state.agents)
    .catch((error: unknown) => node.logger.warn({ error }, 'changes of what agents know were not told'))
    .finally(() => {
      state.looking = null
    })
}

/** Without watchers no timer runs. */
export function stopLooking(node: Node): void {
  const state = watchedOn(node)
  clearInterval(state.timer)
  state.timer = undefined
}

async function look(node: Node, agents: Map<string, Watched>): Promise<void> {
  const items = await KnowledgeItems.find({ agent_id: { $in: [...agents.keys()] } }).lean<StoredItem[]>()
  for (const [agent, watched] of agents) {
    const now = new Map(items.filter(({ agent_id }) => agent_id === agent).map((item) => [item._id, changeOf(item)]))
    const removed = [...watched.sent.values()].filter(({ knowledge_id }) => !now.has(knowledge_id)).map(removalOf)
    const changed = [...now].filter(([id, to]) => JSON.stringify(watched.sent.get(id)) !== JSON.stringify(to))
    const changes = [...removed, ...changed.map(([, change]) => change)]
    if (changes.length > 0) await removeOtherWatchers(node, agents, agent, watched)
    watched.sent = now
    for (const change of changes)
      for (const connection of watched.connections.keys()) connection.emit(knowledgeEvents.knowledgeEvent, change)
  }
}

/** Removes watchers who may not change the agent any more. */
async function removeOtherWatchers(
  node: Node,
  agents: Map<string, Watched>,
  id: string,
  watched: Watched,
): Promise<void> {
  const agent = await Agents.findOne({ _id: id }).lean<StoredAgent>()
  if (!agent) return
  for (const [connection, account] of watched.connections)
    if (!(await mayChangeAgent(node, account, agent))) leave(agents, id, connection)
}

const removalOf = (change: KnowledgeChange): KnowledgeChange => ({
  ...change,
  ...{ status: 'removed', pages: 0, chunks: 0, error: null, stale_since: null },
})

const changeOf = (item: StoredItem): KnowledgeChange => ({
  agent_id: item.agent_id,
  knowledge_id: item._id,
  status: item.status,
  pages: item.pages,
  chunks: item.chunk_count,
  error: item.error_message,
  stale_since: item.stale_since?.toISOString() ?? null,
})
