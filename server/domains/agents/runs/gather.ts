import { eventsOf } from '#server/domains/agents/agent-state/events'
import type { StoredAgent, StoredEvent } from '#server/domains/agents/agent-state/model'
import type { Tool } from '#server/domains/agents/agent-tools/tool'
import { retrieveKnowledge } from '#server/domains/agents/library/retrieve'
import { asksForAppointment, bookingCard } from '#server/domains/meetings/scheduling/booking-card'
import { mentionTest } from '#server/domains/rooms/text/mentions'
import type { Node } from '#server/kernel/context'
import type { Turn } from '#server/ports/model/port'
import type { Scheduling } from '#shared/api/agents/run-frames'
import { cut } from '#shared/kit/cut'
import type { Passage, ToolNote } from './prompt.ts'
import { type AnswerContext, agentToolsOf } from './tool-rounds.ts'

/** The facts for a question before the model is called. */
export interface GatheredFacts {
  passages: Passage[]
  notes: ToolNote[]
  scheduling: Scheduling | null
  tools: readonly Tool[]
}

/** Gathers facts in the order of the documents, with a `status` frame per stage. */
export async function gatherFacts(context: AnswerContext, history: readonly Turn[]): Promise<GatheredFacts> {
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
