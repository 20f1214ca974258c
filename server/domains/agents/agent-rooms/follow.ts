import { agentRefusalsOf } from '#server/domains/agents/agent-state/access'
import type { StoredAgent } from '#server/domains/agents/agent-state/model'
import { beginAnswer } from '#server/domains/agents/runs/answer'
import { forgetRuns } from '#server/domains/agents/runs/chat'
import { roomPlace } from '#server/domains/agents/runs/history'
import { Runs, type StoredRun } from '#server/domains/agents/runs/model'
import { isRowOf } from '#server/domains/rooms/events/define'
import type { MessageFact } from '#server/domains/rooms/events/message'
import { messageCreated, messageDeleted, messagesPurged } from '#server/domains/rooms/room-state/events/messages'
import { messageFactOf, messageIn } from '#server/domains/rooms/room-state/facts'
import { kindOf } from '#server/domains/rooms/room-state/kinds'
import { Questions, type StoredQuestion } from '#server/domains/rooms/room-state/model'
import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/work/every'
import { GLOBAL } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import { agentMentionsIn, idOfAgent, isAgent } from '#shared/kit/room-agents'
import {
  answersOn,
  beginMention,
  type Mention,
  markAnswerSent,
  mayAgentWrite,
  questionOfRun,
  type RoomAnswer,
  sendRoomAnswer,
} from './answers.ts'
import { agentsIn } from './memberships.ts'

const minuteSeconds = 60
const mentionsOfOne = 10
const mentionsOfAgent = 60
const agentsAMessage = 3

/** Answers mentions of agents in rooms, at the node that appended the message. */
export function answerMentions(node: Node): () => void {
  let isOver = false
  node.log.onRows((key, rows, isOurs) => {
    if (isOver || !isOurs || key === GLOBAL || kindOf(key).isSealed) return
    for (const row of rows) {
      if (isRowOf(row, messageDeleted)) quietly(node, forgetQuestion(key, String(row.body.id)))
      if (isRowOf(row, messagesPurged)) quietly(node, forgetPurged(node, key, row.target ?? ''))
      if (!isRowOf(row, messageCreated)) continue
      const mention = mentionOf(key, messageFactOf(row))
      if (mention.ids.length === 0) continue
      node.reached('mention-heard')
      answerMention(node, mention).catch((error: unknown) => node.logger.warn({ error }, 'a mention was not answered'))
    }
  })
  return () => {
    isOver = true
  }
}

function quietly(node: Node, forgetting: Promise<void>): void {
  forgetting.catch((error: unknown) => node.logger.warn({ error }, 'a deleted question to an agent was not forgotten'))
}

/** The agents that a text mentions, in their order. */
export const agentsMentionedIn = (text: string): string[] => [...new Set(agentMentionsIn(text).map(({ id }) => id))]

function mentionOf(key: string, { id: messageId, sender, at, body: { text, mentions } }: MessageFact): Mention {
  const ids = [...agentsMentionedIn(text), ...mentions.flatMap(({ kind, id }) => (kind === 'agent' ? [id] : []))]
  return { key, messageId, sender, text, ids, at: new Date(at) }
}

/** The answers of mentioned agents that are members. Agents never answer agents, and no question is begun twice. */
export async function answerMention(node: Node, mention: Mention): Promise<RoomAnswer[]> {
  if (mention.ids.length === 0 || isAgent(mention.sender)) return []
  const members = new Map((await agentsIn(node, mention.key)).map((agent) => [agent._id, agent]))
  const named = [...new Set(mention.ids)].flatMap((id) => members.get(id) ?? [])
  const refused = await agentRefusalsOf(mention.sender, named)
  const here = named.filter((_, at) => refused[at] === null).slice(0, agentsAMessage)
  const begun = await Promise.all(
    here.map(async (agent) =>
      (await isWithinLimits(node, agent._id, mention)) ? beginMention(node, agent, mention) : null,
    ),
  )
  await markBegun(mention.messageId, mention.key, mention.at)
  const answers = await Promise.all(begun.map((say) => say?.() ?? null))
  return answers.filter((answer) => answer !== null)
}

const isWithinLimits = async (node: Node, agent: string, { sender }: Mention): Promise<boolean> =>
  (await node.limits.throttle('mentions-by', sender, mentionsOfOne, minuteSeconds)) &&
  (await node.limits.throttle('mentions-of', agent, mentionsOfAgent, minuteSeconds))

/** Marks all answers to a message as begun: from then on the runs show what remains. */
async function markBegun(_id: string, room: string, at: Date): Promise<void> {
  const note = (upsert: boolean) =>
    Questions.updateOne({ _id }, { $unset: { due_at: 1 }, $setOnInsert: { room, at } }, { upsert })
  // The record of the message may be written at the same time.
  await note(true).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
    return note(false)
  })
}

const forgottenAtOnce = 200

/** Deletes the text of a deleted question, and of its answers. */
async function forgetQuestion(key: string, messageId: string): Promise<void> {
  const asked = { place: roomPlace(key), client_run_id: { $gte: `${messageId}:`, $lt: `${messageId};` } }
  const runs = await Runs.find(asked).select({ _id: 1 }).lean<{ _id: string }[]>()
  await forgetRuns(runs.map(({ _id }) => _id))
}

/** The same for purged questions of an account, or all questions to a purged agent. */
async function forgetPurged(node: Node, key: string, target: string): Promise<void> {
  const agent = idOfAgent(target)
  const ofTarget = agent === null ? { account: target } : { agent_id: agent }
  for (let after = ''; ; ) {
    const runs = await Runs.find({ place: roomPlace(key), ...ofTarget, _id: { $gt: after } })
      .sort({ _id: 1 })
      .limit(forgottenAtOnce)
      .select({ client_run_id: 1 })
      .lean<{ _id: string; client_run_id: string }[]>()
    const last = runs.at(-1)
    if (!last) return
    const isTaken = await node.log.ask(key, (view) =>
      runs.map(({ client_run_id }) => {
        const message = messageIn(view, client_run_id.split(':')[0] ?? '')
        return !message || message.body.deleted !== null
      }),
    )
    await forgetRuns(runs.flatMap(({ _id }, at) => (agent !== null || isTaken[at] ? [_id] : [])))
    after = last._id
  }
}

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
