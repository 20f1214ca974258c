import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import { audiences, type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { startInBackground } from '#server/kernel/work/every'
import type { QueryFilter } from '#server/ports/database/port'
import { booking as contract, scheduledCallChanged } from '#shared/api/meetings/booking'
import type { InputOf } from '#shared/kit/contract'
import { done } from '#shared/kit/primitives'
import { bookCall } from './book.ts'
import { calendarEventJob } from './calendar-event.ts'
import { digestEmail, scheduleOlderDigests } from './emails.ts'
import { callFollowUp, followUpOlderCalls } from './follow-up.ts'
import { cancelCall, openInvitation, sendCallInvitation } from './invitation.ts'
import { bookingPageOfName, bookingPageOfSlug } from './public-page.ts'
import { cancelledPaymentOf, invitedCall, listedCalls, nameOfAccount, shownCall } from './render.ts'
import { meetingRoomOfCall } from './room-of-call.ts'
import { createShareableCall } from './shareable.ts'

/** Renders a call and sends it to its parties. */
function notifyAndRender(context: Context, stored: StoredBooking) {
  const call = shownCall(stored, context.node.now())
  for (const party of stored.parties) context.emit(scheduledCallChanged, audiences.account(party), { call })
  return call
}

export const booking = defineDomain(
  contract,
  {
    async schedule({ schedulerEmail, schedulerName, ...input }, context) {
      const { guestEmail = schedulerEmail, guestName = schedulerName } = input
      const call = notifyAndRender(context, await bookCall(context, { ...input, guestEmail, guestName }))
      return { ...done, ...call, scheduledCall: { ...call, calendarEventId: call.calendar_event_id } }
    },

    async calls(input, context) {
      const { account } = signedIn(context)
      const { calls, total } = await bookedCallsOf(account, input, context.node.now())
      return { calls: await listedCalls(context.node, account, calls), total }
    },

    async invited({ token }, context) {
      const { node } = context
      const stored = await openInvitation(context, token)
      const call = invitedCall(stored, await nameOfAccount(node, stored.recipient_wallet_address), node.now())
      return { ...call, call }
    },

    async join({ token }, context) {
      const room = await meetingRoomOfCall(context, token)
      return { ...done, ...room, room }
    },

    async cancel({ id, token, reason }, context) {
      const call = await cancelCall(context, id, token, reason?.trim() || null)
      return { ...done, scheduledCall: notifyAndRender(context, call), payment: cancelledPaymentOf(call) }
    },

    async createShareable(input, context) {
      const call = notifyAndRender(context, await createShareableCall(context, input))
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
      return { ...done, emailsSent: await sendCallInvitation(context, input) }
    },

    page: ({ slug }, { node }) => bookingPageOfName(node, slug),

    pageBySlug: ({ slug }, { node }) => bookingPageOfSlug(node, slug),
  },
  {
    jobs: [calendarEventJob, digestEmail, callFollowUp],
    start: (node) => [
      startInBackground(node, () => followUpOlderCalls(node), 'calls of an older version were not found'),
      startInBackground(node, () => scheduleOlderDigests(node), 'letters of an older version were not found'),
    ],
  },
)

type CallList = InputOf<typeof contract.calls>
const open = { $in: ['pending', 'confirmed'] satisfies StoredBooking['status'][] }

/** The calls of an account in the order of the requested status, and their number. */
async function bookedCallsOf(account: string, { status, limit }: CallList, now: number) {
  const found = { parties: account, ...(status && withStatus(status, new Date(now))) }
  const [calls, total] = await Promise.all([
    Bookings.find(found)
      .sort({ scheduled_at: status === 'upcoming' || status === 'current' ? 1 : -1 })
      .limit(limit)
      .lean<StoredBooking[]>(),
    Bookings.countDocuments(found),
  ])
  return { calls, total }
}

function withStatus(status: NonNullable<CallList['status']>, now: Date): QueryFilter<StoredBooking> {
  if (status === 'upcoming') return { scheduled_at: { $gt: now }, status: open }
  if (status === 'current') return { ends_at: { $gt: now }, status: open }
  if (status === 'past') return { $or: [{ scheduled_at: { $lte: now } }, { status: 'cancelled' }] }
  if (status === 'completed') return { ends_at: { $lte: now }, status: open }
  return status === 'cancelled' ? { status } : { ends_at: { $gt: now }, status }
}
