import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import {
  CallerAddress,
  Done,
  Id,
  Link,
  line,
  nameLine,
  onceByKey,
  repeatable,
  Time,
  text,
} from '#shared/kit/primitives'

const eventTypes = [
  'party',
  'summit',
  'meetup',
  'conference',
  'hackathon',
  'workshop',
  'networking',
  'wellness',
  'other',
] as const
const eventSources = ['official', 'community', 'sponsor'] as const

const DayTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'Invalid time: HH:MM' })
const WebUrl = z
  .url({ protocol: /^https?$/, error: 'Invalid URL' })
  .max(2_048)
  .refine((value) => /^https?:\/\/[^@\s]+$/i.test(value), { error: 'Invalid URL' })
const Day = z.iso.date({ error: 'Invalid date: YYYY-MM-DD' })
const Tags = z
  .array(nameLine(0, 200))
  .max(100)
  .transform((tags) =>
    [...new Set(tags.map((tag) => tag.trim().toLowerCase()))].filter((tag) => /^.{1,30}$/u.test(tag)).slice(0, 10),
  )

/** The fields of an event. */
const said = {
  name: nameLine(1, 200, 'Name is required'),
  description: text(4_000).nullable(),
  event_type: z.enum(eventTypes),
  event_date: Day,
  start_time: DayTime.nullable(),
  end_time: DayTime.nullable(),
  is_multi_day: z.boolean(),
  end_date: Day.nullable(),
  venue: line(1, 200).nullable(),
  address: line(1, 300).nullable(),
  organizer: line(1, 200).nullable(),
  organizer_logo_url: WebUrl.nullable(),
  event_url: WebUrl.nullable(),
  rsvp_url: WebUrl.nullable(),
  source: z.enum(eventSources),
  source_url: WebUrl.nullable(),
  is_featured: z.boolean(),
  is_verified: z.boolean(),
  tags: Tags.nullable(),
}
const changes = z.object(said).partial()

/** An event that a model has found. Invalid fields are left out, except the name and the day. */
export const ExtractedEvent = z.object({
  name: said.name,
  event_date: Day,
  description: said.description.catch(null),
  event_type: said.event_type.catch('other'),
  start_time: said.start_time.catch(null),
  end_time: said.end_time.catch(null),
  end_date: said.end_date.catch(null),
  venue: said.venue.catch(null),
  address: said.address.catch(null),
  organizer: said.organizer.catch(null),
  event_url: said.event_url.catch(null),
  rsvp_url: said.rsvp_url.catch(null),
  tags: said.tags.catch(null),
})
export type ExtractedEvent = z.output<typeof ExtractedEvent>

export const AgentEvent = z.object({
  id: z.string(),
  agent_id: z.string(),
  knowledge_id: z.string().nullable(),
  ...said,
  name: z.string(),
  description: z.string().nullable(),
  event_date: z.string(),
  start_time: z.string().nullable(),
  end_time: z.string().nullable(),
  end_date: z.string().nullable(),
  venue: z.string().nullable(),
  address: z.string().nullable(),
  organizer: z.string().nullable(),
  organizer_logo_url: Link.nullable(),
  event_url: Link.nullable(),
  rsvp_url: Link.nullable(),
  source_url: Link.nullable(),
  tags: z.array(z.string()).nullable(),
  created_at: Time,
})
export type AgentEvent = z.output<typeof AgentEvent>

const One = z.object({ event: AgentEvent })
const ofAgent = { id: Id, userAddress: CallerAddress }

/** Of `agents`: what takes place, and what they know of it. */
export const eventsOfAgents = {
  events: operation({
    summary: 'The events of a public or official agent, by day and start.',
    http: 'GET /api/agents/:id/events',
    socket: '/agents event:list',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      id: Id,
      date: Day.optional(),
      type: z.enum(eventTypes).optional(),
      source: z.enum(eventSources).optional(),
      featured: z.boolean().optional(),
    }),
    output: z.object({
      events: z.array(AgentEvent),
      eventsByDate: z.record(z.string(), z.array(AgentEvent)),
      total: z.number().int(),
    }),
    errors: ['AGENT_NOT_FOUND', 'AGENT_GONE', 'AGENT_NOT_PUBLIC'],
    errorBody: 'text',
  }),
  addEvent: operation({
    summary: 'Add an event to an agent; admins only. No two of one agent have the same name and day.',
    http: 'POST /api/agents/:id/events',
    socket: '/agents event:add',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({
      ...ofAgent,
      event: z.object({ ...changes.shape, name: said.name, event_date: said.event_date }),
      ...repeatable,
    }),
    output: One,
    errors: ['AGENT_NOT_FOUND', 'EVENT_EXISTS'],
    errorBody: 'text',
  }),
  extractEvents: operation({
    summary:
      'Let the model find events in what an agent knows, in all of it or in one item, and add those that are new; admins only. Where no model is configured it answers 500.',
    http: 'POST /api/agents/:id/events/extract',
    socket: '/agents event:extract',
    access: 'admin',
    limit: 'ai',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ ...ofAgent, knowledgeId: Id.optional(), year: z.number().int().min(2000).max(2100).optional() }),
    output: z.object({
      success: z.literal(true),
      extracted: z.number().int(),
      inserted: z.number().int(),
      skipped: z.number().int(),
      events: z.array(ExtractedEvent),
    }),
    errors: ['AGENT_NOT_FOUND', 'NOT_FOUND', 'UPSTREAM_ERROR', 'TIMEOUT', 'DAILY_TOKENS_REACHED'],
    errorBody: 'text',
  }),
  updateEvent: operation({
    summary: 'Change an event of an agent; what is left out stays. Admins only.',
    http: 'PATCH /api/agents/:id/events/:eventId',
    socket: '/agents event:update',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ ...ofAgent, eventId: Id, ...changes.shape }),
    output: One,
    errors: ['AGENT_NOT_FOUND', 'NOT_FOUND', 'EVENT_EXISTS'],
    errorBody: 'text',
  }),
  removeEvent: operation({
    summary: 'Remove an event of an agent; admins only.',
    http: 'DELETE /api/agents/:id/events/:eventId',
    aliases: [{ http: 'DELETE /api/agents/:id/events' }],
    socket: '/agents event:remove',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ ...ofAgent, eventId: Id }),
    output: Done,
    errors: ['AGENT_NOT_FOUND', 'NOT_FOUND'],
    errorBody: 'text',
  }),
}
