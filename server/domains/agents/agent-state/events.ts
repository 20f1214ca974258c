import type { Node } from '#server/kernel/context'
import { isDuplicate } from '#server/ports/database/port'
import type { AgentEvent } from '#shared/api/agents/events-of-agents'
import { AppError } from '#shared/errors'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { Agents, Events, type StoredEvent } from './model.ts'

const eventsAtMost = 500

type EventFields = Omit<AgentEvent, 'id' | 'agent_id' | 'knowledge_id' | 'created_at'>
type GivenEvent = { [Field in keyof EventFields]?: EventFields[Field] | undefined }

const defaults = {
  description: null,
  event_type: 'other',
  start_time: null,
  end_time: null,
  is_multi_day: false,
  end_date: null,
  venue: null,
  address: null,
  organizer: null,
  organizer_logo_url: null,
  event_url: null,
  rsvp_url: null,
  source: 'community',
  source_url: null,
  is_featured: false,
  is_verified: false,
  tags: null,
} as const

/** The events of an agent by day and start; whole-day events first. */
export async function eventsOf(agent: string, filter: object = {}): Promise<StoredEvent[]> {
  const found = await Events.find({ agent_id: agent, ...filter }).lean<StoredEvent[]>()
  const orderOf = ({ event_date, start_time, key }: StoredEvent) => `${event_date} ${start_time ?? ''} ${key}`
  return found.sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))
}

export const countEvents = (agent: string): Promise<number> => Events.countDocuments({ agent_id: agent })

interface Where {
  id: string
  agent: string
  knowledge: string | null
}

/** Stores an event. Throws EVENT_EXISTS for an equal name and day. */
export async function addEvent(node: Node, { id, agent, knowledge }: Where, given: GivenEvent): Promise<StoredEvent> {
  const fields = settled({ ...defaults, name: '', event_date: '', ...withoutUndefined(given) })
  const event = { _id: id, agent_id: agent, knowledge_id: knowledge, ...fields, created_at: new Date(node.now()) }
  await Events.create(event).catch(refuseDuplicate)
  // Checked again after the insert: the agent may be deleted, and races may exceed the limit.
  const isGone = !(await Agents.exists({ _id: agent }))
  const isTooMany = (await countEvents(agent)) > eventsAtMost
  if (isGone || isTooMany) await Events.deleteOne({ _id: id })
  if (isGone) throw new AppError('AGENT_NOT_FOUND')
  if (isTooMany) throw new AppError('VALIDATION_ERROR', { message: `At most ${eventsAtMost} events` })
  return event
}

const attempts = 5

/** Changes an event; simultaneous changes are merged and validated together. */
export async function changeEvent(agent: string, id: string, given: GivenEvent): Promise<StoredEvent> {
  const set = withoutUndefined(given)
  for (let attempt = 0; attempt < attempts; attempt++) {
    const before = await Events.findOne({ _id: id, agent_id: agent }).lean<StoredEvent>()
    if (!before) throw new AppError('NOT_FOUND')
    const { _id, agent_id, key, event_date, end_date, is_multi_day } = before
    const { key: newKey, is_multi_day: newIsMultiDay } = settled({ ...before, ...set })
    const changed = await Events.findOneAndUpdate(
      { _id, agent_id, key, event_date, end_date, is_multi_day },
      { $set: { ...set, key: newKey, is_multi_day: newIsMultiDay } },
      { returnDocument: 'after' },
    )
      .lean<StoredEvent>()
      .catch(refuseDuplicate)
    if (changed) return changed
  }
  throw new AppError('CONFLICT')
}

export async function removeEvent(agent: string, id: string): Promise<void> {
  const { deletedCount } = await Events.deleteOne({ _id: id, agent_id: agent })
  if (deletedCount === 0) throw new AppError('NOT_FOUND')
}

/** Derives dependent fields. */
function settled(fields: EventFields): EventFields & { key: string } {
  const { name, event_date, end_date } = fields
  if (end_date !== null && end_date < event_date)
    throw new AppError('VALIDATION_ERROR', { message: 'end_date must not be before event_date' })
  const is_multi_day = fields.is_multi_day || (end_date ?? event_date) > event_date
  return { ...fields, is_multi_day, key: name.toLowerCase() }
}

function refuseDuplicate(error: unknown): never {
  throw isDuplicate(error) ? new AppError('EVENT_EXISTS') : error
}

export const renderEvent = ({ _id, key: _, created_at, ...event }: StoredEvent): AgentEvent => ({
  id: _id,
  ...event,
  created_at: created_at.toISOString(),
})
