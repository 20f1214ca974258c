import { createHash } from 'node:crypto'
import { bookableSettings } from '#server/domains/meetings/scheduling/bookable'
import { type NewCall, refuseTaken, spanOf, writeCall } from '#server/domains/meetings/scheduling/diary'
import { busyTimes, hour, isOffered } from '#server/domains/meetings/scheduling/free-times'
import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import { isZone } from '#server/domains/meetings/scheduling/open-time'
import { isFree } from '#server/domains/meetings/scheduling/slots'
import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { accountByEmail } from '#server/domains/people/accounts/emails'
import { friendsAmong } from '#server/domains/people/friends/pairs'
import type { Context, Node } from '#server/kernel/context'
import type { booking as contract } from '#shared/api/booking'
import type { SchedulingSettings } from '#shared/api/scheduling'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { InputOf } from '#shared/kit/contract'
import { announceBooked, toBeTold } from './announce.ts'
import { isHeld } from './holds.ts'
import { type Kind, kindOf } from './kinds.ts'
import { askerOf } from './letters.ts'
import { type Booker, newCall } from './new-call.ts'
import { bookedWith, bookOnceSettled, bookPaid } from './pay.ts'
import { nameOfAccount } from './shown.ts'
import { refuseWords } from './words.ts'

const minute = 60_000
const daySeconds = 86_400
/**
 * Free calls that one may have booked with one host and that are still to come, and all together who are no friends of the host; and those
 * booked from one address in a day.
 */
const most = { ahead: 3, strangers: 30, withHost: 6, fromAddress: 20 }

type Given = InputOf<typeof contract.schedule>

/** Books a call; the one that stands already where this was asked before. */
export async function book(context: Context, given: Given): Promise<StoredBooking> {
  const { node } = context
  const { recipientAddress: host, timezone = 'UTC' } = given
  const booker = await bookerOf(context, given)
  const _id = idOf(context, given, booker)
  const before = await bookedBefore(node, _id, given, booker)
  if (before) return sameAsAsked(isHeld(before) ? await bookOnceSettled(node, before) : before, given)
  if (!isZone(timezone)) throw new AppError('VALIDATION_ERROR', { message: 'Unknown timezone' })
  const settings = await bookableSettings(host)
  await refuseBooker(booker, host)
  const kind = kindOf(settings, given.isPaid ?? false)
  await refuseTime(context, settings, kind, given)
  await refuseWords(node, booker.account, given)
  const call = newCall(_id, kind.duration, booker, { ...given, host }, new Date(node.now()))
  const buffer = settings.scheduling_buffer_minutes * minute
  // Before anything is asked for it, or counted.
  await refuseTaken(call, buffer)
  await refuseBusy(context, settings, call, buffer)
  const { price } = kind
  if (price === 0) await refuseTooMany(context, host)
  if (price > 0) {
    const payment = { settings, price, header: given.paymentHeader || undefined }
    const hold = (held: NewCall) => writeCall(held, { buffer, ahead: null })
    return sameAsAsked(await bookPaid(context, call, payment, hold), given)
  }
  const free = { ...call, ...toBeTold(node), of_stranger: !(await isFriend(booker, host)) }
  const booked = await writeCall(free, { buffer, ahead: most.ahead, strangers: most.strangers })
  if (booked._id === _id) await announceBooked(node, booked, askerOf(context))
  return sameAsAsked(booked, given)
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

/** What a guest books with a key has an id made of it, by which a repeat finds it; who is signed in has that of the kernel. */
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

/**
 * What was booked by the same key, or with the same payment. The proof of a payment can be read on its chain, so that it says for an hour
 * alone that a guest is the one who booked.
 */
async function bookedBefore(
  node: Node,
  _id: string,
  { recipientAddress, paymentHeader }: Given,
  { account, id }: Booker,
): Promise<StoredBooking | null> {
  const call = await Bookings.findOne({ _id }).lean<StoredBooking>()
  if (call || paymentHeader === undefined) return call
  const paid = await bookedWith(node, recipientAddress, id, paymentHeader)
  if (paid && !isHeld(paid) && account === null && node.now() - paid.created_at.getTime() > hour)
    throw new AppError('INVALID_PAYMENT', { details: { message: 'This payment was used before' } })
  return paid
}

function sameAsAsked(call: StoredBooking, { scheduledAt }: Given): StoredBooking {
  if (call.scheduled_at.getTime() === Date.parse(scheduledAt)) return call
  throw call.payment_id === undefined
    ? new AppError('CONFLICT', { message: 'This key was used for another request' })
    : new AppError('INVALID_PAYMENT', { details: { message: 'This payment was used for another call' } })
}

/** A guest is known by their address, where an account has verified it. */
async function refuseBooker({ account, id }: Booker, host: string): Promise<void> {
  if (isSameAccount(account, host))
    throw new AppError('VALIDATION_ERROR', { message: 'Nobody books a call with themself' })
  const known = account ?? (await accountByEmail(id))?._id
  if (known !== undefined && (await areBlocked(known, host)))
    throw new AppError('BLOCKED', { message: 'You cannot book this user' })
}

/** The address that a guest gives says nothing: anybody can type it. */
const isFriend = async ({ account }: Booker, host: string): Promise<boolean> =>
  account !== null && (await friendsAmong(host, [account])).length > 0

/** Refuses a time that the host does not offer, before anything is asked of others. */
async function refuseTime(
  { node }: Context,
  settings: SchedulingSettings,
  { duration }: Kind,
  { recipientAddress: host, scheduledAt, durationMinutes = duration }: Given,
): Promise<void> {
  if (durationMinutes !== duration)
    throw new AppError('VALIDATION_ERROR', { message: `durationMinutes: this call takes ${duration} minutes` })
  const span = spanOf({ scheduled_at: new Date(scheduledAt), duration_minutes: duration })
  const { scheduling_advance_notice_hours: notice } = settings
  if (span.start < node.now() + notice * hour)
    throw new AppError('VALIDATION_ERROR', { message: `scheduledAt: ${notice} hours of notice are needed` })
  if (!(await isOffered(node, host, settings, span.start, duration)))
    throw new AppError('VALIDATION_ERROR', { message: 'scheduledAt: this time is not offered' })
}

/** Refuses a call whose time, with the buffer around it, is not free in the calendar of its host, which is asked for it. */
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
  if (!isFree(span, buffer, busy)) throw new AppError('SLOT_TAKEN', { details: { source: 'calendar' } })
}

/** Free calls are few from one address, whoever is said to book them, so that nobody fills a calendar. */
async function refuseTooMany({ node: { limits }, caller: { ip } }: Context, host: string): Promise<void> {
  const allowed =
    (await limits.guard('bookings-with', `${ip} ${host}`, most.withHost, daySeconds)) &&
    (await limits.guard('bookings-from', ip, most.fromAddress, daySeconds))
  if (!allowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: daySeconds })
}
