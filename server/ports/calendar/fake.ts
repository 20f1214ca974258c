import { AppError } from '#shared/errors'
import type { Busy, Calendars } from './port.ts'

interface FakeCalendars extends Calendars {
  /** The busy times by account; who is not named has connected no calendar. */
  kept: Map<string, readonly Busy[]>
  /** The way in which it fails to answer; null while it answers. */
  away: 'UPSTREAM_ERROR' | 'TIMEOUT' | null
}

/** Calendars in memory. */
export function fakeCalendars(): FakeCalendars {
  const calendars: FakeCalendars = {
    kept: new Map(),
    away: null,
    async busy(account, between, signal) {
      signal.throwIfAborted()
      if (calendars.away) throw new AppError(calendars.away)
      const kept = calendars.kept.get(account)
      return kept?.filter(({ start, end }) => start < between.end && end > between.start) ?? null
    },
  }
  return calendars
}
