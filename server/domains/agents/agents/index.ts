import { isHex } from 'viem'
import { z } from 'zod'
import { agentRoomActions, startAgentRooms } from '#server/domains/agents/agent-rooms/index'
import { removeAgentFromRooms, updateAgentProfile } from '#server/domains/agents/agent-rooms/memberships'
import { countKnowledge, spendingSettings } from '#server/domains/agents/agent-spending/allowance'
import {
  agentsOf,
  isAdmin,
  isGoneAgent,
  isPublicAgentFor,
  mayChangeAgent,
  ownAgent,
  visibleAgent,
} from '#server/domains/agents/agent-state/access'
import { Agents, Events, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { agentToolActions } from '#server/domains/agents/agent-tools/index'
import { removeKnowledgeOf } from '#server/domains/agents/library/model'
import { runActions, startRuns } from '#server/domains/agents/runs/index'
import { Conversations, RunFrames, Runs, type StoredRun } from '#server/domains/agents/runs/model'
import { stopAndWait, stopRefusedRuns } from '#server/domains/agents/runs/stop'
import { withCopiedPictures } from '#server/domains/media/files/copies'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { facilitatorOf, type PaymentOffer } from '#server/domains/payments/payments/scheme'
import { type Account, Accounts } from '#server/domains/people/accounts/model'
import { isWalletAccount, smartAccountIn } from '#server/domains/people/accounts/smart-account'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import type { RawRoute } from '#server/kernel/http/raw-route'
import { startInBackground } from '#server/kernel/work/every'
import { job } from '#server/kernel/work/jobs'
import { agents as contract } from '#shared/api/agents/agents'
import { networks, priceText, unitsOf } from '#shared/api/payments/payment-networks'
import { done } from '#shared/kit/primitives'
import { discover } from './discover.ts'
import * as events from './events.ts'
import * as favorites from './favorites.ts'
import { Favorites } from './model.ts'
import { agentFieldsOf, createAgent, updateAgent, updateSearchWords } from './owned.ts'
import { agentCardOf, agentInfoOf, listedAgentOf, ownAgentOf, showAgentsOnPages } from './render.ts'

/** The endpoints of an agent: public ones, or those for signed-in accounts. */
export function endpointsOf(
  { settings: { publicUrl } }: Pick<Node, 'settings'>,
  { _id }: StoredAgent,
  isPublic = true,
) {
  const info = `${publicUrl}/api/${isPublic ? 'public/' : ''}agents/${_id}`
  return { info, chat: `${info}/chat` }
}

/** The offer of an answer; null if the agent is not sold or nobody can be paid. */
export async function agentOfferOf(node: Pick<Node, 'settings'>, agent: StoredAgent): Promise<PaymentOffer | null> {
  const { x402_enabled, x402_price_cents: cents, x402_network: network } = agent
  if (!x402_enabled || cents === null || network === null) return null
  const payTo = await payeeOf(agent)
  if (payTo === null) return null
  const resource = endpointsOf(node, agent).chat
  return { facts: networks[network], amount: unitsOf(cents), payTo, resource, description: descriptionOf(agent, cents) }
}

const descriptionOf = ({ name }: StoredAgent, cents: number) => `One answer of ${name} for ${priceText(cents)}`

/** The named wallet, or the owner's; for a passkey its smart account, as its account id has no key. */
async function payeeOf({
  x402_wallet_address: named,
  owner_address,
}: StoredAgent): Promise<PaymentOffer['payTo'] | null> {
  if (named !== null && isHex(named)) return named
  const owner = await Accounts.findOne({ _id: owner_address }).lean<Account>()
  if (!owner) return null
  if (isWalletAccount(owner) && isHex(owner._id)) return owner._id
  return smartAccountIn(owner)?.address ?? null
}

export function pricingOf(node: Pick<Node, 'services'>, cents: number, { facts, payTo }: PaymentOffer) {
  const facilitator = facilitatorOf(node, facts)
  return {
    pricePerMessage: priceText(cents),
    priceCents: cents,
    network: facts.network,
    currency: 'USDC' as const,
    payTo,
    payable: facilitator !== null,
    simulated: facilitator?.isSimulated ?? false,
  }
}

/** The price as clients see it; `enabled` if there is one. */
export async function renderPricing(node: Node, agent: StoredAgent, isPublic = true) {
  const wanted = isPublic ? await agentOfferOf(node, agent) : null
  return { enabled: wanted !== null, ...(wanted && pricingOf(node, agent.x402_price_cents ?? 0, wanted)) }
}

const page = 200

/** Deletes an agent with all its data. */
const agentRemoval = job({
  kind: 'agents.remove',
  payload: z.object({ agent: z.string(), by: z.string().optional() }),
  async run({ agent, by }, { node }) {
    await Agents.deleteOne({ _id: agent })
    await removeAgentFromRooms(node, agent)
    await removeKnowledgeOf(agent)
    await Favorites.deleteMany({ agent_id: agent })
    await Events.deleteMany({ agent_id: agent })
    await Conversations.deleteMany({ agent_id: agent })
    for (;;) {
      const runs = await Runs.find({ agent_id: agent }).limit(page).lean<StoredRun[]>()
      if (runs.length === 0) return
      await Promise.all(runs.map((run) => stopAndWait(node, run, by ?? run.account)))
      const ids = runs.map(({ _id }) => _id)
      await RunFrames.deleteMany({ run_id: { $in: ids } })
      await Runs.deleteMany({ _id: { $in: ids }, state: { $ne: 'running' } })
    }
  },
})

/** Has the page at the address of such an agent come with 410. */
const gonePages: RawRoute = {
  path: '/agents/:id',
  answer: 'file',
  async give({ params }, response) {
    if (await isGoneAgent(String(params.id))) response.status(410)
    return false
  },
  has: () => false,
}

export const agents = defineDomain(
  contract,
  {
    async list({ includeOfficial = false }, context) {
      const { account } = signedIn(context)
      const official = !(await isAdmin(context.node, account)) ? 'none' : includeOfficial ? 'all' : 'own'
      return { agents: (await agentsOf(account, official)).map((agent) => listedAgentOf(context.node, agent)) }
    },

    async create(input, context) {
      const { account } = signedIn(context)
      const given = await withCopiedPictures(context, storageFolders.avatar, agentFieldsOf(input), ['avatarUrl'])
      return {
        agent: await ownAgentOf(context.node, await createAgent(context.node, account, given, context.creationId)),
      }
    },

    async get({ id }, context) {
      const { account } = signedIn(context)
      const agent = await visibleAgent(account, id)
      const isOwn = await mayChangeAgent(context.node, account, agent)
      const shown = isOwn
        ? await ownAgentOf(context.node, agent)
        : { ...agentCardOf(context.node, agent), is_own: false as const }
      const isPublic = await isPublicAgentFor(account, agent)
      return {
        agent: { ...shown, ...agentInfoOf(agent) },
        pricing: await renderPricing(context.node, agent, isPublic),
        endpoints: endpointsOf(context.node, agent, isPublic),
      }
    },

    async update({ id, ...input }, context) {
      const { account } = signedIn(context)
      const { avatar_url: avatarUrl } = await ownAgent(context.node, account, id)
      const given = await withCopiedPictures(context, storageFolders.avatar, agentFieldsOf(input), ['avatarUrl'], {
        avatarUrl,
      })
      const changed = await updateAgent(context.node, account, id, given)
      await Promise.all([updateAgentProfile(context.node, changed), stopRefusedRuns(context.node, changed, account)])
      return { agent: await ownAgentOf(context.node, changed) }
    },

    async remove({ id }, context) {
      const { account } = signedIn(context)
      const agent = await ownAgent(context.node, account, id)
      await context.node.jobs.add(agentRemoval, { agent: agent._id, by: account })
      await Agents.deleteOne({ _id: agent._id })
      return done
    },

    ...runActions,
    ...agentToolActions,
    discover,
    ...favorites,
    ...events,
    ...agentRoomActions,
  },
  {
    settings: spendingSettings,
    jobs: [agentRemoval],
    routes: () => [gonePages],
    async shows(urls) {
      const found = await Agents.find({ avatar_url: { $in: [...urls] } }, { avatar_url: 1 }).lean()
      return found.map(({ avatar_url }) => avatar_url)
    },
    start: (node) => {
      showAgentsOnPages(node)
      return [
        startInBackground(node, updateSearchWords, 'older agents were not filed for the search'),
        ...startRuns(node),
        ...startAgentRooms(node),
        countKnowledge(node),
      ]
    },
  },
)
