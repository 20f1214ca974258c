import { messageIn } from '#server/domains/rooms/room-state/facts'
import type { Node } from '#server/kernel/context'
import type { Turn } from '#server/ports/model/port'
import type { ChatMessage } from '#shared/api/agents/agent-runs'
import { AppError } from '#shared/errors'
import { cutToLength } from '#shared/kit/cut'
import { Runs, type StoredRun } from './model.ts'
import { endedRun } from './settle.ts'

/** In UTF-16 code units, like the longest answer. */
const longestHistory = 32_000

/** The place of private questions. */
export const ownChatPlace = 'chat'

/** The session of questions without a named one. */
export const unnamedSession = 'main'

/** Whose questions to which agent. */
type Chat = Pick<StoredRun, 'agent_id' | 'account' | 'place'>

/** The conversation of a question: a session of asker and agent, or all of a room and the agent. */
export const conversationOf = ({ agent_id, account, place, session }: Chat & Pick<StoredRun, 'session'>) =>
  isRoomPlace(place) ? { agent_id, place } : { agent_id, account, place, ...inSession(session ?? unnamedSession) }

/** The session of a run: named by the asker, or that of its first question. */
export const sessionOfRun = ({ session, _id }: StoredRun): string => session ?? _id

/** The questions of a session. One that is named after an unnamed question begins with it. */
const inSession = (session: string) =>
  session === unnamedSession ? { session: { $exists: false } } : { $or: [{ session }, { _id: session }] }

/** The questions of one session, or of all. */
export const questionsOf = (chat: Chat, session: string | undefined) =>
  session === undefined ? chat : conversationOf({ ...chat, session })

/** The place of questions in a room, by its key. */
export const roomPlace = (key: string) => `room:${key}`
export const isRoomPlace = (place: string) => place.startsWith(roomPlace(''))

/** Earlier turns of a conversation, oldest first, with broken-off answers. */
export async function turnsBefore(node: Node, run: StoredRun, limit: number): Promise<Turn[]> {
  const before = await Runs.find({ ...conversationOf(run), _id: { $lt: run.replaces ?? run._id } })
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

/** The newest turns within the limit; the oldest of them is cut. */
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

/** Leaves out runs whose question in the room was deleted. */
async function withoutDeleted(node: Node, place: string, runs: StoredRun[]): Promise<StoredRun[]> {
  if (!isRoomPlace(place) || runs.length === 0) return runs
  const ids = runs.map(({ client_run_id }) => client_run_id.split(':')[0] ?? '')
  const messages = await node.log.ask(place.slice(roomPlace('').length), (view) => ids.map((id) => messageIn(view, id)))
  return runs.filter((_, at) => messages[at] && !messages[at].body.deleted)
}

interface Pages {
  limit: number
  /** A message. */
  before?: string | undefined
  session?: string | undefined
}

/** The newest messages of a conversation, or those before one, oldest first. */
export async function messagesOf(node: Node, chat: Chat, { limit, before, session }: Pages): Promise<ChatMessage[]> {
  const earlier = before === undefined ? null : await runOfMessage(chat, before)
  const runs = await Runs.find({ ...questionsOf(chat, session), ...(earlier ? { _id: { $lte: earlier._id } } : {}) })
    .sort({ _id: -1 })
    .limit(limit)
    .lean<StoredRun[]>()
  if (before !== undefined && earlier === null && runs.length > 0)
    throw new AppError('INVALID_PARAMETER', { message: 'before: no message of this conversation' })
  const ended = await Promise.all(runs.reverse().map((run) => endedRun(node, run)))
  // The message was deleted meanwhile.
  const messages = ended.flatMap((run) => (run?.place === chat.place ? messagesOfRun(run) : []))
  const end = messages.findIndex(({ id }) => id === before)
  return (end === -1 ? messages : messages.slice(0, end)).slice(-limit)
}

const runOfMessage = (chat: Chat, id: string) =>
  Runs.findOne({ ...chat, $or: [{ user_message_id: id }, { message_id: id }] }).lean<StoredRun>()

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
    rating: null,
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
          rating: run.rating ?? null,
          ...(run.cut_short ? { cut_short: run.cut_short } : {}),
          ...(typeof run.milliseconds === 'number' ? { ms: run.milliseconds } : {}),
        },
      ]),
]
