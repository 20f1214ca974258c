import type { StoredAgent } from '#server/domains/agents/agent-state/model'
import { beginAnswer } from '#server/domains/agents/runs/answer'
import { forgetRuns } from '#server/domains/agents/runs/forget'
import { Runs, type StoredRun } from '#server/domains/agents/runs/model'
import { messageIn } from '#server/domains/rooms/room-state/facts'
import { Questions, type StoredQuestion } from '#server/domains/rooms/room-state/model'
import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/every'
import { mayWrite, nothingToSay, saidHere, sayAnswer } from './answers.ts'
import { allBegun, answersTo, mentionOf } from './follow.ts'
import { agentsIn } from './memberships.ts'
import { asksIn } from './writing.ts'

const lookMilliseconds = 1_000
const atOnce = 100
/** The node that took a message begins the answers at once; another one does so where that has not happened for so long. */
const lateMilliseconds = 4_000
/** What was asked so long ago is not answered any more. */
const staleMilliseconds = 600_000

/** Begins the answers to messages whose node died before it had begun them. */
export function beginWhatWasLeft(node: Node): () => void {
  async function look(): Promise<void> {
    const now = new Date(node.now())
    const left = { due_at: { $exists: true, $lt: new Date(node.now() - lateMilliseconds) } }
    const found = await Questions.find(left).sort({ due_at: 1 }).limit(atOnce).lean<StoredQuestion[]>()
    for (const { _id } of found) {
      const taken = await Questions.findOneAndUpdate({ _id, ...left }, { $set: { due_at: now } }).lean<StoredQuestion>()
      if (taken) begin(taken)
    }
  }

  function begin(question: StoredQuestion): void {
    beginLate(node, question).catch((error: unknown) => node.logger.warn({ error }, 'a mention was not answered'))
  }
  return every(node, lookMilliseconds, look, 'mentions of lost nodes were not looked for')
}

async function beginLate(node: Node, { _id, room, at }: StoredQuestion): Promise<void> {
  const isStale = node.now() - at.getTime() > staleMilliseconds
  const message = isStale ? null : await node.log.ask(room, (view) => messageIn(view, _id))
  if (!message || message.body.deleted) return allBegun(_id, room, at)
  await answersTo(node, mentionOf(room, message))
}

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
  await forgetRuns([run._id])
  await sayAnswer(node, agent, again)
}

const isStillAsked = (node: Node, key: string, messageId: string): Promise<boolean> =>
  node.log.ask(key, (view) => messageIn(view, messageId)?.body.deleted === null)

const begunAgain = (node: Node, agent: StoredAgent, run: StoredRun, attempt: number): Promise<StoredRun> => {
  const { account, place, message } = run
  const clientRunId = `${asksIn(run).messageId}:${agent._id}:${attempt}`
  return beginAnswer(node, agent, { agent: agent._id, account, place, message, clientRunId, isToSay: true }, true)
}
