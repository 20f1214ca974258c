import { openAllowance } from '#server/domains/agents/agent-spending/allowance'
import {
  agentAtPublicAddress,
  agentOf,
  agentRefusalOf,
  closedAgentError,
  isPublicAgentFor,
} from '#server/domains/agents/agent-state/access'
import * as stored from '#server/domains/agents/agent-state/events'
import type { StoredAgent } from '#server/domains/agents/agent-state/model'
import type { Action, Context, Node } from '#server/kernel/context'
import type { eventsOfAgents as contract } from '#shared/api/agents/events-of-agents'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { addFoundEvents, chunksOf, findEvents } from './extract-events.ts'

const eventLinks = ['event_url', 'rsvp_url', 'source_url', 'organizer_logo_url'] as const

/** Refuses links to private hosts or with hidden targets, as readers' clients would open them. */
function refuseInner<Name extends string>(
  node: Node,
  fields: { readonly [Field in Name]?: string | null | undefined },
  names: readonly Name[],
): void {
  for (const name of names) {
    const url = fields[name]
    if (url && !node.services.web.isPublic(url))
      throw new AppError('INVALID_PARAMETER', {
        message: `${name}: the URL must be a plain one, without user or port, of a host on the public internet`,
      })
  }
}

/** Events are visible to those who may use the agent. */
async function refuseUnseen({ caller }: Context, agent: StoredAgent): Promise<void> {
  if (await isPublicAgentFor(caller.account, agent)) return
  if (caller.account === null || (await agentRefusalOf(caller.account, agent)))
    throw closedAgentError(caller.account, agent, 'AGENT_NOT_PUBLIC')
}

export const events: Action<typeof contract.events> = async ({ id, date, type, source, featured }, context) => {
  await refuseUnseen(context, await agentAtPublicAddress(id))
  const filter = withoutUndefined({ event_date: date, event_type: type, source, is_featured: featured })
  const found = await stored.eventsOf(id, filter)
  const events = found.map(stored.renderEvent)
  const days = [...new Set(events.map(({ event_date }) => event_date))]
  const eventsByDate = Object.fromEntries(days.map((day) => [day, events.filter((event) => event.event_date === day)]))
  return { events, eventsByDate, total: events.length }
}

export const addEvent: Action<typeof contract.addEvent> = async ({ id, event }, context) => {
  await agentOf(id)
  refuseInner(context.node, event, eventLinks)
  const added = await stored.addEvent(context.node, { id: context.creationId, agent: id, knowledge: null }, event)
  return { event: stored.renderEvent(added) }
}

export const updateEvent: Action<typeof contract.updateEvent> = async (input, { node }) => {
  const { id, eventId, userAddress: _, ...given } = input
  await agentOf(id)
  refuseInner(node, given, eventLinks)
  return { event: stored.renderEvent(await stored.changeEvent(id, eventId, given)) }
}

export const removeEvent: Action<typeof contract.removeEvent> = async ({ id, eventId }) => {
  await agentOf(id)
  await stored.removeEvent(id, eventId)
  return done
}

export const extractEvents: Action<typeof contract.extractEvents> = async ({ id, knowledgeId, year }, context) => {
  const { owner_address } = await agentOf(id)
  const { node, signal } = context
  const chunks = await chunksOf(id, knowledgeId)
  if (chunks.length === 0) throw new AppError('NOT_FOUND', { message: 'Nothing of this is indexed' })
  const allowance = await openAllowance(node, owner_address, null)
  const inYear = year ?? new Date(node.now()).getUTCFullYear()
  const found = await findEvents(node, chunks, inYear, signal, allowance.count).finally(allowance.close)
  const inserted = await addFoundEvents(node, id, found)
  const events = found.map(({ event }) => event)
  return { ...done, extracted: events.length, inserted, skipped: events.length - inserted, events }
}
