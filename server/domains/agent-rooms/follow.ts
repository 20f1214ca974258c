import { refusalsOf } from '#server/domains/agent-state/access'
import { isOf } from '#server/domains/events/define'
import type { MessageFact } from '#server/domains/events/message'
import { messageCreated, messageDeleted, messagesPurged } from '#server/domains/room-state/events/messages'
import { messageFactOf } from '#server/domains/room-state/facts'
import { kindOf } from '#server/domains/room-state/kinds'
import type { Node } from '#server/kernel/context'
import { GLOBAL } from '#server/log/types'
import { agentMentionsIn, isAgent } from '#shared/kit/room-agents'
import { beginMention, type Mention, type Said } from './answers.ts'
import { forgetPurged, forgetQuestion } from './forget.ts'
import { agentsIn } from './memberships.ts'
import { allBegun } from './questions.ts'

const minuteSeconds = 60
const mentionsOfOne = 10
const mentionsOfAgent = 60
const agentsAMessage = 3

/** Lets the agents of a room answer messages that mention them; each message is answered by the node that took it. */
export function answerMentions(node: Node): () => void {
  let isOver = false
  node.log.onRows((key, rows, isOurs) => {
    if (isOver || !isOurs || key === GLOBAL || kindOf(key).isSealed) return
    for (const row of rows) {
      if (isOf(row, messageDeleted)) quietly(node, forgetQuestion(key, String(row.body.id)))
      if (isOf(row, messagesPurged)) quietly(node, forgetPurged(node, key, row.target ?? ''))
      if (!isOf(row, messageCreated)) continue
      const mention = mentionOf(key, messageFactOf(row))
      if (mention.ids.length === 0) continue
      node.reached('mention-heard')
      answersTo(node, mention).catch((error: unknown) => node.logger.warn({ error }, 'a mention was not answered'))
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
export const mentionedIn = (text: string): string[] => [...new Set(agentMentionsIn(text).map(({ id }) => id))]

export function mentionOf(key: string, { id: messageId, sender, at, body: { text, mentions } }: MessageFact): Mention {
  const ids = [...mentionedIn(text), ...mentions.flatMap(({ kind, id }) => (kind === 'agent' ? [id] : []))]
  return { key, messageId, sender, text, ids, at: new Date(at) }
}

/**
 * What the mentioned agents of the room answer; those who are not in it do not. Agents never answer agents. A question that was begun
 * before is not begun again.
 */
export async function answersTo(node: Node, mention: Mention): Promise<Said[]> {
  if (mention.ids.length === 0 || isAgent(mention.sender)) return []
  const members = new Map((await agentsIn(node, mention.key)).map((agent) => [agent._id, agent]))
  const named = [...new Set(mention.ids)].flatMap((id) => members.get(id) ?? [])
  const refused = await refusalsOf(mention.sender, named)
  const here = named.filter((_, at) => refused[at] === null).slice(0, agentsAMessage)
  const begun = await Promise.all(
    here.map(async (agent) =>
      (await isWithinLimits(node, agent._id, mention)) ? beginMention(node, agent, mention) : null,
    ),
  )
  await allBegun(mention.messageId, mention.key, mention.at)
  const answers = await Promise.all(begun.map((say) => say?.() ?? null))
  return answers.filter((answer) => answer !== null)
}

const isWithinLimits = async (node: Node, agent: string, { sender }: Mention): Promise<boolean> =>
  (await node.limits.throttle('mentions-by', sender, mentionsOfOne, minuteSeconds)) &&
  (await node.limits.throttle('mentions-of', agent, mentionsOfAgent, minuteSeconds))
