import type { z } from 'zod'
import type { StoredAgent } from '#server/domains/agents/agent-state/model'
import { framesAfter } from '#server/domains/agents/runs/follow'
import { inRoom } from '#server/domains/agents/runs/history'
import type { StoredRun } from '#server/domains/agents/runs/model'
import { audiences, type Node } from '#server/kernel/context'
import { agentWriting } from '#shared/api/agent-rooms'
import { messages } from '#shared/api/messages'
import { isTerminal } from '#shared/api/run-frames'
import { accountOfAgent } from '#shared/kit/room-agents'
import { roomKey, roomOfKey } from '#shared/kit/room-key'

const topic = 'agent-writing'
/** A row that is told nothing of for 15 s is taken away by those who show it. */
const aliveMilliseconds = 5_000

/** What a run came to; `text` is null where it was not answered in full. */
interface Ended {
  text: string | null
  /** Its node was lost, or goes. */
  isLost: boolean
  /** Nothing was left for it of what may be answered today. */
  isSpent: boolean
}

/** Tells the room what an agent writes, as far as the room's rules let it pass, until it is closed. */
export function tellAsWritten(node: Node, agent: StoredAgent, run: StoredRun): { end: Promise<Ended>; close(): void } {
  const { key, messageId: reply_to } = asksIn(run)
  const { _id: id, name, avatar_emoji } = agent
  const word = { room: roomOfKey(key), run_id: run._id, agent: { id, name, avatar_emoji }, reply_to }
  let before = 0
  let shown = 0
  const tell = (text: string, state: 'writing' | 'ended') =>
    tellRoom(node, { ...word, off: before + shown, text, state })
  const alive = setInterval(() => tell('', 'writing'), aliveMilliseconds)
  tell('', 'writing')

  async function follow(): Promise<Ended> {
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
        // What was told is no answer; behind a gap clients begin anew.
        before += shown + 1
        judged = 0
        shown = 0
        isPassing = true
      }
      if (!isPassing) continue
      // A word that is not whole yet could not be judged.
      const whole = endOfWords(text, Math.max(judged, frame.off))
      if (whole === null) continue
      const said = withoutSources(text.slice(0, whole))
      isPassing = await passes(node, agent, key, said)
      if (isPassing) tell(said.slice(shown), 'writing')
      judged = whole
      shown = said.length
    }
    return { text: null, isLost: true, isSpent: false }
  }

  return {
    end: follow(),
    close() {
      clearInterval(alive)
      tell('', 'ended')
    },
  }
}

/** Where the last word begins, behind the last white space after `from`; null where there is none. */
export function endOfWords(text: string, from: number): number | null {
  for (let end = text.length; end > from; end--) if (/\s/.test(text.charAt(end - 1))) return end
  return null
}

/** A room is shown no list of sources, so that the numbers of passages (`[1]`) would refer to nothing. */
const withoutSources = (text: string): string => text.replace(/(?<=\s)\[\d{1,2}\](?=[\s.,;:!?)]|$)/g, '')

function tellRoom(node: Node, payload: z.output<typeof agentWriting.payload>): void {
  tellHere(node, payload)
  node.peers.tell(topic, payload)
}

const tellHere = (node: Node, payload: z.output<typeof agentWriting.payload>) =>
  node.live.sendVolatile(agentWriting, audiences.room(roomKey(payload.room)), payload)

/** Passes on what agents write on other nodes; without words between them the message comes as one. */
export const listenToWriting = (node: Node): (() => void) =>
  node.peers.listen(topic, (word) => {
    const payload = agentWriting.payload.safeParse(word)
    if (payload.success) tellHere(node, payload.data)
  })

type Asked = Pick<StoredRun, 'place' | 'client_run_id'>

/** Of a run that was asked for in a room: the key of that, the message that asks, and how often the question was begun. */
export function asksIn({ place, client_run_id }: Asked): { key: string; messageId: string; attempt: number } {
  const [messageId = '', , attempt = '1'] = client_run_id.split(':')
  return { key: place.slice(inRoom('').length), messageId, attempt: Number(attempt) }
}

const onlyHasToWait = ['SLOW_MODE']

/** Would the room take this text from the agent, if it were sent now? That it would have to wait does not count. */
export async function passes(node: Node, agent: StoredAgent, key: string, text: string): Promise<boolean> {
  const { verdict } = await node.callAs(accountOfAgent(agent._id), messages.check, { room: roomOfKey(key), text })
  return verdict.ok || onlyHasToWait.includes(verdict.code ?? '')
}
