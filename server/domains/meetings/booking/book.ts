import { createHash } from 'node:crypto'
import { busyTimes, hour, isOfferedTime } from '#server/domains/meetings/scheduling/free-times'
import { type NewCall, refuseTakenTime, spanOf, writeCall } from '#server/domains/meetings/scheduling/host-schedule'
import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import { isZone } from '#server/domains/meetings/scheduling/open-time'
import { bookableSettings } from '#server/domains/meetings/scheduling/own-settings'
import { isFreeSpan } from '#server/domains/meetings/scheduling/slots'
import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { accountByEmail } from '#server/domains/people/accounts/emails'
import { friendsAmong } from '#server/domains/people/friends/pairs'
import type { Context, Node } from '#server/kernel/context'
import type { booking as contract } from '#shared/api/meetings/booking'
import type { SchedulingSettings } from '#shared/api/meetings/scheduling'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { InputOf } from '#shared/kit/contract'
import { requesterOf } from './emails.ts'
import { planFollowUp } from './follow-up.ts'
import { isHeldCall } from './holds.ts'
import { type Booker, newCall } from './new-call.ts'
import { announceBooked, noticeDue } from './notices.ts'
import { bookedWithPayment, bookPaidCall, bookSettledCall } from './pay.ts'
import { refuseCallText } from './refuse-text.ts'
import { nameOfAccount } from './render.ts'

const minute = 60_000
const daySeconds = 86_400
/** Limits of open calls: of one booker, of all strangers, of a booker with a host. `fromAddress` counts a day's calls. */
const mostCalls = { ahead: 3, strangers: 30, withHost: 6, fromAddress: 20 }

type Given = InputOf<typeof contract.schedule>

/** Books a call, or returns the call of an earlier equal request. */
export async function bookCall(context: Context, given: Given): Promise<StoredBooking> {
  const { node } = context
  const { recipientAddress: host, timezone = 'UTC' } = given
  const booker = await bookerOf(context, given)
  const _id = idOf(context, given, booker)
  const before = await earlierBooking(node, _id, given, booker)
  if (before) return sameRequest(isHeldCall(before) ? await bookSettledCall(node, before) : before, given)
  if (!isZone(timezone)) throw new AppError('VALIDATION_ERROR', { message: 'Unknown timezone' })
  const settings = await bookableSettings(host)
  await refuseBooker(booker, host)
  const kind = callKindOf(settings, given.isPaid ?? false)
  await refuseTime(context, settings, kind, given)
  await refuseCallText(node, booker.account, given)
  const call = newCall(_id, kind.duration, booker, { ...given, host }, new Date(node.now()))
  const buffer = settings.scheduling_buffer_minutes * minute
  // Refused before any payment or count.
  await refuseTakenTime(call, buffer)
  await refuseBusy(context, settings, call, buffer)
  const write = (planned: NewCall, rule: Parameters<typeof writeCall>[1]) =>
    planFollowUp(node, planned._id).then(() => writeCall(planned, rule))
  const { price } = kind
  if (price === 0) await refuseTooMany(context, host)
  if (price > 0) {
    const payment = { settings, price, header: given.paymentHeader || undefined }
    const hold = (held: NewCall) => write(held, { buffer, ahead: null })
    return sameRequest(await bookPaidCall(context, call, payment, hold), given)
  }
  const free = { ...call, ...noticeDue(node), of_stranger: !(await isFriend(booker, host)) }
  const booked = await write(free, { buffer, ahead: mostCalls.ahead, strangers: mostCalls.strangers })
  if (booked._id === _id) await announceBooked(node, booked, requesterOf(context))
  return sameRequest(booked, given)
}

async function bookerOf(
  { node, caller }: Context,
  { schedulerAddress, guestName, guestEmail }: Given,
): Promise<Booker> {
  const { account } = caller
  if (account !== null)
    return { account, id: account, name: await nameOfAccount(node, account), email: guestEmail ?? null }
  if (schedulerAddress !== undefined) throw new AppError('UNAUTHORIZED')
  if (guestName === undefined || guestEmail === undefined)
    throw new AppError('VALIDATION_ERROR', { message: 'guestName and guestEmail are required without a session' })
  return { account, id: guestEmail, name: guestName, email: guestEmail }
}

/** A guest's call has an id made of the key, so that a repeat finds it. */
const idOf = (
  { creationId }: Context,
  { idempotency_key, recipientAddress }: Given,
  { account, id }: Booker,
): string =>
  account === null && idempotency_key !== undefined
    ? createHash('sha256')
        .update(JSON.stringify([recipientAddress, id, idempotency_key]))
        .digest('base64url')
    : creationId

/** The call of the same key or payment. Chains show proofs, so a guest's proof identifies them for an hour only. */
async function earlierBooking(
  node: Node,
  _id: string,
  { recipientAddress, paymentHeader }: Given,
  { account, id }: Booker,
): Promise<StoredBooking | null> {
  const call = await Bookings.findOne({ _id }).lean<StoredBooking>()
  if (call || paymentHeader === undefined) return call
  const paid = await bookedWithPayment(node, recipientAddress, id, paymentHeader)
  if (paid && !isHeldCall(paid) && account === null && node.now() - paid.created_at.getTime() > hour)
    throw new AppError('INVALID_PAYMENT', { details: { message: 'This payment was used before' } })
  return paid
}

function sameRequest(call: StoredBooking, { scheduledAt }: Given): StoredBooking {
  if (call.scheduled_at.getTime() === Date.parse(scheduledAt)) return call
  throw call.payment_id === undefined
    ? new AppError('CONFLICT', { message: 'This key was used for another request' })
    : new AppError('INVALID_PAYMENT', { details: { message: 'This payment was used for another call' } })
}

/** Refuses blocked bookers. A guest is known if an account has verified the address. */
async function refuseBooker({ account, id }: Booker, host: string): Promise<void> {
  if (isSameAccount(account, host))
    throw new AppError('VALIDATION_ERROR', { message: 'Nobody books a call with themself' })
  const known = account ?? (await accountByEmail(id))?._id
  if (known !== undefined && (await areBlocked(known, host)))
    throw new AppError('BLOCKED', { message: 'You cannot book this user' })
}

/** A guest's address proves nothing: anybody can type it. */
const isFriend = async ({ account }: Booker, host: string): Promise<boolean> =>
  account !== null && (await friendsAmong(host, [account])).length > 0

/** Refuses a time that the host does not offer, before others are asked. */
async function refuseTime(
  { node }: Context,
  settings: SchedulingSettings,
  { duration }: CallKind,
  { recipientAddress: host, scheduledAt, durationMinutes = duration }: Given,
): Promise<void> {
  if (durationMinutes !== duration)
    throw new AppError('VALIDATION_ERROR', { message: `durationMinutes: this call takes ${duration} minutes` })
  const span = spanOf({ scheduled_at: new Date(scheduledAt), duration_minutes: duration })
  const { scheduling_advance_notice_hours: notice } = settings
  if (span.start < node.now() + notice * hour)
    throw new AppError('VALIDATION_ERROR', { message: `scheduledAt: ${notice} hours of notice are needed` })
  if (!(await isOfferedTime(node, host, settings, span.start, duration)))
    throw new AppError('VALIDATION_ERROR', { message: 'scheduledAt: this time is not offered' })
}

/** Refuses a time that is not free, with its buffer, in the host's calendar. */
async function refuseBusy(
  { node, caller: { ip } }: Context,
  settings: SchedulingSettings,
  call: NewCall,
  buffer: number,
): Promise<void> {
  const span = spanOf(call)
  const busy = await busyTimes(node, call.recipient_wallet_address, settings, span, ip)
  if (busy === null)
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'The calendar of this user does not answer. Try again.' })
  if (!isFreeSpan(span, buffer, busy)) throw new AppError('SLOT_TAKEN', { details: { source: 'calendar' } })
}

/** Limits free calls per address, so that nobody fills a calendar. */
async function refuseTooMany({ node: { limits }, caller: { ip } }: Context, host: string): Promise<void> {
  const allowed =
    (await limits.guard('bookings-with', `${ip} ${host}`, mostCalls.withHost, daySeconds)) &&
    (await limits.guard('bookings-from', ip, mostCalls.fromAddress, daySeconds))
  if (!allowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: daySeconds })
}

interface CallKind {
  /** In minutes. */
  duration: number
  /** In cents; 0 for a free call. */
  price: number
}

/** The requested kind; a request for a paid call gets a free one if the host has no paid calls. */
function callKindOf(settings: SchedulingSettings, asksPaid: boolean): CallKind {
  if (asksPaid && settings.scheduling_paid_enabled)
    return {
      duration: settings.scheduling_paid_duration_minutes,
      price: settings.scheduling_price_cents,
    }
  if (!settings.scheduling_free_enabled)
    throw new AppError('SCHEDULING_DISABLED', { message: 'This user takes no free calls' })
  return { duration: settings.scheduling_free_duration_minutes, price: 0 }
}
