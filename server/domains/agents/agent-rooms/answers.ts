import { setTimeout } from 'node:timers/promises'
import type { StoredAgent } from '#server/domains/agents/agent-state/model'
import { beginAnswer } from '#server/domains/agents/runs/answer'
import { roomPlace } from '#server/domains/agents/runs/history'
import { Runs, type StoredRun } from '#server/domains/agents/runs/model'
import { framesAfter } from '#server/domains/agents/runs/relay'
import { capabilitiesNow } from '#server/domains/rooms/messages/send'
import { audiences, type Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { definePeerMessage } from '#server/kernel/peer-message'
import { agentWriting } from '#shared/api/agents/agent-rooms'
import { isTerminal } from '#shared/api/agents/run-frames'
import { messages } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { withEllipsis } from '#shared/kit/cut'
import { longestMessage } from '#shared/kit/lengths'
import { accountOfAgent, withPlainNames } from '#shared/kit/room-agents'
import { roomKey, roomOfKey } from '#shared/kit/room-key'

/** Clients remove a row without news after 15 seconds. */
const aliveMilliseconds = 5_000

/** The end of a run; `text` is null without a whole answer. */
interface WrittenEnd {
  text: string | null
  /** Its node was lost or stops. */
  isLost: boolean
  /** The tokens of the day are used up. */
  isSpent: boolean
}

/** Sends the room what an agent writes, as far as the room's rules allow, until it is closed. */
function sendAsWritten(node: Node, agent: StoredAgent, run: StoredRun): { end: Promise<WrittenEnd>; close(): void } {
  const { key, messageId: reply_to } = questionOfRun(run)
  const { _id: id, name, avatar_emoji } = agent
  const base = { room: roomOfKey(key), run_id: run._id, agent: { id, name, avatar_emoji }, reply_to }
  let before = 0
  let shown = 0
  const send = (text: string, state: 'writing' | 'ended') =>
    writingMessage.publish(node, { ...base, off: before + shown, text, state })
  const alive = setInterval(() => send('', 'writing'), aliveMilliseconds)
  send('', 'writing')

  async function follow(): Promise<WrittenEnd> {
    let text = ''
    let judged = 0
    let isPassing = true
    for await (const frame of framesAfter(node, run, -1, new AbortController().signal)) {
      if (frame.t === 'chunk') text = text.slice(0, frame.off) + frame.text
      if (frame.t === 'done') return { text: withoutSources(text), isLost: false, isSpent: false }
      if (isTerminal(frame)) {
        const code = frame.t === 'error' ? frame.code : null
        return { text: null, isLost: code === 'RUN_LOST', isSpent: code === 'DAILY_TOKENS_REACHED' }
      }
      if (frame.t !== 'chunk') continue
      if (frame.off < judged) {
        // The sent text is no answer; clients start again after a gap.
        before += shown + 1
        judged = 0
        shown = 0
        isPassing = true
      }
      if (!isPassing) continue
      // An unfinished word cannot be judged.
      const whole = endOfWords(text, Math.max(judged, frame.off))
      if (whole === null) continue
      const passing = withoutSources(text.slice(0, whole))
      isPassing = await passesRoomRules(node, agent, key, passing)
      if (isPassing) send(passing.slice(shown), 'writing')
      judged = whole
      shown = passing.length
    }
    return { text: null, isLost: true, isSpent: false }
  }

  return {
    end: follow(),
    close() {
      clearInterval(alive)
      send('', 'ended')
    },
  }
}

/** The start of the last word after `from`; null without white space. */
export function endOfWords(text: string, from: number): number | null {
  for (let end = text.length; end > from; end--) if (/\s/.test(text.charAt(end - 1))) return end
  return null
}

/** Rooms show no sources, so numbers of passages (`[1]`) are removed. */
const withoutSources = (text: string): string => text.replace(/(?<=\s)\[\d{1,2}\](?=[\s.,;:!?)]|$)/g, '')

/** The writing of an agent; without peer messages the answer arrives whole. */
export const writingMessage = definePeerMessage('agent-writing', agentWriting.payload, (node, payload) =>
  node.live.sendVolatile(agentWriting, audiences.room(roomKey(payload.room)), payload),
)

type WrittenRun = Pick<StoredRun, 'place' | 'client_run_id'>

/** The room, message and attempt of a run in a room. */
export function questionOfRun({ place, client_run_id }: WrittenRun): {
  key: string
  messageId: string
  attempt: number
} {
  const [messageId = '', , attempt = '1'] = client_run_id.split(':')
  return { key: place.slice(roomPlace('').length), messageId, attempt: Number(attempt) }
}

const onlyHasToWait = ['SLOW_MODE']

/** Whether the room would accept this text from the agent, apart from slow mode. */
async function passesRoomRules(node: Node, agent: StoredAgent, key: string, text: string): Promise<boolean> {
  const { verdict } = await node.callAs(accountOfAgent(agent._id), messages.check, { room: roomOfKey(key), text })
  return verdict.ok || onlyHasToWait.includes(verdict.code ?? '')
}

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

export interface RoomAnswer {
  agent: StoredAgent
  /** The sent text; empty if the agent stayed silent. */
  text: string
  messageId: string | null
}

const longestWaitSeconds = 60
const apology = 'I could not answer this.'
const limitText = 'I have answered all that I may today. Ask me again tomorrow.'

/** The run of an answer in a room. */
type RoomRun = Pick<StoredRun, '_id' | 'place' | 'client_run_id'>

/** Begins an agent's answer to a mention, once per message. Returns a function that sends it; null if the agent or the asker may not. */
export async function beginMention(
  node: Node,
  agent: StoredAgent,
  mention: Mention,
): Promise<(() => Promise<RoomAnswer | null>) | null> {
  const { key, messageId, sender, text } = mention
  if (!(await mayAgentWrite(node, agent, key))) return null
  const asked = {
    agent: agent._id,
    account: sender,
    place: roomPlace(key),
    message: withPlainNames(text),
    clientRunId: `${messageId}:${agent._id}`,
    isToSay: true,
  }
  const run = await beginAnswer(node, agent, asked).catch(codeOfRefusal)
  if (run === 'TOO_MANY_QUESTIONS') return null
  if (run !== 'DAILY_TOKENS_REACHED') return () => sendRoomAnswer(node, agent, run)
  const { place, clientRunId } = asked
  const unbegun = { _id: clientRunId, place, client_run_id: clientRunId }
  return () => sendAnswer(node, agent, unbegun, limitText)
}

function codeOfRefusal(error: unknown): 'DAILY_TOKENS_REACHED' | 'TOO_MANY_QUESTIONS' {
  const code = error instanceof AppError ? error.code : null
  if (code === 'DAILY_TOKENS_REACHED' || code === 'TOO_MANY_QUESTIONS') return code
  throw error
}

export const mayAgentWrite = (node: Node, agent: StoredAgent, key: string): Promise<boolean> =>
  passesRoomRules(node, agent, key, 'ok').catch(() => false)

/** The runs whose answers this node sends. */
export const answersOn = nodeState(() => new Set<string>())

/** Shows an answer as it is written, then sends it as a message. Null if the run was lost. */
export async function sendRoomAnswer(node: Node, agent: StoredAgent, run: StoredRun): Promise<RoomAnswer | null> {
  answersOn(node).add(run._id)
  const written = sendAsWritten(node, agent, run)
  try {
    const ended = await written.end
    if (ended.isLost) return null
    const text = ended.text ?? (ended.isSpent ? limitText : apology)
    const sent = await sendAnswer(node, agent, run, text)
    await markAnswerSent(run)
    return sent
  } finally {
    written.close()
    answersOn(node).delete(run._id)
  }
}

export const markAnswerSent = (run: StoredRun) => Runs.updateOne({ _id: run._id }, { $unset: { to_say: 1 } })

/** Sends an answer as a message. A refused text becomes an apology; if that is refused too, the agent stays silent. */
async function sendAnswer(node: Node, agent: StoredAgent, run: RoomRun, answer: string): Promise<RoomAnswer> {
  const { key } = questionOfRun(run)
  const { max_length } = await capabilitiesNow(node, key, accountOfAgent(agent._id))
  for (const [text, cid] of [
    [withEllipsis(answer, max_length || longestMessage), run._id],
    [apology, `${run._id}:apology`],
  ] as const) {
    const messageId = await trySending(node, agent, run, text, cid)
    if (messageId !== null) return { agent, text, messageId }
  }
  return { agent, text: '', messageId: null }
}

async function trySending(node: Node, agent: StoredAgent, run: RoomRun, text: string, client_msg_id: string) {
  const { key, messageId: reply_to } = questionOfRun(run)
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
