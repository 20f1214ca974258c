import type { StoredEvent } from '#server/domains/agent-state/events/model'
import { eventsOf } from '#server/domains/agent-state/events/stored'
import type { StoredAgent } from '#server/domains/agent-state/model'
import { mentions } from '#server/domains/text/mentions'
import type { Node } from '#server/kernel/context'
import { cut } from '#shared/kit/cut'
import type { ToolNote } from './prompt.ts'

const toldAtMost = 20
const longestDescription = 300
/** A day lasts until it has ended in every zone. */
const lastZoneMilliseconds = 12 * 3_600_000

/** Is the message about events? */
export const concernsEvents = mentions({
  words:
    'event* conference* meetup* hackathon* workshop* summit* part(y|ies) festival* concert* happening* gathering* ' +
    'veranstaltung* konferenz* messe* feier* treffen evenement* soiree* atelier* evento* conferencia* fiesta* festa* ' +
    'taller* eventi conferenz* evenement* wydarzeni* konferencj* мероприят* событи* конференц* поді* захід etkinlik* konferans*',
  phrases: ['what.?s on', 'what is on', 'going on', 'coming up'],
  anywhere: '活动 活動 会议 イベント 催し 행사 이벤트 فعاليات فعالية مؤتمر कार्यक्रम',
})

/** What the model is told of the upcoming events of an agent. */
export async function upcomingEvents(node: Node, agent: StoredAgent): Promise<ToolNote> {
  const today = new Date(node.now() - lastZoneMilliseconds).toISOString().slice(0, 10)
  const upcoming = (await eventsOf(agent._id)).filter(({ event_date, end_date }) => (end_date ?? event_date) >= today)
  const text = upcoming.slice(0, toldAtMost).map(lineOf).join('\n')
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
