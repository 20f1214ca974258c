import { showsOnPages } from '#server/domains/accounts/page-parts'
import { Agents, type StoredAgent } from '#server/domains/agent-state/model'
import type { Node } from '#server/kernel/context'

const shownAtMost = 50

/** Has the public page of an account show its public agents. */
export const showOnPages = (node: Node): void => showsOnPages(node, { agents: publicAgentsOf })

async function publicAgentsOf(owner_address: string) {
  const found = await Agents.find({ owner_address, visibility: 'public' })
    .sort({ created_at: -1, _id: -1 })
    .limit(shownAtMost)
    .lean<StoredAgent[]>()
  return found.map(({ _id, name, personality, avatar_emoji, avatar_url }) => ({
    ...{ id: _id, name, personality, avatar_emoji, avatar_url },
    visibility: 'public' as const,
  }))
}
