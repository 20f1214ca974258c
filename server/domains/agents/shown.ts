import { earningsOf } from '#server/domains/payments/receipts'
import type { Node } from '#server/kernel/context'
import type { AgentCard, AgentInfo, ListedAgent, OwnAgent } from '#shared/api/agent-records'
import { modelName } from './generation.ts'
import type { StoredAgent } from './model.ts'
import { suggestedQuestionsOf } from './suggested-questions.ts'
import { shownToolsOf } from './tools/stored.ts'

/** What everybody may see of an agent whom they may see at all. */
export const cardOf = (node: Node, agent: StoredAgent): AgentCard => ({
  id: agent._id,
  owner_address: agent.owner_address,
  name: agent.name,
  personality: agent.personality,
  model: modelName(node),
  scripted: node.services.model?.isScripted ?? false,
  searches_web: node.services.model?.searchesWeb ?? false,
  avatar_emoji: agent.avatar_emoji,
  avatar_url: agent.avatar_url,
  visibility: agent.visibility,
  web_search_enabled: agent.web_search_enabled,
  use_knowledge_base: agent.use_knowledge_base,
  scheduling_enabled: agent.scheduling_enabled,
  events_access: agent.events_access,
  public_access_enabled: agent.public_access_enabled,
  message_count: agent.message_count,
  tags: agent.tags,
  suggested_questions: suggestedQuestionsOf(agent),
  x402_enabled: agent.x402_enabled,
  x402_price_cents: agent.x402_price_cents,
  x402_network: agent.x402_network,
  created_at: agent.created_at.toISOString(),
  updated_at: agent.updated_at.toISOString(),
})

/** The same by the names of the public door. */
export const infoOf = (agent: StoredAgent): AgentInfo => ({
  id: agent._id,
  name: agent.name,
  personality: agent.personality,
  emoji: agent.avatar_emoji,
  tags: agent.tags,
  features: { webSearch: agent.web_search_enabled, knowledgeBase: agent.use_knowledge_base },
  stats: { totalMessages: agent.message_count },
  createdAt: agent.created_at.toISOString(),
})

export const listedAgentOf = (node: Node, agent: StoredAgent): ListedAgent => ({
  ...cardOf(node, agent),
  system_instructions: agent.system_instructions,
})

export async function ownAgentOf(node: Node, agent: StoredAgent): Promise<OwnAgent> {
  const { totalEarnings, paidMessages } = await earningsOf(node, agent._id)
  return {
    ...listedAgentOf(node, agent),
    ...cardOf(node, agent),
    is_own: true,
    mcp_enabled: agent.mcp_enabled,
    api_enabled: agent.api_enabled,
    ...shownToolsOf(agent),
    x402_wallet_address: agent.x402_wallet_address,
    x402_pricing_mode: agent.x402_pricing_mode,
    x402_total_earnings_cents: totalEarnings,
    x402_message_count_paid: paidMessages,
  }
}
