import { z } from 'zod'
import { removeAgentFromRooms } from '#server/domains/agents/agent-rooms/memberships'
import { Agents, Events } from '#server/domains/agents/agent-state/model'
import { removeKnowledgeOf } from '#server/domains/agents/library/model'
import { Conversations, RunFrames, Runs, type StoredRun } from '#server/domains/agents/runs/model'
import { stopAndWait } from '#server/domains/agents/runs/stop'
import { job } from '#server/kernel/work/jobs'
import { Favorites } from './model.ts'

const page = 200

/** Deletes an agent with all its data. */
export const agentRemoval = job({
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
