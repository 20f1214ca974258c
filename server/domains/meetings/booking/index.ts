import type { StoredBooking } from '#server/domains/meetings/scheduling/model'
import { audiences, type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { startInBackground } from '#server/kernel/every'
import { booking as contract, scheduledCallChanged } from '#shared/api/booking'
import { done } from '#shared/kit/primitives'
import { keepTelling } from './announce.ts'
import { book } from './book.ts'
import { writingToCalendar } from './calendar-event.ts'
import { roomOfCall } from './entering.ts'
import { keepHolds } from './holds.ts'
import { cancelCall, invite, openInvitation } from './invitation.ts'
import { gatheredLetter, gatherOlderCalls } from './letters.ts'
import { callsOf } from './list.ts'
import { pageOfName, pageOfSlug } from './public-page.ts'
import { createShareable } from './shareable.ts'
import { invitedCall, listedCalls, nameOfAccount, paymentAfter, shownCall } from './shown.ts'

/** A call as it is now, of which its parties are told. */
function told(context: Context, stored: StoredBooking) {
  const call = shownCall(stored, context.node.now())
  for (const party of stored.parties) context.emit(scheduledCallChanged, audiences.account(party), { call })
  return call
}

export const booking = defineDomain(
  contract,
  {
    async schedule({ schedulerEmail, schedulerName, ...input }, context) {
      const { guestEmail = schedulerEmail, guestName = schedulerName } = input
      const call = told(context, await book(context, { ...input, guestEmail, guestName }))
      return { ...done, ...call, scheduledCall: { ...call, calendarEventId: call.calendar_event_id } }
    },

    async calls(input, context) {
      const { account } = signedIn(context)
      const { calls, total } = await callsOf(account, input, context.node.now())
      return { calls: await listedCalls(context.node, account, calls), total }
    },

    async invited({ token }, context) {
      const { node } = context
      const stored = await openInvitation(context, token)
      const call = invitedCall(stored, await nameOfAccount(node, stored.recipient_wallet_address), node.now())
      return { ...call, call }
    },

    async join({ token }, context) {
      const room = await roomOfCall(context, token)
      return { ...done, ...room, room }
    },

    async cancel({ id, token, reason }, context) {
      const call = await cancelCall(context, id, token, reason?.trim() || null)
      return { ...done, scheduledCall: told(context, call), payment: paymentAfter(call) }
    },

    async createShareable(input, context) {
      const call = told(context, await createShareable(context, input))
      const {
        id,
        scheduled_at: scheduledAt,
        title,
        duration_minutes: durationMinutes,
        invite_token: inviteToken,
      } = call
      return { ...done, ...call, inviteToken, scheduledCall: { id, scheduledAt, title, durationMinutes } }
    },

    async invite(input, context) {
      return { ...done, emailsSent: await invite(context, input) }
    },

    page: ({ slug }, { node }) => pageOfName(node, slug),

    pageBySlug: ({ slug }, { node }) => pageOfSlug(node, slug),
  },
  {
    jobs: [writingToCalendar, gatheredLetter],
    start: (node) => [
      keepHolds(node),
      keepTelling(node),
      startInBackground(node, () => gatherOlderCalls(node), 'letters of an older version were not found'),
    ],
  },
)
