import { busyLately, busyNow } from '#server/domains/meetings/calendar/busy'
import type { Node } from '#server/kernel/context'
import type { SchedulingSettings } from '#shared/api/scheduling'
import { AppError } from '#shared/errors'
import { takenTimes } from './diary.ts'
import type { Span } from './open-time.ts'
import { type Offer, slotsOf } from './slots.ts'
import { weeklyOf, windowsOf } from './windows.ts'

const minute = 60_000
export const hour = 60 * minute

/** When somebody can be booked, or why at no time. */
export interface FreeTimes {
  slots: Span[]
  /** Of the person: that of their first window. */
  timezone: string
  /** In minutes. */
  duration: number
  none: 'no windows' | 'calendar away' | null
}

/** The length of what is offered: of a free call where the person takes some, else of a paid one. */
const durationOf = (settings: SchedulingSettings): number =>
  settings.scheduling_free_enabled || !settings.scheduling_paid_enabled
    ? settings.scheduling_free_duration_minutes
    : settings.scheduling_paid_duration_minutes

/** The first times at which an account can be booked. `within` is told the zone of the account. */
export async function freeTimes(
  node: Node,
  account: string,
  settings: SchedulingSettings,
  atMost: number,
  within: (timezone: string) => Span,
): Promise<FreeTimes> {
  const windows = await windowsOf(account)
  const timezone = windows[0]?.timezone ?? 'UTC'
  const duration = durationOf(settings)
  const span = within(timezone)
  if (windows.length === 0) return { slots: [], timezone, duration, none: 'no windows' }
  const [busy, taken] = await Promise.all([busyTimes(node, account, settings, span), takenTimes(account, around(span))])
  if (busy === null) return { slots: [], timezone, duration, none: 'calendar away' }
  const rules = rulesOf(settings, node.now())
  const slots = slotsOf({
    ...{ ...rules, windows: windows.map(weeklyOf), within: span, length: duration * minute },
    ...{ busy: [...busy, ...taken], atMost },
  })
  return { slots, timezone, duration, none: null }
}

/**
 * Whether a call of this many minutes may begin at an instant, by the windows and the notice of an account alone. Calls of every length
 * begin when those begin that the account offers.
 */
export async function isOffered(
  node: Node,
  account: string,
  settings: SchedulingSettings,
  start: number,
  length: number,
): Promise<boolean> {
  const windows = (await windowsOf(account)).map(weeklyOf)
  const within = { start, end: start + 1 }
  const rules = rulesOf(settings, node.now())
  return slotsOf({ ...rules, windows, within, length: length * minute, busy: [], atMost: 1 }).length > 0
}

/** What the settings say of the times that are offered, whatever their length. */
function rulesOf(settings: SchedulingSettings, now: number): Pick<Offer, 'buffer' | 'step' | 'notBefore'> {
  const buffer = settings.scheduling_buffer_minutes * minute
  const notBefore = now + settings.scheduling_advance_notice_hours * hour
  return { buffer, step: durationOf(settings) * minute + buffer, notBefore }
}

/** A call and its buffer are no longer than a day each. */
const around = ({ start, end }: Span): Span => ({ start: start - 24 * hour, end: end + 48 * hour })

/**
 * What the calendar of the account holds around the span, where it asks for that; null where the calendar does not answer. It is asked anew
 * for who books from an address, which is refused (RATE_LIMIT_EXCEEDED) where that is too often.
 */
export async function busyTimes(
  node: Node,
  account: string,
  settings: SchedulingSettings,
  span: Span,
  booksFrom: string | null = null,
): Promise<readonly Span[] | null> {
  if (!settings.scheduling_calendar_sync) return []
  try {
    return booksFrom === null
      ? await busyLately(node, account, around(span))
      : await busyNow(node, account, around(span), booksFrom)
  } catch (error) {
    if (error instanceof AppError && error.code === 'RATE_LIMIT_EXCEEDED') throw error
    node.logger.warn({ error }, 'a calendar does not answer')
    return null
  }
}
