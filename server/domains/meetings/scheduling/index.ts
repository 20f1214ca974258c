import { facilitatorOf, networkNamed } from '#server/domains/payments/payments/scheme'
import { registerPageParts } from '#server/domains/people/accounts/page-parts'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { scheduling as contract, type SchedulingSettings, type ShownSettings } from '#shared/api/scheduling'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { bookableSettings } from './bookable.ts'
import { shownSlot } from './card.ts'
import { freeTimes } from './free-times.ts'
import { bookedAt, configure, settingsSeenBy } from './own-settings.ts'
import { spanAsked } from './spans.ts'
import { removeWindow, setWindow, shownWindow, windowsOf } from './windows.ts'

const slotsAtMost = 2_000
const reasons = {
  'no windows': { message: 'No availability windows are set' },
  'calendar away': { message: 'The calendar does not answer. Try again.', calendarError: true as const },
}

/** Whom a call is about: who is named, else who calls. */
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
      return { ...done, settings: shown(context.node, await configure(context.node, signedIn(context).account, given)) }
    },

    async windows(_input, context) {
      return { windows: (await windowsOf(signedIn(context).account)).map(shownWindow) }
    },

    async setWindow(input, context) {
      return { window: shownWindow(await setWindow(context, signedIn(context).account, input)) }
    },

    async removeWindow({ id }, context) {
      await removeWindow(signedIn(context).account, id)
      return done
    },

    async availability(input, { node, caller }) {
      const account = named(input, caller.account)
      const settings = await bookableSettings(account)
      const { slots, timezone, duration, none } = await freeTimes(node, account, settings, slotsAtMost, (zone) =>
        spanAsked(input, input.timezone ?? zone, node.now()),
      )
      const availableSlots = slots.map(shownSlot)
      const { scheduling_price_cents: priceCents, scheduling_paid_duration_minutes: paidDuration } = settings
      const times = { availableSlots, slots: availableSlots, duration, paidDuration, timezone }
      return { ...times, priceCents, ...(none && reasons[none]) }
    },
  },
  {
    start(node) {
      registerPageParts(node, { scheduling: bookedAt })
      return []
    },
  },
)
