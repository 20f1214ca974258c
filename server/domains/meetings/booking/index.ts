import { joinUrlOf, meetingOfCall } from '#server/domains/meetings/meetings/records'
import { writeCall } from '#server/domains/meetings/scheduling/host-schedule'
import { Bookings, Settings, type StoredBooking, type StoredSettings } from '#server/domains/meetings/scheduling/model'
import { isZone, windowsOf } from '#server/domains/meetings/scheduling/open-time'
import { bookableSettings } from '#server/domains/meetings/scheduling/own-settings'
import { blockedAmong } from '#server/domains/moderation/blocks/blocks'
import { facilitatorOf, networkNamed } from '#server/domains/payments/payments/scheme'
import { withdrawPayment } from '#server/domains/payments/payments/settle'
import { accountByUsername, accountOf } from '#server/domains/people/accounts/accounts'
import { accountByEmail } from '#server/domains/people/accounts/emails'
import { hiddenAccountsAmong } from '#server/domains/people/accounts/found'
import type { Account } from '#server/domains/people/accounts/model'
import { profileOf } from '#server/domains/people/accounts/profiles'
import { audiences, type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { startInBackground } from '#server/kernel/work/every'
import type { QueryFilter } from '#server/ports/database/port'
import {
  booking as contract,
  type EmailedTo,
  joinEarlyMilliseconds,
  type PublicSchedule,
  scheduledCallChanged,
} from '#shared/api/meetings/booking'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { InputOf } from '#shared/kit/contract'
import { canonicalAddress, done } from '#shared/kit/primitives'
import { bookCall, callFollowUp, followUpOlderCalls, planFollowUp, refuseCallText } from './book.ts'
import { digestEmail, requesterOf, scheduleOlderDigests, sendInvitation } from './emails.ts'
import { isHeldCall, newCall } from './holds.ts'
import { announceCancelled, calendarEventJob, noticeDue, writeToCalendar } from './notices.ts'
import { callStatusOf, cancelledPaymentOf, invitedCall, listedCalls, nameOfAccount, shownCall } from './render.ts'

const hourSeconds = 3_600
/** From one address in an hour, over all calls. */
const entriesAnHour = 60

/** The meeting room of an open call, for anyone with its invitation token. */
async function meetingRoomOfCall(context: Context, token: string) {
  const { node, caller } = context
  if (!(await node.limits.guard('calls-entered', caller.ip, entriesAnHour, hourSeconds)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
  const call = await openInvitation(context, token)
  refuseClosed(call, node.now())
  await refuseBlocked(call, caller.account)
  const { _id: id, recipient_wallet_address: host, title, ends_at: ends } = call
  const { room_id: roomId, join_code: joinCode } = await meetingOfCall(node, { id, host, title, ends })
  return { roomId, joinCode, joinUrl: joinUrlOf(node, joinCode) }
}

/** Refuses an early caller, and calls that are unpaid, cancelled or over. */
function refuseClosed(call: StoredBooking, now: number): void {
  const status = callStatusOf(call, now)
  if (status === 'pending') throw new AppError('FORBIDDEN', { message: 'This call is not paid for yet' })
  if (status === 'cancelled') throw new AppError('FORBIDDEN', { message: 'This call is cancelled' })
  if (status === 'completed') throw new AppError('FORBIDDEN', { message: 'This call is over' })
  const opens = call.scheduled_at.getTime() - joinEarlyMilliseconds
  if (now < opens)
    throw new AppError('FORBIDDEN', {
      message: 'This call can be entered from five minutes before it begins',
      details: { opensAt: new Date(opens).toISOString() },
    })
}

/** Refuses blocked people, and anyone with a blocked booker's link. A guest is known by a verified address. */
async function refuseBlocked(call: StoredBooking, entrant: string | null): Promise<void> {
  const { recipient_wallet_address: host, scheduler_wallet_address, booker } = call
  if (entrant === host) return
  const bookedBy = scheduler_wallet_address ?? (await accountByEmail(booker))?._id ?? null
  const known = [entrant, bookedBy].filter((one) => one !== null)
  if ((await blockedAmong(host, known)).size > 0)
    throw new AppError('BLOCKED', { message: 'You cannot meet this user' })
}

/** The future calls of one's own, at most. */
const aheadAtMost = 100

type Given = InputOf<typeof contract.createShareable>

/** Creates a call of the caller at any free time, for anyone with its link. */
async function createShareableCall(context: Context, given: Given): Promise<StoredBooking> {
  const { node } = context
  const { account } = signedIn(context)
  const { scheduledAt, timezone = 'UTC', durationMinutes = 30 } = given
  if (!isZone(timezone)) throw new AppError('VALIDATION_ERROR', { message: 'Unknown timezone' })
  if (Date.parse(scheduledAt) <= node.now())
    throw new AppError('VALIDATION_ERROR', { message: 'scheduledAt must be in the future' })
  await refuseCallText(node, account, { title: given.title })
  const booker = { account, id: account, name: await nameOfAccount(node, account), email: null }
  const call = newCall(context.creationId, durationMinutes, booker, { ...given, host: account }, new Date(node.now()))
  const written = await writeCall(call, { buffer: 0, ahead: aheadAtMost })
  await writeToCalendar(node, written)
  return written
}

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

/** The booking page of an account by address or username. */
async function bookingPageOfName(node: Node, name: string): Promise<PublicSchedule> {
  const account =
    (await accountOf(canonicalAddress(name))) ?? (await accountByUsername(name.toLowerCase().replace(/^@/, '')))
  if (!account) throw new AppError('USER_NOT_FOUND')
  return pageOf(node, account)
}

/** The booking page of an account by its slug. */
async function bookingPageOfSlug(node: Node, scheduling_slug: string): Promise<PublicSchedule> {
  const settings = await Settings.findOne({ scheduling_slug }).lean<StoredSettings>()
  const account = settings && (await accountOf(settings._id))
  if (!account) throw new AppError('USER_NOT_FOUND')
  return pageOf(node, account)
}

async function pageOf(node: Node, account: Account): Promise<PublicSchedule> {
  const settings = await bookableSettings(account._id)
  const windows = await windowsOf(account._id)
  const { id: walletAddress, name, username, avatar_url: avatarUrl } = profileOf(account)
  const facts = networkNamed(settings.scheduling_network)
  const facilitator = facts ? facilitatorOf(node, facts) : null
  return {
    profile: {
      walletAddress,
      displayName: name,
      username,
      ensName: null,
      avatarUrl,
      bio: settings.scheduling_bio ?? account.bio ?? null,
      title: settings.scheduling_title,
      slug: settings.scheduling_slug,
    },
    scheduling: {
      freeEnabled: settings.scheduling_free_enabled,
      paidEnabled: settings.scheduling_paid_enabled,
      freeDuration: settings.scheduling_free_duration_minutes,
      paidDuration: settings.scheduling_paid_duration_minutes,
      priceCents: settings.scheduling_price_cents,
      network: settings.scheduling_network,
      payToAddress: settings.scheduling_wallet_address,
      bufferMinutes: settings.scheduling_buffer_minutes,
      advanceNoticeHours: settings.scheduling_advance_notice_hours,
      payable: facilitator !== null,
      simulated: facilitator?.isSimulated ?? false,
    },
    availability: {
      windows: windows.map(({ day_of_week, start_time, end_time, timezone }) => ({
        ...{ dayOfWeek: day_of_week, startTime: start_time, endTime: end_time, timezone },
      })),
      timezone: windows[0]?.timezone ?? 'UTC',
    },
  }
}

/** Loads the call of an invitation, and notes its first view by anyone but the host. An offer ends with its host. */
async function openInvitation({ node, caller }: Context, invite_token: string): Promise<StoredBooking> {
  const call = await Bookings.findOne({ invite_token }).lean<StoredBooking>()
  if (!call) throw new AppError('CALL_NOT_FOUND')
  const { recipient_wallet_address: host } = call
  if (isSameAccount(call.scheduler_wallet_address, host)) {
    const hidden = await hiddenAccountsAmong([host], caller.account, 'directories')
    if (hidden.size > 0) throw new AppError('MEETING_ENDED')
  }
  if (call.invite_opened_at === null && !isSameAccount(caller.account, call.recipient_wallet_address))
    await Bookings.updateOne(
      { _id: call._id, invite_opened_at: null },
      { $set: { invite_opened_at: new Date(node.now()) } },
    )
  return call
}

/** Cancels a call permanently and withdraws its payment. A cancelled call is returned as it is. */
async function cancelCall(
  context: Context,
  _id: string,
  token: string | undefined,
  reason: string | null,
): Promise<StoredBooking> {
  const { account } = context.caller
  const now = context.node.now()
  const call = await Bookings.findOne({ _id }).lean<StoredBooking>()
  const isParty = account !== null && call?.parties.includes(account)
  const hasToken = call !== null && token === call.invite_token
  if (!call || !(isParty || hasToken)) throw new AppError('CALL_NOT_FOUND')
  if (!isParty && call.scheduler_wallet_address !== null)
    throw new AppError('ACCESS_DENIED', { message: 'Only its host and who booked it cancel this call' })
  if (call.status === 'cancelled') return call
  if (callStatusOf(call, now) === 'completed') throw new AppError('CALL_OVER')
  await refuseCallText(context.node, account, { notes: reason })
  const cancelled = await cancelledNow(context.node, call, isParty ? account : null, reason)
  if (cancelled) await announceCancelled(context.node, cancelled, requesterOf(context))
  return cancelled ?? (await Bookings.findOne({ _id }).lean<StoredBooking>()) ?? call
}

/** Withdraws the payment and cancels the call; null if somebody else cancelled it. */
async function cancelledNow(
  node: Node,
  call: StoredBooking,
  by: string | null,
  cancel_reason: string | null,
): Promise<StoredBooking | null> {
  await planFollowUp(node, call._id)
  const updated_at = new Date(node.now())
  const cancelled = { status: 'cancelled', cancelled_by: by, cancel_reason, updated_at, ...noticeDue(node) } as const
  const isUncharged = isHeldCall(call) && (await withdrawPayment(call.payment_id ?? '')) === 'verifying'
  return Bookings.findOneAndUpdate(
    { _id: call._id, status: { $ne: 'cancelled' } },
    isUncharged ? { $set: { ...cancelled, payment_status: null }, $unset: { payment_id: '' } } : { $set: cancelled },
    { returnDocument: 'after' },
  ).lean<StoredBooking>()
}

type Invite = InputOf<typeof contract.invite>

/** Sends the invitation of a future call for its host. */
async function sendCallInvitation(
  context: Context,
  { scheduledCallId, callId, recipientEmail, schedulerEmail }: Invite,
): Promise<EmailedTo[]> {
  const { account } = signedIn(context)
  const call = await Bookings.findOne({ _id: scheduledCallId ?? callId ?? '' }).lean<StoredBooking>()
  if (!call?.parties.includes(account)) throw new AppError('CALL_NOT_FOUND')
  if (!isSameAccount(call.recipient_wallet_address, account))
    throw new AppError('FORBIDDEN', { message: 'Only the host of a call invites to it' })
  if (isHeldCall(call)) throw new AppError('FORBIDDEN', { message: 'This call is not paid for yet' })
  if (call.status === 'cancelled' || callStatusOf(call, context.node.now()) === 'completed')
    throw new AppError('CALL_OVER')
  return sendInvitation(context, call, { guest: schedulerEmail ?? null, host: recipientEmail ?? null })
}
