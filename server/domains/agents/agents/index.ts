import { agentRoomActions, startAgentRooms } from '#server/domains/agents/agent-rooms/index'
import { updateAgentProfile } from '#server/domains/agents/agent-rooms/memberships'
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
import { Agents } from '#server/domains/agents/agent-state/model'
import { agentToolActions } from '#server/domains/agents/agent-tools/index'
import { runActions, startRuns } from '#server/domains/agents/runs/index'
import { stopRefusedRuns } from '#server/domains/agents/runs/stop'
import { withCopiedPictures } from '#server/domains/media/files/copies'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import type { RawRoute } from '#server/kernel/http/raw-route'
import { startInBackground } from '#server/kernel/work/every'
import { agents as contract } from '#shared/api/agents/agents'
import { done } from '#shared/kit/primitives'
import { discover } from './discover.ts'
import * as events from './events.ts'
import * as favorites from './favorites.ts'
import { agentFieldsOf, createAgent, updateAgent } from './owned.ts'
import { endpointsOf, renderPricing } from './pricing.ts'
import { agentRemoval } from './removal.ts'
import { agentCardOf, agentInfoOf, listedAgentOf, ownAgentOf, showAgentsOnPages } from './render.ts'
import { updateSearchWords } from './search-words.ts'

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
