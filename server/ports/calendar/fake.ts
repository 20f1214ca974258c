import { createHash } from 'node:crypto'
import { AppError } from '#shared/errors'
import { type BusyTime, type CalendarEvent, type Calendars, NoAccess } from './port.ts'

interface FakeCalendars extends Calendars {
  /** The busy times by calendar: a code is the name of the calendar that it opens. */
  kept: Map<string, readonly BusyTime[]>
  /** The events by calendar. */
  events: Map<string, Map<string, CalendarEvent>>
  /** Calendars whose owner has taken back what they allowed. */
  ended: Set<string>
  /** The requests in order: `busy host`, for one. */
  asked: string[]
  /** The way in which it fails to answer; null while it answers. */
  away: 'UPSTREAM_ERROR' | 'TIMEOUT' | null
}

const hashOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url')
const lifeSeconds = 3_600

/** Calendars in memory. Access is granted with the last challenge; `denied` grants none. */
export function fakeCalendars(): FakeCalendars {
  let challenge = ''
  const open = (what: string, token: string): string => {
    const calendar = token.replace(/^\w+ of /, '')
    calendars.asked.push(`${what} ${calendar}`)
    if (calendars.away) throw new AppError(calendars.away)
    if (calendars.ended.has(calendar)) throw new NoAccess('Access was taken back')
    return calendar
  }
  const eventsOf = (calendar: string): Map<string, CalendarEvent> => {
    const events = calendars.events.get(calendar) ?? new Map<string, CalendarEvent>()
    calendars.events.set(calendar, events)
    return events
  }
  const calendars: FakeCalendars = {
    provider: 'google',
    kept: new Map(),
    events: new Map(),
    ended: new Set(),
    asked: [],
    away: null,
    askAt(asking) {
      challenge = asking.challenge
      return `https://calendars.test/ask?${new URLSearchParams({ ...asking })}`
    },
    async exchange(code, verifier) {
      calendars.ended.delete(code)
      const calendar = open('exchange', `code of ${code}`)
      if (hashOf(verifier) !== challenge || code === 'denied') throw new NoAccess('This code is good for nothing')
      return {
        accessToken: `access of ${calendar}`,
        refreshToken: `refresh of ${calendar}`,
        seconds: lifeSeconds,
        calendarId: 'primary',
        email: `${calendar.replace(/\W/g, '.')}@calendars.test`,
      }
    },
    async refresh(token) {
      return { accessToken: `access of ${open('refresh', token)}`, seconds: lifeSeconds }
    },
    async revoke(token) {
      calendars.ended.add(open('revoke', token))
    },
    async busy({ accessToken }, between, signal) {
      signal.throwIfAborted()
      const kept = calendars.kept.get(open('busy', accessToken)) ?? []
      return kept.filter(({ start, end }) => start < between.end && end > between.start)
    },
    async insert({ accessToken }, event) {
      const events = eventsOf(open('insert', accessToken))
      if (!events.has(event.id)) events.set(event.id, event)
    },
    async remove({ accessToken }, id) {
      eventsOf(open('remove', accessToken)).delete(id)
    },
  }
  return calendars
}
