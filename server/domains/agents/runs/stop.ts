import { agentRefusalOf, agentsOf } from '#server/domains/agents/agent-state/access'
import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { blocksChanged } from '#server/domains/moderation/blocks/events'
import { accountSuspended } from '#server/domains/people/accounts/events'
import { isSuspended } from '#server/domains/people/accounts/roles'
import { friendsEnded } from '#server/domains/people/friends/events'
import type { Pair } from '#server/domains/people/friends/model'
import { isRowOf } from '#server/domains/rooms/events/define'
import type { Node } from '#server/kernel/context'
import { GLOBAL, type Row } from '#server/log/types'
import type { QueryFilter } from '#server/ports/database/port'
import { isSameAccount } from '#shared/kit/accounts'
import { cancelledRun } from './answer-lines.ts'
import { isRoomPlace } from './history.ts'
import { type RunState, Runs, type StoredRun } from './model.ts'
import { isRunHere, requestStop, stopRun, untilReleased } from './relay.ts'

const waitMilliseconds = 2_000
const lookMilliseconds = 50
/** Runs of this node wake the waiter. */
const seldomMilliseconds = 500

/** Stops a run on any node, and waits a while for its end. Repeats do nothing. */
export async function stopAndWait(node: Node, run: StoredRun, by: string): Promise<RunState> {
  if (run.state !== 'running') return run.state
  await Runs.updateOne(
    { _id: run._id, state: 'running', cancelled_by: null },
    { $set: { cancelled_by: by, stop_at: run.node } },
  )
  if (isRunHere(node, run._id)) stopRun(node, run._id, by)
  else requestStop(node, run)
  const began = performance.now()
  for (;;) {
    const now = await Runs.findOne({ _id: run._id }).select({ state: 1 }).lean<{ state: RunState }>()
    if (now?.state !== 'running' || performance.now() - began > waitMilliseconds) return now?.state ?? 'cancelled'
    await untilReleased(node, run._id, isRunHere(node, run._id) ? seldomMilliseconds : lookMilliseconds)
  }
}

/** Stops runs of askers who lost access: by a suspension, a block or an ended friendship. `stopRefusedRuns` does so for changed agents. */
export function followRefusals(node: Node): () => void {
  const stop = (runs: Promise<StoredRun[]>, by: string) => {
    stopRefused(node, runs, by).catch((error: unknown) =>
      node.logger.warn({ error }, 'answers that are refused by now were not stopped'),
    )
  }
  node.log.onRows((key, rows, isOurs) => {
    if (key !== GLOBAL || !isOurs) return
    for (const row of rows) {
      if (isRowOf(row, accountSuspended)) stop(ofAccount(row.target ?? ''), row.sender)
      if (isRowOf(row, blocksChanged)) stop(between(row.sender, String(row.body.other)), row.sender)
      if (isRowOf(row, friendsEnded)) stop(between(...endsOf(row)), row.sender)
    }
  })
  return () => {}
}

const endsOf = ({ body }: Row): [string, string] => {
  const { from_address, to_address } = body.pair as Pick<Pair, 'from_address' | 'to_address'>
  return [from_address, to_address]
}

/** Stops runs of an agent whose askers lost access, and waits a while for their end. */
export const stopRefusedRuns = (node: Node, { _id: agent_id }: StoredAgent, by: string): Promise<void> =>
  stopRefused(node, running({ agent_id }), by)

async function stopRefused(node: Node, among: Promise<StoredRun[]>, by: string): Promise<void> {
  const runs = await among
  const agents = await Agents.find({ _id: { $in: runs.map(({ agent_id }) => agent_id) } }).lean<StoredAgent[]>()
  const byId = new Map(agents.map((agent) => [agent._id, agent]))
  await Promise.all(
    runs.map(async (run) => {
      const agent = byId.get(run.agent_id)
      if (agent && (await isRefusedRun(node, run, agent))) await stopAndWait(node, run, by)
    }),
  )
}

const running = (filter: QueryFilter<StoredRun>): Promise<StoredRun[]> =>
  Runs.find({ ...filter, state: 'running' }).lean<StoredRun[]>()

/** Runs of an account's questions, and of its agents. */
async function ofAccount(account: string): Promise<StoredRun[]> {
  const theirs = await agentsOf(account, 'none')
  return running({ $or: [{ account }, { agent_id: { $in: theirs.map(({ _id }) => _id) } }] })
}

/** Runs of either account, perhaps with agents of the other. */
const between = (one: string, other: string): Promise<StoredRun[]> => running({ account: { $in: [one, other] } })

/** The current agent of a stored question. Throws the end of the run if the asker was refused meanwhile. */
export async function agentNow(node: Node, run: StoredRun): Promise<StoredAgent> {
  const agent = await Agents.findOne({ _id: run.agent_id }).lean<StoredAgent>()
  if (!agent || (await isRefusedRun(node, run, agent))) throw cancelledRun(agent?.owner_address ?? run.account)
  return agent
}

/** Whether the asker may not use the agent any more. Paid questions without an account are always answered. */
async function isRefusedRun(node: Node, { account, place }: StoredRun, agent: StoredAgent): Promise<boolean> {
  if (isSameAccount(account, place)) return false
  const isOfficial = agent.visibility === 'official'
  if (isRoomPlace(place) && !isOfficial) return true
  // The log knows it before the records of accounts.
  if ((await isSuspended(node, account)) || (!isOfficial && (await isSuspended(node, agent.owner_address)))) return true
  return (await agentRefusalOf(account, agent)) !== null
}
