import type { StoredAgent } from '#server/domains/agents/agent-state/model'
import { beginAnswer } from '#server/domains/agents/runs/answer'
import { forgetRuns } from '#server/domains/agents/runs/forget'
import { Runs, type StoredRun } from '#server/domains/agents/runs/model'
import { messageIn } from '#server/domains/rooms/room-state/facts'
import { Questions, type StoredQuestion } from '#server/domains/rooms/room-state/model'
import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/work/every'
import { answersOn, markAnswerSent, mayAgentWrite, sendRoomAnswer } from './answers.ts'
import { answerMention, markBegun, mentionOf } from './follow.ts'
import { agentsIn } from './memberships.ts'
import { questionOfRun } from './writing.ts'

const lookMilliseconds = 10_000
const atOnce = 100
/** The appending node begins answers at once; another node takes over after so long. */
const lateMilliseconds = 4_000
/** Older questions are not answered. */
const staleMilliseconds = 600_000

/** Begins answers whose node died before it began them. */
export function beginLostQuestions(node: Node): () => void {
  async function look(): Promise<boolean> {
    const now = new Date(node.now())
    const left = { due_at: { $exists: true, $lt: new Date(node.now() - lateMilliseconds) } }
    const found = await Questions.find(left).sort({ due_at: 1 }).limit(atOnce).lean<StoredQuestion[]>()
    for (const { _id } of found) {
      const taken = await Questions.findOneAndUpdate({ _id, ...left }, { $set: { due_at: now } }).lean<StoredQuestion>()
      if (taken)
        beginLate(node, taken).catch((error: unknown) => node.logger.warn({ error }, 'a mention was not answered'))
    }
    return (await Questions.exists({ due_at: { $exists: true } })) !== null
  }
  return every(node, lookMilliseconds, look, 'mentions of lost nodes were not looked for', node.nodes.onChange)
}

async function beginLate(node: Node, { _id, room, at }: StoredQuestion): Promise<void> {
  const isStale = node.now() - at.getTime() > staleMilliseconds
  const message = isStale ? null : await node.log.ask(room, (view) => messageIn(view, _id))
  if (!message || message.body.deleted) return markBegun(_id, room, at)
  await answerMention(node, mentionOf(room, message))
}

/** A question that kills every node is given up. */
const attempts = 3

/** Sends answers of dead nodes, and restarts runs that were lost with them. */
export function sendLostAnswers(node: Node): () => void {
  let isOver = false

  async function look(): Promise<boolean> {
    const others = node.alone ? [] : [...node.nodes.live()].filter((id) => id !== node.id)
    const unsent = { to_say: { $exists: true, $nin: others } }
    const left = await Runs.find({ ...unsent, state: { $ne: 'running' } })
      .limit(atOnce)
      .lean<StoredRun[]>()
    for (const run of left) {
      if (isOver || answersOn(node).has(run._id)) continue
      const { matchedCount } = await Runs.updateOne({ _id: run._id, ...unsent }, { $set: { to_say: node.id } })
      if (matchedCount === 0 || answersOn(node).has(run._id)) continue
      answersOn(node).add(run._id)
      sendLostAnswer(node, run)
        .catch((error: unknown) => node.logger.warn({ error, run: run._id }, 'a mention was not answered'))
        .finally(() => answersOn(node).delete(run._id))
    }
    return (await Runs.exists(unsent)) !== null
  }

  const stop = every(node, lookMilliseconds, look, 'answers of lost nodes were not said', node.nodes.onChange)
  return () => {
    isOver = true
    stop()
  }
}

async function sendLostAnswer(node: Node, run: StoredRun): Promise<void> {
  const { key, messageId, attempt } = questionOfRun(run)
  const agent = (await agentsIn(node, key)).find(({ _id }) => _id === run.agent_id)
  const isLost = run.error_code === 'RUN_LOST'
  if (!agent || !(await isStillAsked(node, key, messageId)) || !(await mayAgentWrite(node, agent, key)))
    return void (await markAnswerSent(run))
  if (!isLost || attempt >= attempts) return void (await sendRoomAnswer(node, agent, run))
  const again = await beginAgain(node, agent, run, attempt + 1)
  // A lost run leaves the conversation of the model.
  await forgetRuns([run._id])
  await sendRoomAnswer(node, agent, again)
}

const isStillAsked = (node: Node, key: string, messageId: string): Promise<boolean> =>
  node.log.ask(key, (view) => messageIn(view, messageId)?.body.deleted === null)

const beginAgain = (node: Node, agent: StoredAgent, run: StoredRun, attempt: number): Promise<StoredRun> => {
  const { account, place, message } = run
  const clientRunId = `${questionOfRun(run).messageId}:${agent._id}:${attempt}`
  return beginAnswer(node, agent, { agent: agent._id, account, place, message, clientRunId, isToSay: true }, true)
}
