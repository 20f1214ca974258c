import type { Node } from '#server/kernel/context'
import type { Scheduling } from '#shared/api/agents/run-frames'
import type { SchedulingSettings } from '#shared/api/meetings/scheduling'
import { freeTimes } from './free-times.ts'
import { dayLength, type Span } from './open-time.ts'
import { defaultSettings, schedulingSettingsOf } from './own-settings.ts'
import { isSchedulingRequest } from './requests.ts'

const days = 7
const slotsAtMost = 50

/** Whether a message requests an appointment, alone or as a short answer to these turns. */
export const asksForAppointment = (message: string, history: readonly { content: string }[]): boolean =>
  isSchedulingRequest(
    message,
    history.map(({ content }) => content),
  )

/** Bookable times within a week; null without windows. Models never see them, as gaps tell when a person is busy. */
export async function bookingCard(node: Node, owner: string): Promise<Scheduling | null> {
  const now = node.now()
  const settings = await schedulingSettingsOf(owner)
  const within = { start: now, end: now + days * dayLength }
  const { slots, timezone, none } = await freeTimes(node, owner, settings, slotsAtMost, () => within)
  if (none === 'no windows') return null
  return {
    ownerAddress: owner,
    slots: slots.map(renderSlot),
    slotsByDate: labelled(slots, timezone),
    ...offered(settings),
    timezone,
  }
}

/** The kinds of calls that can be booked; disabled ones with default lengths. */
function offered(settings: SchedulingSettings) {
  const freeEnabled = settings.scheduling_enabled && settings.scheduling_free_enabled
  const paidEnabled = settings.scheduling_enabled && settings.scheduling_paid_enabled
  const { scheduling_free_duration_minutes, scheduling_paid_duration_minutes } = defaultSettings
  return {
    freeEnabled,
    paidEnabled,
    freeDuration: freeEnabled ? settings.scheduling_free_duration_minutes : scheduling_free_duration_minutes,
    paidDuration: paidEnabled ? settings.scheduling_paid_duration_minutes : scheduling_paid_duration_minutes,
    priceCents: paidEnabled ? settings.scheduling_price_cents : 0,
  }
}

export const renderSlot = ({ start, end }: Span) => ({
  start: new Date(start).toISOString(),
  end: new Date(end).toISOString(),
})

/** Start times by day, in the zone. */
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
