import type { StoredAgent } from '#server/domains/agents/agent-state/model'
import { framesAfter } from '#server/domains/agents/runs/follow'
import { roomPlace } from '#server/domains/agents/runs/history'
import type { StoredRun } from '#server/domains/agents/runs/model'
import { audiences, type Node } from '#server/kernel/context'
import { definePeerMessage } from '#server/kernel/peer-message'
import { agentWriting } from '#shared/api/agents/agent-rooms'
import { isTerminal } from '#shared/api/agents/run-frames'
import { messages } from '#shared/api/rooms/messages'
import { accountOfAgent } from '#shared/kit/room-agents'
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
export function sendAsWritten(
  node: Node,
  agent: StoredAgent,
  run: StoredRun,
): { end: Promise<WrittenEnd>; close(): void } {
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

type RoomRun = Pick<StoredRun, 'place' | 'client_run_id'>

/** The room, message and attempt of a run in a room. */
export function questionOfRun({ place, client_run_id }: RoomRun): { key: string; messageId: string; attempt: number } {
  const [messageId = '', , attempt = '1'] = client_run_id.split(':')
  return { key: place.slice(roomPlace('').length), messageId, attempt: Number(attempt) }
}

const onlyHasToWait = ['SLOW_MODE']

/** Whether the room would accept this text from the agent, apart from slow mode. */
export async function passesRoomRules(node: Node, agent: StoredAgent, key: string, text: string): Promise<boolean> {
  const { verdict } = await node.callAs(accountOfAgent(agent._id), messages.check, { room: roomOfKey(key), text })
  return verdict.ok || onlyHasToWait.includes(verdict.code ?? '')
}
