import { agentRoomActions, startAgentRooms } from '#server/domains/agents/agent-rooms/index'
import { showChanges } from '#server/domains/agents/agent-rooms/memberships'
import { countKnowledge, spendingSettings } from '#server/domains/agents/agent-spending/allowance'
import {
  agentsOf,
  isAdmin,
  isPublicFor,
  mayChange,
  ownAgent,
  visibleAgent,
} from '#server/domains/agents/agent-state/access'
import { Agents } from '#server/domains/agents/agent-state/model'
import { agentToolActions } from '#server/domains/agents/agent-tools/index'
import { runActions, startRuns } from '#server/domains/agents/runs/index'
import { stopRefusedOf } from '#server/domains/agents/runs/stop'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { withCopiedPictures } from '#server/domains/media/files/copies'
import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { startInBackground } from '#server/kernel/every'
import { agents as contract } from '#shared/api/agents'
import { done } from '#shared/kit/primitives'
import { discover } from './discover.ts'
import * as events from './events.ts'
import * as favorites from './favorites.ts'
import { agentFieldsOf, createAgent, updateAgent } from './owned.ts'
import { endpointsOf, shownPricing } from './pricing.ts'
import { removal } from './removal.ts'
import { cardOf, infoOf, listedAgentOf, ownAgentOf, showOnPages } from './shown.ts'
import { fileAgents } from './words.ts'

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
      const isOwn = await mayChange(context.node, account, agent)
      const shown = isOwn
        ? await ownAgentOf(context.node, agent)
        : { ...cardOf(context.node, agent), is_own: false as const }
      const isPublic = await isPublicFor(account, agent)
      return {
        agent: { ...shown, ...infoOf(agent) },
        pricing: await shownPricing(context.node, agent, isPublic),
        endpoints: endpointsOf(context.node, agent, isPublic),
      }
    },

    async update({ id, ...input }, context) {
      const { account } = signedIn(context)
      const { avatar_url: avatarUrl } = await ownAgent(context.node, account, id)
      const given = await withCopiedPictures(context, storageFolders.avatar, agentFieldsOf(input), ['avatarUrl'], { avatarUrl })
      const changed = await updateAgent(context.node, account, id, given)
      await Promise.all([showChanges(context.node, changed), stopRefusedOf(context.node, changed, account)])
      return { agent: await ownAgentOf(context.node, changed) }
    },

    async remove({ id }, context) {
      const { account } = signedIn(context)
      const agent = await ownAgent(context.node, account, id)
      await context.node.jobs.add(removal, { agent: agent._id, by: account })
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
    jobs: [removal],
    async shows(urls) {
      const found = await Agents.find({ avatar_url: { $in: [...urls] } }, { avatar_url: 1 }).lean()
      return found.map(({ avatar_url }) => avatar_url)
    },
    start: (node) => {
      showOnPages(node)
      return [
        startInBackground(node, fileAgents, 'older agents were not filed for the search'),
        ...startRuns(node),
        ...startAgentRooms(node),
        countKnowledge(node),
      ]
    },
  },
)
