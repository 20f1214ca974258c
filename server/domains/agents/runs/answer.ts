import { openAllowance, openOwedAllowance, refuseSpentDay } from '#server/domains/agents/agent-spending/allowance'
import { agentModel } from '#server/domains/agents/agent-spending/counted-answer'
import { eventsOf } from '#server/domains/agents/agent-state/events'
import type { StoredAgent, StoredEvent } from '#server/domains/agents/agent-state/model'
import type { Tool } from '#server/domains/agents/agent-tools/tool'
import { retrieveKnowledge } from '#server/domains/agents/library/retrieve'
import { asksForAppointment, bookingCard } from '#server/domains/meetings/scheduling/booking-card'
import { mentionTest } from '#server/domains/rooms/text/mentions'
import type { Node } from '#server/kernel/context'
import type { Turn } from '#server/ports/model/port'
import type { CutShort, FrameBody, ModelFailure, Scheduling, WebSource } from '#shared/api/agents/run-frames'
import { AppError } from '#shared/errors'
import { cut, cutToLength } from '#shared/kit/cut'
import { beginRun, knownRun, type OpenRun, type RunEnding, type RunRequest } from './begin.ts'
import { conversationOf, ownChatPlace, turnsBefore } from './history.ts'
import { Runs, type StoredRun } from './model.ts'
import { isRunHere, untilReleased } from './relay.ts'
import { agentNow } from './stop.ts'
import {
  type AnswerContext,
  agentToolsOf,
  answerWithTools,
  type Passage,
  promptOf,
  type ToolNote,
} from './tool-rounds.ts'

/** The facts for a question before the model is called. */
interface GatheredFacts {
  passages: Passage[]
  notes: ToolNote[]
  scheduling: Scheduling | null
  tools: readonly Tool[]
}

/** Gathers facts in the order of the documents, with a `status` frame per stage. */
async function gatherFacts(context: AnswerContext, history: readonly Turn[]): Promise<GatheredFacts> {
  const passages = await findPassages(context)
  const tools = await agentToolsOf(context)
  const scheduling = await offerFreeTimes(context, history)
  const events = await findEvents(context)
  return { passages, notes: [...(scheduling ? [cardIsShown] : []), ...(events ? [events] : [])], scheduling, tools }
}

/** The passages for a question, cited by number in the prompt. */
async function findPassages({ node, agent, run, tell, signal, allowance }: AnswerContext): Promise<Passage[]> {
  if (agent.use_knowledge_base === false) return []
  tell({ t: 'status', phase: 'retrieval', detail: null })
  const found = await retrieveKnowledge(node, agent._id, run.message, signal, {
    fetching: () => tell({ t: 'status', phase: 'fetch', detail: null }),
    count: allowance.count,
  })
  for (const [at, { knowledge_id, title, url, chunk }] of found.entries())
    tell({ t: 'citation', n: at + 1, knowledge_id, title, url, chunk })
  return found
}

/** The model learns no times, as gaps would tell when the owner is busy. */
const cardIsShown = {
  source: 'scheduling',
  text: 'A card with free times is shown to the user below this answer, to choose one from. The times are not known here.',
}

async function offerFreeTimes(
  { node, agent, run, tell }: AnswerContext,
  history: readonly Turn[],
): Promise<Scheduling | null> {
  if (!agent.scheduling_enabled || !asksForAppointment(run.message, history)) return null
  tell({ t: 'status', phase: 'calendar', detail: null })
  const scheduling = await bookingCard(node, agent.owner_address)
  if (scheduling) tell({ t: 'scheduling', scheduling })
  return scheduling
}

async function findEvents({ node, agent, run, tell }: AnswerContext): Promise<ToolNote | null> {
  if (!agent.events_access || !concernsEvents(run.message)) return null
  tell({ t: 'status', phase: 'calendar', detail: 'events' })
  return upcomingEvents(node, agent)
}

const eventsAtMost = 20
const longestDescription = 300
/** A day lasts until its end in the last zone. */
const lastZoneMilliseconds = 12 * 3_600_000

/** Whether a message is about events. */
const concernsEvents = mentionTest({
  words:
    'event* conference* meetup* hackathon* workshop* summit* part(y|ies) festival* concert* happening* gathering* ' +
    'veranstaltung* konferenz* messe* feier* treffen evenement* soiree* atelier* evento* conferencia* fiesta* festa* ' +
    'taller* eventi conferenz* evenement* wydarzeni* konferencj* мероприят* событи* конференц* поді* захід etkinlik* konferans*',
  phrases: ['what.?s on', 'what is on', 'going on', 'coming up'],
  anywhere: '活动 活動 会议 イベント 催し 행사 이벤트 فعاليات فعالية مؤتمر कार्यक्रम',
})

/** The upcoming events for the model. */
export async function upcomingEvents(node: Node, agent: StoredAgent): Promise<ToolNote> {
  const today = new Date(node.now() - lastZoneMilliseconds).toISOString().slice(0, 10)
  const upcoming = (await eventsOf(agent._id)).filter(({ event_date, end_date }) => (end_date ?? event_date) >= today)
  const text = upcoming.slice(0, eventsAtMost).map(lineOf).join('\n')
  return { source: 'upcoming events', text: text || 'No upcoming events are known.' }
}

function lineOf(event: StoredEvent): string {
  const { event_date, end_date, start_time, end_time, venue, address, organizer, description, event_url, rsvp_url } =
    event
  const days = end_date && end_date !== event_date ? `${event_date} to ${end_date}` : event_date
  const hours = [start_time, end_time].filter(Boolean).join(' to ')
  const place = [venue, address].filter(Boolean).join(', ')
  return [
    `${days}${hours && `, ${hours}`}: ${event.name} (${event.event_type})`,
    place && `at ${place}`,
    organizer && `by ${organizer}`,
    description && cut(description.replace(/\s+/g, ' '), longestDescription),
    event_url,
    rsvp_url && `sign up: ${rsvp_url}`,
  ]
    .filter(Boolean)
    .join('; ')
}

/** Public sessions have longer histories, as the documents say. */
const turnsOfHistory = { ofChat: 10, ofSession: 20 } as const
const maxOutputTokens = 2048
const usualTemperature = 0.7
/** The limit of an answer, in UTF-16 code units. */
const longestAnswer = 32_000

/** Begins an answer, or returns the run of the same key. Throws DAILY_TOKENS_REACHED, unless the answer is owed. */
export async function beginAnswer(node: Node, agent: StoredAgent, ask: RunRequest, isOwed = false): Promise<StoredRun> {
  const known = isOwed ? null : await knownRunOfSpent(node, agent, ask)
  if (known) return known
  const { run, open } = await beginRun(node, ask, isOwed)
  if (open) void open.endWith(answerQuestion(node, agent, open, isOwed))
  return run
}

async function knownRunOfSpent(node: Node, agent: StoredAgent, ask: RunRequest): Promise<StoredRun | null> {
  try {
    await refuseSpentDay(node, agent.owner_address, ask.account)
    return null
  } catch (error) {
    const known = error instanceof AppError ? await knownRun(ask) : null
    if (!known) throw error
    return known
  }
}

/** Answers a question on its turn, by history, gathered facts and the model. */
async function answerQuestion(
  node: Node,
  asked: StoredAgent,
  { run, tell, signal }: OpenRun,
  isOwed: boolean,
): Promise<RunEnding> {
  const model = agentModel(node, asked)
  tell({
    t: 'start',
    agent: { id: asked._id, name: asked.name, avatar_emoji: asked.avatar_emoji },
    model: model.name,
    scripted: model.isScripted,
    message_id: run.message_id,
  })
  await waitForEarlierRuns(node, run, tell, signal)
  const agent = await agentNow(node, run)
  // Reserved only now, as waiting questions use nothing.
  const owner = agent.owner_address
  const allowance = isOwed ? await openOwedAllowance(node, owner) : await openAllowance(node, owner, run.account)
  return answerFrom({ node, agent, run, tell, signal, allowance }).finally(allowance.close)
}

async function answerFrom(context: AnswerContext): Promise<RunEnding> {
  const { node, agent, run, tell } = context
  const { ofChat, ofSession } = turnsOfHistory
  const history = await turnsBefore(node, run, run.place === ownChatPlace ? ofChat : ofSession)
  const { passages, notes, scheduling, tools } = await gatherFacts(context, history)
  const turns = promptOf({
    instructions: agent.system_instructions,
    history,
    passages,
    toolNotes: notes,
    message: run.message,
  })
  tell({ t: 'status', phase: 'generating', detail: null })
  return { ...(await generate(context, tools, turns)), scheduling }
}

async function generate(
  context: AnswerContext,
  tools: GatheredFacts['tools'],
  turns: readonly Turn[],
): Promise<Omit<RunEnding, 'scheduling'>> {
  const { node, agent, tell, signal } = context
  const question = { turns, maxOutputTokens, temperature: agent.temperature ?? usualTemperature }
  const usage = { inputTokens: null as number | null, outputTokens: null as number | null }
  let cutShort: CutShort | null = null
  let said = ''
  for await (const part of answerWithTools(context, tools, question)) {
    signal.throwIfAborted()
    if (part.type === 'end') {
      Object.assign(usage, { inputTokens: part.inputTokens, outputTokens: part.outputTokens })
      cutShort = part.reason === 'length' || part.reason === 'filtered' ? part.reason : null
    }
    const source = part.type === 'source' ? shownSource(node, part) : null
    if (source) tell({ t: 'source', ...source })
    if (part.type === 'unsaid') {
      said = said.slice(0, said.length - part.length)
      tell({ t: 'chunk', off: said.length, text: '' })
    }
    if (part.type !== 'text') continue
    const text = cutToLength(part.text, longestAnswer - said.length)
    if (text !== '') tell({ t: 'chunk', off: said.length, text })
    said += text
    if (text.length === part.text.length) continue
    cutShort = 'length'
    break
  }
  signal.throwIfAborted()
  // An empty answer is a failure, and is not paid.
  if (said.trim() === '')
    throw new AppError('UPSTREAM_ERROR', { details: { failure: 'MODEL_SILENT' satisfies ModelFailure } })
  return { ...usage, cutShort }
}

const longestUrl = 2_048
const longestTitle = 200

/** A source of a model; null if its link may not be shown. */
function shownSource(node: Node, { url, title }: WebSource): WebSource | null {
  const link = url.length <= longestUrl && URL.canParse(url) ? new URL(url) : null
  if (!link || !/^https?:$/.test(link.protocol) || link.username !== '' || link.password !== '') return null
  if (!node.services.web.isPublic(link.href)) return null
  const line = title
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return { url: link.href, title: cut(line, longestTitle) || link.host }
}

/** For runs of other nodes. */
const lookMilliseconds = 1_000
/** Runs of this node wake the waiter; the store is read in case another node ends them. */
const seldomMilliseconds = 10_000

/** Waits for all earlier answers of the conversation, so that each question knows them. */
export async function waitForEarlierRuns(
  node: Node,
  run: StoredRun,
  tell: (body: FrameBody) => void,
  signal: AbortSignal,
): Promise<void> {
  let isTold = false
  for (;;) {
    // The newest waits for the others itself.
    const earlier = await Runs.findOne({ ...conversationOf(run), _id: { $lt: run._id }, state: 'running' })
      .sort({ _id: -1 })
      .select({ _id: 1 })
      .lean<{ _id: string }>()
    if (!earlier) return
    if (!isTold) tell({ t: 'status', phase: 'queued', detail: null })
    isTold = true
    await untilReleased(node, earlier._id, isRunHere(node, earlier._id) ? seldomMilliseconds : lookMilliseconds, signal)
    signal.throwIfAborted()
  }
}
