import type { Node } from '#server/kernel/context'
import type { Scheduling } from '#shared/api/run-frames'
import type { SchedulingSettings } from '#shared/api/scheduling'
import { freeTimes } from './free-times.ts'
import { dayLength, type Span } from './open-time.ts'
import { defaults, settingsOf } from './own-settings.ts'
import { isSchedulingRequest } from './requests.ts'

const days = 7
const slotsAtMost = 50

/** Does the message ask for an appointment, or answer to one in a few words after these turns? */
export const asksForAppointment = (message: string, history: readonly { content: string }[]): boolean =>
  isSchedulingRequest(
    message,
    history.map(({ content }) => content),
  )

/**
 * The times at which somebody can be booked within a week; null where there is nothing to book. They are for people alone: what is
 * left out of them tells when the person is busy, so that no model may read them.
 */
export async function bookingCard(node: Node, owner: string): Promise<Scheduling | null> {
  const now = node.now()
  const settings = await settingsOf(owner)
  const within = { start: now, end: now + days * dayLength }
  const { slots, timezone, none } = await freeTimes(node, owner, settings, slotsAtMost, () => within)
  if (none === 'no windows') return null
  return {
    ownerAddress: owner,
    slots: slots.map(shownSlot),
    slotsByDate: labelled(slots, timezone),
    ...offered(settings),
    timezone,
  }
}

/** Which calls can be booked: of those that the owner has turned off, only that they are. */
function offered(settings: SchedulingSettings) {
  const freeEnabled = settings.scheduling_enabled && settings.scheduling_free_enabled
  const paidEnabled = settings.scheduling_enabled && settings.scheduling_paid_enabled
  const { scheduling_free_duration_minutes, scheduling_paid_duration_minutes } = defaults
  return {
    freeEnabled,
    paidEnabled,
    freeDuration: freeEnabled ? settings.scheduling_free_duration_minutes : scheduling_free_duration_minutes,
    paidDuration: paidEnabled ? settings.scheduling_paid_duration_minutes : scheduling_paid_duration_minutes,
    priceCents: paidEnabled ? settings.scheduling_price_cents : 0,
  }
}

export const shownSlot = ({ start, end }: Span) => ({
  start: new Date(start).toISOString(),
  end: new Date(end).toISOString(),
})

/** The hours at which they begin under the days on which they do, by the clocks of the zone. */
function labelled(slots: readonly Span[], timeZone: string): Record<string, string[]> {
  const day = new Intl.DateTimeFormat('en-US', { timeZone, weekday: 'short', month: 'short', day: 'numeric' })
  const hour = new Intl.DateTimeFormat('en-US', { timeZone, hour: 'numeric', minute: '2-digit' })
  const labels: Record<string, string[]> = {}
  for (const { start } of slots) {
    const on = day.format(start)
    labels[on] = [...(labels[on] ?? []), hour.format(start).replace(/\s/g, ' ')]
  }
  return labels
}
