import { modelNameOf, modelsOf } from '#server/domains/agents/agent-spending/counted-answer'
import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { renderTools } from '#server/domains/agents/agent-tools/stored'
import { Runs } from '#server/domains/agents/runs/model'
import { earningsOf } from '#server/domains/payments/payments/settle'
import { registerPageParts } from '#server/domains/people/accounts/index'
import type { Node } from '#server/kernel/context'
import type { AgentCard, AgentInfo, ListedAgent, OwnAgent } from '#shared/api/agents/agent-records'
import { cutToLength } from '#shared/kit/cut'

/** The public fields of an agent. */
export const agentCardOf = (node: Node, agent: StoredAgent): AgentCard => ({
  id: agent._id,
  owner_address: agent.owner_address,
  name: agent.name,
  personality: agent.personality,
  greeting: agent.greeting ?? '',
  model: modelNameOf(node, agent),
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

/** The same under the names of the public API. */
export const agentInfoOf = (agent: StoredAgent): AgentInfo => ({
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
  ...agentCardOf(node, agent),
  system_instructions: agent.system_instructions,
})

export async function ownAgentOf(node: Node, agent: StoredAgent): Promise<OwnAgent> {
  const { totalEarnings, paidMessages } = await earningsOf(node, agent._id)
  const rated = (rating: 'up' | 'down') => Runs.countDocuments({ agent_id: agent._id, rating })
  const [up, down] = await Promise.all([rated('up'), rated('down')])
  return {
    ...listedAgentOf(node, agent),
    ...agentCardOf(node, agent),
    is_own: true,
    own_questions: agent.suggested_questions?.length ? agent.suggested_questions : null,
    temperature: agent.temperature ?? null,
    ratings: { up, down },
    models: modelsOf(node).map(({ name }) => name),
    mcp_enabled: agent.mcp_enabled,
    api_enabled: agent.api_enabled,
    ...renderTools(agent),
    x402_wallet_address: agent.x402_wallet_address,
    x402_pricing_mode: agent.x402_pricing_mode,
    x402_total_earnings_cents: totalEarnings,
    x402_message_count_paid: paidMessages,
  }
}

const longestQuestion = 100
const questionsAtMost = 4

/** Suggested questions by topics of an agent. */
const byTopic: readonly (readonly [topic: RegExp, question: string])[] = [
  [
    /\b(cod(e|ing|er)|program\w*|software|developer|javascript|typescript|python|rust)\b/,
    'Can you help me find a bug in my code?',
  ],
  [/\b(writ(e|er|ing)|author|poet\w*|stor(y|ies)|essay|copywrit\w*)\b/, 'Can you help me write something?'],
  [
    /\b(crypto\w*|blockchain|defi|coins?|nfts?|web3|ethereum|solana|wallet\w*)\b/,
    'What should I know before I use a blockchain?',
  ],
  [/\b(trad(e|er|ing)|invest\w*|financ\w*|stocks?|money|budget\w*)\b/, 'How do I make a budget?'],
  [/\b(cook\w*|chef|recipes?|food|kitchen|bak(e|ing|er))\b/, 'What can I cook tonight?'],
  [/\b(fitness|workouts?|gym|health\w*|yoga|running|nutrition)\b/, 'How do I begin to exercise?'],
  [/\b(travel\w*|trips?|touris\w*|hotels?|flights?)\b/, 'Where should I travel next?'],
  [/\b(music\w*|songs?|guitar|piano|bands?)\b/, 'What music would you recommend?'],
  [/\b(games?|gam(er|ing)|rpg|esports?)\b/, 'Which game should I play next?'],
  [/\b(teach\w*|tutor\w*|learn\w*|study|school|math\w*|education)\b/, 'Can you explain something to me step by step?'],
  [/\b(languages?|translat\w*|spanish|french|german|japanese|english)\b/, 'Can you translate something for me?'],
  [/\b(design\w*|art|artist\w*|draw\w*|paint\w*|logo|ui|ux)\b/, 'How can I make my design better?'],
  [/\b(market\w*|brand\w*|seo|advertis\w*|growth|sales)\b/, 'How do I tell more people about my project?'],
  [/\b(legal|law|lawyer|contracts?)\b/, 'What should I look for in a contract?'],
  [/\b(events?|conferences?|meetups?|hackathons?|part(y|ies)|summits?)\b/, 'What events are coming up?'],
  [/\b(news|current|politic\w*|world)\b/, 'What is new today?'],
  [/\b(movies?|films?|series|cinema|books?|reading)\b/, 'What would you recommend to watch or read?'],
  [/\b(funny|jokes?|humou?r\w*|comed\w*|sarcas\w*)\b/, 'Can you tell me a joke?'],
  [/\b(science|physics|chemistry|biology|space|astronom\w*)\b/, 'What is a fact that surprises most people?'],
  [/\b(data|analy\w*|statistic\w*|sql|spreadsheets?)\b/, 'How do I make sense of my data?'],
  [/\b(support|help ?desk|customers?|docs|documentation)\b/, 'Where do I begin?'],
]
const generic = ['What do you know most about?', 'Can you give me an example?', 'What should I ask you first?']

/** Suggested questions: those of the owner, or four generated ones for a public agent. */
export function suggestedQuestionsOf(
  agent: Pick<StoredAgent, 'name' | 'personality' | 'tags' | 'visibility' | 'suggested_questions'>,
) {
  if (agent.suggested_questions?.length || agent.visibility !== 'public') return agent.suggested_questions
  const about = [agent.personality, ...agent.tags].join(' ').toLowerCase()
  const found = byTopic.filter(([topic]) => topic.test(about)).map(([, question]) => question)
  return [firstQuestion(agent.name), ...found, ...generic].slice(0, questionsAtMost)
}

function firstQuestion(name: string): string {
  const [before, after] = ['What can ', ' help me with?']
  const room = longestQuestion - before.length - after.length
  const shown = name.length <= room ? name : `${cutToLength(name, room - 1)}…`
  return before + shown + after
}

const onPageAtMost = 50

/** Shows public agents on the pages of their owners. */
export const showAgentsOnPages = (node: Node): void => registerPageParts(node, { agents: publicAgentsOf })

async function publicAgentsOf(owner_address: string) {
  const found = await Agents.find({ owner_address, visibility: 'public' })
    .sort({ created_at: -1, _id: -1 })
    .limit(onPageAtMost)
    .lean<StoredAgent[]>()
  return found.map(({ _id, name, personality, avatar_emoji, avatar_url }) => ({
    ...{ id: _id, name, personality, avatar_emoji, avatar_url },
    visibility: 'public' as const,
  }))
}
