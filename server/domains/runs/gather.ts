import type { Tool } from '#server/domains/agent-tools/tool'
import { retrieve } from '#server/domains/library/retrieve'
import { asksForAppointment, bookingCard } from '#server/domains/scheduling/card'
import type { Turn } from '#server/ports/model/port'
import type { Scheduling } from '#shared/api/run-frames'
import type { AnswerContext } from './answer-context.ts'
import type { Passage, ToolNote } from './prompt.ts'
import { toolsOf } from './tool-rounds.ts'
import { concernsEvents, upcomingEvents } from './upcoming-events.ts'

/** What was found out for a question before the model is asked. */
export interface Found {
  passages: Passage[]
  notes: ToolNote[]
  scheduling: Scheduling | null
  tools: readonly Tool[]
}

/** Looks up what a question needs, in the order of the documents; each stage says so by a `status` frame. */
export async function gather(context: AnswerContext, history: readonly Turn[]): Promise<Found> {
  const passages = await findPassages(context)
  const tools = await toolsOf(context)
  const scheduling = await offerFreeTimes(context, history)
  const events = await findEvents(context)
  return { passages, notes: [...(scheduling ? [cardIsShown] : []), ...(events ? [events] : [])], scheduling, tools }
}

/** What the agent knows about the question; each passage is cited by its number in the prompt. */
async function findPassages({ node, agent, run, tell, signal, allowance }: AnswerContext): Promise<Passage[]> {
  if (agent.use_knowledge_base === false) return []
  tell({ t: 'status', phase: 'retrieval', detail: null })
  const found = await retrieve(node, agent._id, run.message, signal, {
    fetching: () => tell({ t: 'status', phase: 'fetch', detail: null }),
    count: allowance.count,
  })
  for (const [at, { knowledge_id, title, url, chunk }] of found.entries())
    tell({ t: 'citation', n: at + 1, knowledge_id, title, url, chunk })
  return found
}

/** All that the model is told of it: which times are left out would tell it when the owner is busy. */
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
