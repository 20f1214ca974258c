import type { StoredAgent } from '#server/domains/agent-state/model'
import { messageIn } from '#server/domains/room-state/facts'
import { beginAnswer } from '#server/domains/runs/answer'
import { Runs, type StoredRun } from '#server/domains/runs/model'
import type { Node } from '#server/kernel/context'
import { mayWrite, nothingToSay, saidHere, sayAnswer } from './answers.ts'
import { forget } from './forget.ts'
import { agentsIn } from './memberships.ts'
import { asksIn } from './place.ts'

const lookMilliseconds = 1_000
const atOnce = 100
/** A question that ends each node which answers it is given up. */
const attempts = 3

/** Says in their rooms the answers of nodes that are gone, and begins again those that were lost with them. */
export function sayWhatWasLeft(node: Node): () => void {
  let isLooking = false
  let isOver = false

  async function look(): Promise<void> {
    const others = node.alone ? [] : [...node.nodes.live()].filter((id) => id !== node.id)
    const left = await Runs.find({ to_say: { $exists: true, $nin: others }, state: { $ne: 'running' } })
      .limit(atOnce)
      .lean<StoredRun[]>()
    for (const run of left) {
      if (isOver || saidHere(node).has(run._id)) continue
      const { matchedCount } = await Runs.updateOne(
        { _id: run._id, to_say: { $exists: true, $nin: others } },
        { $set: { to_say: node.id } },
      )
      if (matchedCount === 0 || saidHere(node).has(run._id)) continue
      saidHere(node).add(run._id)
      sayLeft(node, run)
        .catch((error: unknown) => node.logger.warn({ error, run: run._id }, 'a mention was not answered'))
        .finally(() => saidHere(node).delete(run._id))
    }
  }

  const lookQuietly = async () => {
    if (isLooking) return
    isLooking = true
    await look().catch((error: unknown) => node.logger.warn({ error }, 'answers of lost nodes were not said'))
    isLooking = false
  }
  const timer = setInterval(lookQuietly, lookMilliseconds).unref()
  return () => {
    isOver = true
    clearInterval(timer)
  }
}

async function sayLeft(node: Node, run: StoredRun): Promise<void> {
  const { key, messageId, attempt } = asksIn(run)
  const agent = (await agentsIn(node, key)).find(({ _id }) => _id === run.agent_id)
  const isLost = run.error_code === 'RUN_LOST'
  if (!agent || !(await isStillAsked(node, key, messageId)) || !(await mayWrite(node, agent, key)))
    return void (await nothingToSay(run))
  if (!isLost || attempt >= attempts) return void (await sayAnswer(node, agent, run))
  const again = await begunAgain(node, agent, run, attempt + 1)
  // What was lost is no part of the conversation that is told to the model.
  await forget([run._id])
  await sayAnswer(node, agent, again)
}

const isStillAsked = (node: Node, key: string, messageId: string): Promise<boolean> =>
  node.log.ask(key, (view) => messageIn(view, messageId)?.body.deleted === null)

const begunAgain = (node: Node, agent: StoredAgent, run: StoredRun, attempt: number): Promise<StoredRun> => {
  const { account, place, message } = run
  const clientRunId = `${asksIn(run).messageId}:${agent._id}:${attempt}`
  return beginAnswer(node, agent, { agent: agent._id, account, place, message, clientRunId, isToSay: true }, true)
}
