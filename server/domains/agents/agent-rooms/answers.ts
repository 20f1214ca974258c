import { setTimeout } from 'node:timers/promises'
import type { StoredAgent } from '#server/domains/agents/agent-state/model'
import { beginAnswer } from '#server/domains/agents/runs/answer'
import { inRoom } from '#server/domains/agents/runs/history'
import { Runs, type StoredRun } from '#server/domains/agents/runs/model'
import { capabilitiesNow } from '#server/domains/rooms/messages/send'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import { messages } from '#shared/api/messages'
import { AppError } from '#shared/errors'
import { withEllipsis } from '#shared/kit/cut'
import { longestMessage } from '#shared/kit/lengths'
import { accountOfAgent, withPlainNames } from '#shared/kit/room-agents'
import { roomOfKey } from '#shared/kit/room-key'
import { asksIn, passes, tellAsWritten } from './writing.ts'

export interface Mention {
  key: string
  messageId: string
  sender: string
  text: string
  /** The agents that it mentions. */
  ids: readonly string[]
  /** When it was sent. */
  at: Date
}

export interface Said {
  agent: StoredAgent
  /** As the room has it; empty where it kept silent. */
  text: string
  messageId: string | null
}

const longestWaitSeconds = 60
const apology = 'I could not answer this.'
const nothingLeft = 'I have answered all that I may today. Ask me again tomorrow.'

/** Where an answer is to be said. */
type Asked = Pick<StoredRun, '_id' | 'place' | 'client_run_id'>

/**
 * Begins the answer to a message that mentions an agent, once for each message and agent. What it returns says it: word by word, and then as
 * a message of the agent. Null where the agent may not write, and where the asker has as many questions open as they may.
 */
export async function beginMention(
  node: Node,
  agent: StoredAgent,
  mention: Mention,
): Promise<(() => Promise<Said | null>) | null> {
  const { key, messageId, sender, text } = mention
  if (!(await mayWrite(node, agent, key))) return null
  const asked = {
    agent: agent._id,
    account: sender,
    place: inRoom(key),
    message: withPlainNames(text),
    clientRunId: `${messageId}:${agent._id}`,
    isToSay: true,
  }
  const run = await beginAnswer(node, agent, asked).catch(codeOfRefusal)
  if (run === 'TOO_MANY_QUESTIONS') return null
  if (run !== 'DAILY_TOKENS_REACHED') return () => sayAnswer(node, agent, run)
  const { place, clientRunId } = asked
  const unbegun = { _id: clientRunId, place, client_run_id: clientRunId }
  return () => commit(node, agent, unbegun, nothingLeft)
}

function codeOfRefusal(error: unknown): 'DAILY_TOKENS_REACHED' | 'TOO_MANY_QUESTIONS' {
  const code = error instanceof AppError ? error.code : null
  if (code === 'DAILY_TOKENS_REACHED' || code === 'TOO_MANY_QUESTIONS') return code
  throw error
}

export const mayWrite = (node: Node, agent: StoredAgent, key: string): Promise<boolean> =>
  passes(node, agent, key, 'ok').catch(() => false)

/** The runs whose answers this node says in their rooms. */
export const saidHere = nodeState(() => new Set<string>())

/** Tells a room what an agent writes, and says it there when it is whole. Null where the run was lost: it is begun again. */
export async function sayAnswer(node: Node, agent: StoredAgent, run: StoredRun): Promise<Said | null> {
  saidHere(node).add(run._id)
  const written = tellAsWritten(node, agent, run)
  try {
    const ended = await written.end
    if (ended.isLost) return null
    const text = ended.text ?? (ended.isSpent ? nothingLeft : apology)
    const said = await commit(node, agent, run, text)
    await nothingToSay(run)
    return said
  } finally {
    written.close()
    saidHere(node).delete(run._id)
  }
}

export const nothingToSay = (run: StoredRun) => Runs.updateOne({ _id: run._id }, { $unset: { to_say: 1 } })

/** Sends the answer as a message of the agent. A text that the room refuses becomes an apology; what keeps the agent silent, silence. */
async function commit(node: Node, agent: StoredAgent, run: Asked, answer: string): Promise<Said> {
  const { key } = asksIn(run)
  const { max_length } = await capabilitiesNow(node, key, accountOfAgent(agent._id))
  for (const [text, cid] of [
    [withEllipsis(answer, max_length || longestMessage), run._id],
    [apology, `${run._id}:apology`],
  ] as const) {
    const messageId = await sent(node, agent, run, text, cid)
    if (messageId !== null) return { agent, text, messageId }
  }
  return { agent, text: '', messageId: null }
}

async function sent(node: Node, agent: StoredAgent, run: Asked, text: string, client_msg_id: string) {
  const { key, messageId: reply_to } = asksIn(run)
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const message = { room: roomOfKey(key), text, reply_to, client_msg_id }
      return (await node.callAs(accountOfAgent(agent._id), messages.send, message)).message.id
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      if (error.code !== 'SLOW_MODE') return null
      await setTimeout(Math.min(error.retryAfter ?? 1, longestWaitSeconds) * 1_000)
    }
  }
  return null
}
