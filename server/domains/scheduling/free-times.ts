import type { Node } from '#server/kernel/context'
import type { SchedulingSettings } from '#shared/api/scheduling'
import type { Span } from './open-time.ts'
import { slotsOf } from './slots.ts'
import { weeklyOf, windowsOf } from './windows.ts'

const minute = 60_000
const hour = 60 * minute
const calendarMilliseconds = 5_000

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
  const busy = settings.scheduling_calendar_sync ? await busyTimes(node, account, span) : []
  if (busy === null) return { slots: [], timezone, duration, none: 'calendar away' }
  const slots = slotsOf({
    windows: windows.map(weeklyOf),
    within: span,
    length: duration * minute,
    buffer: settings.scheduling_buffer_minutes * minute,
    notBefore: node.now() + settings.scheduling_advance_notice_hours * hour,
    busy,
    atMost,
  })
  return { slots, timezone, duration, none: null }
}

/** What the calendar of the account holds around the span; null where it does not answer. */
async function busyTimes(node: Node, account: string, span: Span): Promise<readonly Span[] | null> {
  const around = { start: span.start - 24 * hour, end: span.end + 48 * hour }
  try {
    const { calendars } = node.services
    return (await calendars?.busy(account, around, AbortSignal.timeout(calendarMilliseconds))) ?? []
  } catch (error) {
    node.logger.warn({ error }, 'a calendar does not answer')
    return null
  }
}
