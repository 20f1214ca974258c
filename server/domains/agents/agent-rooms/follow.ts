import { agentRefusalsOf } from '#server/domains/agents/agent-state/access'
import { forgetRuns } from '#server/domains/agents/runs/forget'
import { roomPlace } from '#server/domains/agents/runs/history'
import { Runs } from '#server/domains/agents/runs/model'
import { isRowOf } from '#server/domains/rooms/events/define'
import type { MessageFact } from '#server/domains/rooms/events/message'
import { messageCreated, messageDeleted, messagesPurged } from '#server/domains/rooms/room-state/events/messages'
import { messageFactOf, messageIn } from '#server/domains/rooms/room-state/facts'
import { kindOf } from '#server/domains/rooms/room-state/kinds'
import { Questions } from '#server/domains/rooms/room-state/model'
import type { Node } from '#server/kernel/context'
import { GLOBAL } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import { agentMentionsIn, idOfAgent, isAgent } from '#shared/kit/room-agents'
import { beginMention, type Mention, type RoomAnswer } from './answers.ts'
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

export function mentionOf(key: string, { id: messageId, sender, at, body: { text, mentions } }: MessageFact): Mention {
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
export async function markBegun(_id: string, room: string, at: Date): Promise<void> {
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
