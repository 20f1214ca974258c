import { accountSuspended } from '#server/domains/accounts/events'
import { areBlocked } from '#server/domains/blocks/blocks'
import { blocksChanged } from '#server/domains/blocks/events'
import { isOf } from '#server/domains/events/define'
import type { Node } from '#server/kernel/context'
import { GLOBAL } from '#server/log/types'
import type { QueryFilter } from '#server/ports/database/port'
import { Agents, type StoredAgent } from '../model.ts'
import { agentsOf } from '../owned.ts'
import { stopRun } from './begin.ts'
import { type RunState, Runs, type StoredRun } from './model.ts'
import { isHere, tellToStop, untilGone } from './relay.ts'

const waitMilliseconds = 2_000
const lookMilliseconds = 50
/** The end of a run of this node wakes who waits for it. */
const seldomMilliseconds = 500

/** Stops a run wherever it is worked on, and waits a while until it has ended. Stopping it again does nothing. */
export async function askToStop(node: Node, run: StoredRun, by: string): Promise<RunState> {
  if (run.state !== 'running') return run.state
  await Runs.updateOne(
    { _id: run._id, state: 'running', cancelled_by: null },
    { $set: { cancelled_by: by, stop_at: run.node } },
  )
  if (isHere(node, run._id)) stopRun(node, run._id, by)
  else tellToStop(node, run)
  const began = performance.now()
  for (;;) {
    const now = await Runs.findOne({ _id: run._id }).select({ state: 1 }).lean<{ state: RunState }>()
    if (now?.state !== 'running' || performance.now() - began > waitMilliseconds) return now?.state ?? 'cancelled'
    await untilGone(node, run._id, isHere(node, run._id) ? seldomMilliseconds : lookMilliseconds)
  }
}

/**
 * Stops what is being answered to somebody who is suspended meanwhile, or by their agents, and what is answered by an agent of one of two of
 * whom one blocks the other to the other of them.
 */
export function stopForRefused(node: Node): () => void {
  const warn = (error: unknown) => node.logger.warn({ error }, 'answers that are refused by now were not stopped')
  const stop = async (runs: Promise<StoredRun[]>, by: string) => {
    await Promise.all((await runs).map((run) => askToStop(node, run, by)))
  }
  node.log.onRows((key, rows, isOurs) => {
    if (key !== GLOBAL || !isOurs) return
    for (const row of rows) {
      if (isOf(row, accountSuspended)) stop(ofSuspended(row.target ?? ''), row.sender).catch(warn)
      if (isOf(row, blocksChanged)) stop(ofBlocked(row.sender, String(row.body.other)), row.sender).catch(warn)
    }
  })
  return () => {}
}

const running = (filter: QueryFilter<StoredRun>): Promise<StoredRun[]> =>
  Runs.find({ ...filter, state: 'running' }).lean<StoredRun[]>()

async function ofSuspended(account: string): Promise<StoredRun[]> {
  const theirs = await agentsOf(account, 'none')
  const [asked, answered] = await Promise.all([
    running({ account }),
    running({ agent_id: { $in: theirs.map(({ _id }) => _id) } }),
  ])
  // What was paid for without an account is answered whatever becomes of the agent.
  return [...asked, ...answered.filter((run) => run.account !== run.place && run.account !== account)]
}

/** None where the block was lifted. */
async function ofBlocked(one: string, other: string): Promise<StoredRun[]> {
  if (!(await areBlocked(one, other))) return []
  const open = await running({ account: { $in: [one, other] } })
  const agents = await Agents.find({ _id: { $in: open.map(({ agent_id }) => agent_id) } }).lean<StoredAgent[]>()
  const owners = new Map(agents.map(({ _id, owner_address }) => [_id, owner_address]))
  return open.filter(({ account, agent_id }) => owners.get(agent_id) === (account === one ? other : one))
}
