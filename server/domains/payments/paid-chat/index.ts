import {
  agentAtPublicAddress,
  closedAgentError,
  isPublicAgentFor,
  ownAgent,
} from '#server/domains/agents/agent-state/access'
import { countEvents } from '#server/domains/agents/agent-state/events'
import type { StoredAgent } from '#server/domains/agents/agent-state/model'
import { agentOfferOf, endpointsOf, pricingOf, renderPricing } from '#server/domains/agents/agents/index'
import { agentCardOf, agentInfoOf } from '#server/domains/agents/agents/render'
import { extrasOfAnswer } from '#server/domains/agents/runs/answer-lines'
import { messagesOf } from '#server/domains/agents/runs/history'
import { exactScheme } from '#server/domains/payments/payments/exact'
import { Payments, type StoredPayment } from '#server/domains/payments/payments/model'
import { facilitatorOf } from '#server/domains/payments/payments/scheme'
import {
  earningsOf,
  paymentResolution,
  paymentSummaryOf,
  receiptsOf,
  resolveOlderPayments,
} from '#server/domains/payments/payments/settle'
import { type Caller, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { startInBackground } from '#server/kernel/work/every'
import type { ChatMessage } from '#shared/api/agents/agent-runs'
import { embedCodeOf } from '#shared/api/agents/embed-code'
import { networks } from '#shared/api/payments/payment-networks'
import { payments as contract } from '#shared/api/payments/payments'
import { AppError } from '#shared/errors'
import { chat, chatStream, publicChatPlace } from './chat.ts'

const historyLength = 50

/** Loads an agent that the caller may use. */
async function publicAgent({ account }: Caller, id: string): Promise<StoredAgent> {
  const agent = await agentAtPublicAddress(id)
  if (!(await isPublicAgentFor(account, agent))) throw closedAgentError(account, agent, 'AGENT_NOT_PUBLIC')
  return agent
}

const statsOf = async (node: Node, { _id, message_count: totalMessages }: StoredAgent) => ({
  totalMessages,
  ...(await earningsOf(node, _id)),
})

/** Without failed answers that were retried, and their questions. */
const withoutRetried = (messages: readonly ChatMessage[]): readonly ChatMessage[] =>
  messages.filter(({ run_id }) => {
    const [question, answer] = messages.filter((message) => message.run_id === run_id)
    const next = messages[messages.findLastIndex((message) => message.run_id === run_id) + 1]
    return answer?.state !== 'failed' || next?.content !== question?.content
  })

export const payments = defineDomain(
  contract,
  {
    async agent({ id }, { node, caller }) {
      const agent = await publicAgent(caller, id)
      const events_count = await countEvents(id)
      const events = { has_events: events_count > 0, events_count }
      const { x402_network: network } = agent
      const facilitator = network && facilitatorOf(node, networks[network])
      return {
        ...agentCardOf(node, agent),
        ...events,
        x402_simulated: facilitator?.isSimulated ?? false,
        scripted: node.services.model?.isScripted ?? false,
      }
    },

    async info({ id }, { node, caller }) {
      const agent = await agentAtPublicAddress(id)
      if (!(await isPublicAgentFor(caller.account, agent))) throw new AppError('AGENT_NOT_FOUND')
      const pricing = await renderPricing(node, agent)
      return { agent: agentInfoOf(agent), pricing, endpoints: endpointsOf(node, agent) }
    },

    chat,
    chatStream,

    async history({ id, sessionId }, { node, caller }) {
      await publicAgent(caller, id)
      const place = publicChatPlace(sessionId)
      const found = await messagesOf(node, { agent_id: id, account: place, place }, { limit: historyLength })
      if (found.length === 0) throw new AppError('CHAT_HISTORY_NOT_FOUND')
      return {
        messages: withoutRetried(found)
          .filter(({ content }) => content !== '')
          .map(({ role, content, ...rest }) => ({ role, content, ...extrasOfAnswer(rest) })),
        sessionId,
      }
    },

    async payment({ id }, { node }) {
      const payment = await Payments.findOne({ _id: id }).lean<StoredPayment>()
      if (!payment) throw new AppError('PAYMENT_NOT_FOUND')
      const { agent_id, code, state } = payment
      const isOpen = state === 'verifying' || state === 'unknown'
      const scheme = exactScheme(node)
      const usable_until = isOpen ? scheme.usableUntil(payment).toISOString() : null
      return { ...paymentSummaryOf(payment), agent_id, code, usable_until, is_over: isOpen && scheme.isOver(payment) }
    },

    async embed({ id }, context) {
      const { node } = context
      const agent = await ownAgent(node, signedIn(context).account, id)
      const offer = await agentOfferOf(node, agent)
      if (!offer) throw new AppError('X402_NOT_ENABLED')
      const endpoints = endpointsOf(node, agent)
      return {
        agent: { id: agent._id, name: agent.name, emoji: agent.avatar_emoji },
        endpoints,
        pricing: pricingOf(node, agent.x402_price_cents ?? 0, offer),
        code: embedCodeOf(endpoints.chat, offer.facts),
        stats: await statsOf(node, agent),
      }
    },

    async receipts({ id, limit, before }, context) {
      const agent = await ownAgent(context.node, signedIn(context).account, id)
      const [receipts, stats] = await Promise.all([receiptsOf(agent._id, limit, before), statsOf(context.node, agent)])
      return { receipts, stats }
    },
  },
  {
    jobs: [paymentResolution],
    start: (node) => [startInBackground(node, () => resolveOlderPayments(node), 'older payments were not found')],
  },
)
