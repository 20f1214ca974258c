import { z } from 'zod'
import { audiences, type Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { definePeerMessage } from '#server/kernel/peer-message'
import { runBegun } from '#shared/api/agents/agent-runs'
import { ownChatPlace, unnamedSession } from './history.ts'
import { Runs, type StoredRun } from './model.ts'
import { isRunHere } from './relay.ts'

const lookMilliseconds = 1_000
const atOnce = 1_000

const begunMessage = definePeerMessage(
  'run-begun',
  runBegun.payload.extend({ account: z.string() }),
  (node, { account, ...payload }) => node.live.send(runBegun, audiences.account(account), payload),
)
type Begun = Pick<StoredRun, '_id' | 'agent_id' | 'account' | 'client_run_id' | 'session' | 'replaces'>

const noticeOf = ({ _id: run_id, agent_id, client_run_id, session = unnamedSession, replaces }: Begun) => ({
  run_id,
  agent_id,
  client_run_id,
  sessionId: session,
  ...(replaces !== undefined && { replaces }),
})

/** Runs of this node whose start was sent; ended ones are forgotten above a limit. */
const notifiedOn = nodeState(() => new Set<string>())
const manyNotified = 1_000

/** Notifies all connections of the asker of a run, once, from its node. Others find it by `run:active`. */
export function notifyBegun(node: Node, run: StoredRun): void {
  const { _id: run_id, account } = run
  const told = notifiedOn(node)
  if (run.node !== node.id || told.has(run_id)) return
  if (told.size >= manyNotified) for (const id of told) if (!isRunHere(node, id)) told.delete(id)
  told.add(run_id)
  begunMessage.publish(node, { ...noticeOf(run), account })
}

/** Forwards starts of other nodes; without peer messages they are read from the store. */
export function followBegun(node: Node): () => void {
  const silence = begunMessage.follow(node)
  let told = new Set<string>()
  const look = async () => {
    if (node.peers.isUp()) return
    const found = await Runs.find({ state: 'running', node: { $ne: node.id }, place: ownChatPlace })
      .select({ agent_id: 1, account: 1, client_run_id: 1, session: 1, replaces: 1 })
      .limit(atOnce)
      .lean<Begun[]>()
    for (const run of found)
      if (!told.has(run._id)) node.live.send(runBegun, audiences.account(run.account), noticeOf(run))
    told = new Set(found.map(({ _id }) => _id))
  }
  const timer = node.alone ? undefined : setInterval(() => void look().catch(() => undefined), lookMilliseconds).unref()
  return () => {
    silence()
    clearInterval(timer)
  }
}
