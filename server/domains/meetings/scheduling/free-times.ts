import { cachedBusyTimes, freshBusyTimes } from '#server/domains/meetings/calendar/connections'
import type { Node } from '#server/kernel/context'
import type { SchedulingSettings } from '#shared/api/meetings/scheduling'
import { AppError } from '#shared/errors'
import { takenTimes } from './host-schedule.ts'
import { type SlotRules, type Span, slotsOf, weeklyOf, windowsOf } from './open-time.ts'

const minute = 60_000
export const hour = 60 * minute

/** The bookable times, or the reason for none. */
interface FreeTimes {
  slots: Span[]
  /** The zone of the host's first window. */
  timezone: string
  /** In minutes. */
  duration: number
  none: 'no windows' | 'calendar away' | null
}

/** The length of offered calls: free ones if the host takes them, else paid ones. */
const durationOf = (settings: SchedulingSettings): number =>
  settings.scheduling_free_enabled || !settings.scheduling_paid_enabled
    ? settings.scheduling_free_duration_minutes
    : settings.scheduling_paid_duration_minutes

/** The first bookable times of an account. `within` gets its zone. */
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

/** Whether a call may begin at an instant, by windows and notice alone. All lengths share the starts. */
export async function isOfferedTime(
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

/** The slot rules of the settings, whatever the length. */
function rulesOf(settings: SchedulingSettings, now: number): Pick<SlotRules, 'buffer' | 'step' | 'notBefore'> {
  const buffer = settings.scheduling_buffer_minutes * minute
  const notBefore = now + settings.scheduling_advance_notice_hours * hour
  return { buffer, step: durationOf(settings) * minute + buffer, notBefore }
}

/** A call and its buffer take at most a day each. */
const around = ({ start, end }: Span): Span => ({ start: start - 24 * hour, end: end + 48 * hour })

/** The calendar's busy times around the span; null if it does not answer. A booking address gets fresh ones, up to a limit. */
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
      ? await cachedBusyTimes(node, account, around(span))
      : await freshBusyTimes(node, account, around(span), booksFrom)
  } catch (error) {
    if (error instanceof AppError && error.code === 'RATE_LIMIT_EXCEEDED') throw error
    node.logger.warn({ error }, 'a calendar does not answer')
    return null
  }
}
