import { messageIn } from '#server/domains/rooms/room-state/facts'
import type { Node } from '#server/kernel/context'
import type { Turn } from '#server/ports/model/port'
import type { ChatMessage } from '#shared/api/agent-runs'
import { AppError } from '#shared/errors'
import { cutToLength } from '#shared/kit/cut'
import { Runs, type StoredRun } from './model.ts'
import { endedRun } from './settle.ts'

/** In UTF-16 code units; as long as the longest answer. */
const longestHistory = 32_000

/** The place of what an account asks by itself. */
export const ownChatPlace = 'chat'

/** The conversation a question belongs to: that of the asker with the agent, or that of a whole room with it. */
export const conversationOf = ({ agent_id, account, place }: StoredRun) =>
  isRoomPlace(place) ? { agent_id, place } : { agent_id, account, place }

/** A session is named by its asker, or is that of its first question. */
export const sessionOfRun = ({ session, _id }: StoredRun): string => session ?? _id

/** Of the turns before a question: those of the session it names, else all. */
const inSession = ({ session }: StoredRun) => (session ? { $or: [{ session }, { _id: session }] } : {})

/** The place of what is asked in a room, by the key of that. */
export const roomPlace = (key: string) => `room:${key}`
export const isRoomPlace = (place: string) => place.startsWith(roomPlace(''))

/** The turns of a conversation before a question, oldest first; answers that broke off are among them. */
export async function turnsBefore(node: Node, run: StoredRun, limit: number): Promise<Turn[]> {
  const before = await Runs.find({ ...conversationOf(run), ...inSession(run), _id: { $lt: run._id } })
    .sort({ _id: -1 })
    .limit(limit)
    .lean<StoredRun[]>()
  const turns = (await withoutDeleted(node, run.place, before))
    .reverse()
    .flatMap(({ message, content }): Turn[] => [
      { role: 'user', content: message },
      ...(content === '' ? [] : [{ role: 'assistant' as const, content }]),
    ])
    .slice(-limit)
  return newestWithin(turns)
}

/** The newest turns that the model is told again at a bounded cost; of the oldest of them, its beginning. */
function newestWithin(turns: readonly Turn[]): Turn[] {
  let left = longestHistory
  const kept: Turn[] = []
  for (const turn of turns.toReversed()) {
    const content = cutToLength(turn.content, left)
    if (content === '') break
    kept.unshift({ ...turn, content })
    left -= content.length
  }
  return kept
}

/** Without the runs of a room whose question is no message there any more: what was deleted is told to nobody again. */
async function withoutDeleted(node: Node, place: string, runs: StoredRun[]): Promise<StoredRun[]> {
  if (!isRoomPlace(place) || runs.length === 0) return runs
  const ids = runs.map(({ client_run_id }) => client_run_id.split(':')[0] ?? '')
  const messages = await node.log.ask(place.slice(roomPlace('').length), (view) => ids.map((id) => messageIn(view, id)))
  return runs.filter((_, at) => messages[at] && !messages[at].body.deleted)
}

/** The newest messages of a conversation, oldest first; or those before one of them. */
export async function messagesOf(
  node: Node,
  conversation: Pick<StoredRun, 'agent_id' | 'account' | 'place'>,
  limit: number,
  before?: string,
): Promise<ChatMessage[]> {
  const earlier = before === undefined ? null : await runOfMessage(conversation, before)
  const runs = await Runs.find({ ...conversation, ...(earlier ? { _id: { $lte: earlier._id } } : {}) })
    .sort({ _id: -1 })
    .limit(limit)
    .lean<StoredRun[]>()
  if (before !== undefined && earlier === null && runs.length > 0)
    throw new AppError('INVALID_PARAMETER', { message: 'before: no message of this conversation' })
  const ended = await Promise.all(runs.reverse().map((run) => endedRun(node, run)))
  // One that was deleted meanwhile is in no conversation any more.
  const messages = ended.flatMap((run) => (run?.place === conversation.place ? messagesOfRun(run) : []))
  const end = messages.findIndex(({ id }) => id === before)
  return (end === -1 ? messages : messages.slice(0, end)).slice(-limit)
}

const runOfMessage = (conversation: Pick<StoredRun, 'agent_id' | 'account' | 'place'>, id: string) =>
  Runs.findOne({ ...conversation, $or: [{ user_message_id: id }, { message_id: id }] }).lean<StoredRun>()

const messagesOfRun = (run: StoredRun): ChatMessage[] => [
  {
    id: run.user_message_id,
    role: 'user',
    content: run.message,
    created_at: run.created_at.toISOString(),
    run_id: run._id,
    state: 'done',
    error_code: null,
    citations: [],
    sources: [],
    tools: [],
    scheduling: null,
  },
  ...(run.state === 'running'
    ? []
    : [
        {
          id: run.message_id,
          role: 'assistant' as const,
          content: run.content,
          created_at: (run.ended_at ?? run.created_at).toISOString(),
          run_id: run._id,
          state: run.state,
          error_code: run.error_code,
          citations: run.citations,
          sources: run.sources ?? [],
          tools: run.tools ?? [],
          scheduling: run.scheduling,
          ...(run.cut_short ? { cut_short: run.cut_short } : {}),
          ...(typeof run.milliseconds === 'number' ? { ms: run.milliseconds } : {}),
        },
      ]),
]
