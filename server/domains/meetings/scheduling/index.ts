import { facilitatorOf, networkNamed } from '#server/domains/payments/payments/scheme'
import { registerPageParts } from '#server/domains/people/accounts/index'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { scheduling as contract, type SchedulingSettings, type ShownSettings } from '#shared/api/meetings/scheduling'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { renderSlot } from './booking-card.ts'
import { freeTimes } from './free-times.ts'
import {
  dayLength,
  isZone,
  removeWindow,
  renderWindow,
  type Span,
  setWindow,
  startOfDay,
  windowsOf,
} from './open-time.ts'
import { bookableSettings, bookingInfoOf, changeSettings, settingsSeenBy } from './own-settings.ts'

const daysUnasked = 30
const daysAtMost = 92

interface SpanRequest {
  startDate?: string | undefined
  endDate?: string | undefined
  date?: string | undefined
}

/** The requested span. A date means the whole day in the zone. */
function requestedSpan({ startDate, endDate, date }: SpanRequest, zone: string, now: number): Span {
  if (!isZone(zone)) throw new AppError('VALIDATION_ERROR', { message: 'Unknown timezone' })
  const from = startDate ?? date
  const to = endDate ?? date
  const start = from === undefined ? now : instantOf(from, zone, 0)
  const end = to === undefined ? start + daysUnasked * dayLength : instantOf(to, zone, 1)
  if (end <= start) throw new AppError('VALIDATION_ERROR', { message: 'endDate must be after startDate' })
  // A day may have 25 hours.
  if (end - start > (daysAtMost + 1) * dayLength)
    throw new AppError('VALIDATION_ERROR', { message: `At most ${daysAtMost} days` })
  return { start, end }
}

const instantOf = (when: string, zone: string, later: number): number =>
  when.includes('T') ? Date.parse(when) : startOfDay(zone, when, later)

const slotsAtMost = 2_000
const reasons = {
  'no windows': { message: 'No availability windows are set' },
  'calendar away': { message: 'The calendar does not answer. Try again.', calendarError: true as const },
}

/** The named account, or the caller. */
function named(
  { userAddress, address }: { userAddress?: string | undefined; address?: string | undefined },
  caller: string | null,
) {
  const account = userAddress ?? address ?? caller
  if (account === null) throw new AppError('VALIDATION_ERROR', { message: 'userAddress is required' })
  return account
}

function shown(node: Node, settings: SchedulingSettings): ShownSettings {
  const network = networkNamed(settings.scheduling_network)
  return { ...settings, payable: network !== null && facilitatorOf(node, network) !== null }
}

export const scheduling = defineDomain(
  contract,
  {
    settings: async (input, { node, caller }) =>
      shown(node, await settingsSeenBy(caller.account, named(input, caller.account))),

    async configure({ userAddress: _, ...given }, context) {
      return {
        ...done,
        settings: shown(context.node, await changeSettings(context.node, signedIn(context).account, given)),
      }
    },

    async windows(_input, context) {
      return { windows: (await windowsOf(signedIn(context).account)).map(renderWindow) }
    },

    async setWindow(input, context) {
      return { window: renderWindow(await setWindow(context, signedIn(context).account, input)) }
    },

    async removeWindow({ id }, context) {
      await removeWindow(signedIn(context).account, id)
      return done
    },

    async availability(input, { node, caller }) {
      const account = named(input, caller.account)
      const settings = await bookableSettings(account)
      const { slots, timezone, duration, none } = await freeTimes(node, account, settings, slotsAtMost, (zone) =>
        requestedSpan(input, input.timezone ?? zone, node.now()),
      )
      const availableSlots = slots.map(renderSlot)
      const { scheduling_price_cents: priceCents, scheduling_paid_duration_minutes: paidDuration } = settings
      const times = { availableSlots, slots: availableSlots, duration, paidDuration, timezone }
      return { ...times, priceCents, ...(none && reasons[none]) }
    },
  },
  {
    start(node) {
      registerPageParts(node, { scheduling: bookingInfoOf })
      return []
    },
  },
)
