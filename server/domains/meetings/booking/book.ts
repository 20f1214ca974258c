import { createHash } from 'node:crypto'
import { isHex } from 'viem'
import { z } from 'zod'
import { busyTimes, hour, isOfferedTime } from '#server/domains/meetings/scheduling/free-times'
import { type NewCall, refuseTakenTime, spanOf, writeCall } from '#server/domains/meetings/scheduling/host-schedule'
import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import { isFreeSpan, isZone } from '#server/domains/meetings/scheduling/open-time'
import { bookableSettings } from '#server/domains/meetings/scheduling/own-settings'
import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { type PaymentCode, Payments, type StoredPayment } from '#server/domains/payments/payments/model'
import {
  busyPaymentError,
  paymentRequiredError,
  pendingPaymentError,
  purchaseHash,
  repeatedPayment,
  sentPayment,
  whenPaid,
} from '#server/domains/payments/payments/pay'
import { facilitatorFor, networkNamed, type PaymentOffer } from '#server/domains/payments/payments/scheme'
import { isUnchargedPayment } from '#server/domains/payments/payments/states'
import { settledHeaders } from '#server/domains/payments/payments/x402'
import { accountByEmail } from '#server/domains/people/accounts/emails'
import { refuseDisplayName } from '#server/domains/people/accounts/profile-changes'
import { friendsAmong } from '#server/domains/people/friends/pairs'
import { refuseNames } from '#server/domains/rooms/room-state/judge-draft'
import type { Context, Node } from '#server/kernel/context'
import { job } from '#server/kernel/work/jobs'
import { GLOBAL } from '#server/log/types'
import type { booking as contract } from '#shared/api/meetings/booking'
import type { SchedulingSettings } from '#shared/api/meetings/scheduling'
import { priceText, unitsOf } from '#shared/api/payments/payment-networks'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { InputOf } from '#shared/kit/contract'
import { requesterOf } from './emails.ts'
import {
  type Booker,
  bookHeldCall,
  callOfPayment,
  heldCallFor,
  isHeldCall,
  newCall,
  releaseCall,
  resolveHold,
} from './holds.ts'
import { announceBooked, noticeDue, retryNotice } from './notices.ts'
import { nameOfAccount } from './render.ts'

/** The call is stored within so long after its job. */
const storedMilliseconds = 60_000
const pauseMilliseconds = (age: number) => Math.min(300_000, Math.max(1_000, age / 20))

const open = { $or: [{ payment_status: 'pending' as const }, { tell_at: { $exists: true } }] }

/** Resolves the hold of a call, and sends its notice, until neither is left. */
export const callFollowUp = job({
  kind: 'booking.follow-up',
  payload: z.object({ call: z.string(), at: z.number() }),
  async run({ call: _id, at }, { node }) {
    const call = await Bookings.findOne({ _id, ...open }).lean<StoredBooking>()
    const age = node.now() - at
    if (!call) return age < storedMilliseconds ? at + storedMilliseconds : undefined
    await retryNotice(node, call)
      .then(() => (isHeldCall(call) ? resolveHold(node, call) : undefined))
      .catch((error: unknown) => node.logger.warn({ error, call: _id }, 'a call was not followed up'))
    return node.now() + pauseMilliseconds(age)
  },
})

/** Stored before the call is held, booked or cancelled, so that no crash comes between. */
export const planFollowUp = ({ jobs, now }: Node, call: string, id?: string): Promise<void> =>
  jobs.add(callFollowUp, { call, at: now() }, id, now() + pauseMilliseconds(0))

/** Older versions stored no job for a call. */
export async function followUpOlderCalls(node: Node): Promise<void> {
  for (const { _id } of await Bookings.find(open, { _id: 1 }).lean<StoredBooking[]>())
    await planFollowUp(node, _id, `${callFollowUp.kind} ${_id}`)
}

const payMinute = 60_000
/** A settled payment keeps its price for so long. */
const priceKeptMilliseconds = 86_400_000

/** A payment buys one booking by one person, at any time of one host. Others cannot use its proof. */
const purchaseOf = (host: string, booker: string, header: string) => ({
  seller: `call:${host}`,
  hash: purchaseHash('call', host, booker),
  header,
})

/** The call that is booked with a payment, or held for it, if any. */
async function bookedWithPayment(
  node: Node,
  host: string,
  booker: string,
  header: string,
): Promise<StoredBooking | null> {
  const { stored, differs } = await sentPayment(node, purchaseOf(host, booker, header))
  return stored && differs === null ? callOfPayment(stored) : null
}

/** Books a held call, whatever the host's settings are by now. Throws while its payment is pending. */
async function bookSettledCall(node: Node, call: StoredBooking): Promise<StoredBooking> {
  const payment = await Payments.findOne({ _id: call.payment_id ?? '' }).lean<StoredPayment>()
  const booked = payment?.state === 'settled' ? await bookHeldCall(node, payment) : null
  if (booked) return booked
  if (payment) throw payment.state === 'unknown' ? pendingPaymentError(node, payment) : busyPaymentError(payment)
  throw new AppError('SERVICE_UNAVAILABLE', { retryAfter: 1 })
}

interface Payment {
  settings: SchedulingSettings
  /** In cents. */
  price: number
  /** The proof of x402, if one was sent. */
  header: string | undefined
}

/** Holds the time by `write`, then charges the call. Throws 402 unpaid; if the time was taken, the payment stays usable for this host. */
async function bookPaidCall(
  context: Context,
  call: NewCall,
  { settings, price, header }: Payment,
  write: (call: NewCall) => Promise<StoredBooking>,
): Promise<StoredBooking> {
  const { node } = context
  const { recipient_wallet_address: host, booker } = call
  const offer = callOfferOf(node, settings, price)
  const { isSimulated } = facilitatorFor(node, offer.facts)
  const hold = (payment: StoredPayment) => write(heldCallFor(call, price, payment)).catch(withUnusedPayment(payment))
  /** An earlier version settled payments without a hold; they pay for the current request. */
  async function bookUnheld(payment: StoredPayment): Promise<StoredBooking> {
    const fault = offerMismatch(payment, offer, isSimulated, node.now())
    if (fault) throw paymentRequiredError(context, offer, fault)
    const held = await hold(payment)
    return (await bookHeldCall(node, payment)) ?? held
  }
  try {
    if (header === undefined) throw paymentRequiredError(context, offer, null)
    const sent = await sentPayment(node, purchaseOf(host, booker, header))
    if (isUnchargedPayment(repeatedPayment(context, offer, sent)))
      await refuseTakenTime(call, settings.scheduling_buffer_minutes * payMinute)
    const release = ({ _id }: StoredPayment) => releaseCall(node, _id)
    const book = async ({ payment }: { payment: StoredPayment }) => {
      const booked = (await bookHeldCall(node, payment)) ?? (await bookUnheld(payment))
      for (const [name, value] of Object.entries(settledHeaders(offer.facts, payment)))
        context.http?.setHeader(name, value)
      return booked
    }
    return await whenPaid(context, offer, sent, book, { hold, release })
  } catch (error) {
    throw withPrice(error, offer, price)
  }
}

/** Why an earlier payment does not pay the current offer; null if it does. */
function offerMismatch(
  { network, simulated, value, settled_at }: StoredPayment,
  { facts, amount }: PaymentOffer,
  isSimulated: boolean,
  now: number,
): PaymentCode | null {
  if (network !== facts.network || simulated !== isSimulated) return 'WRONG_NETWORK'
  const keepsPrice = settled_at !== null && now - settled_at.getTime() <= priceKeptMilliseconds
  return keepsPrice || BigInt(value) >= BigInt(amount) ? null : 'INSUFFICIENT_PAYMENT'
}

function callOfferOf({ settings: { publicUrl } }: Node, settings: SchedulingSettings, price: number): PaymentOffer {
  const { scheduling_network: network, scheduling_wallet_address: payTo } = settings
  const facts = networkNamed(network)
  if (!facts || !isHex(payTo))
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'Calls on this network cannot be paid for here' })
  const description = `A call of ${settings.scheduling_paid_duration_minutes} minutes for ${priceText(price)}`
  return { facts, amount: unitsOf(price), payTo, resource: `${publicUrl}/api/scheduling/schedule`, description }
}

/** Adds to a taken time that the payment is still unused. */
const withUnusedPayment =
  ({ _id: id, state }: StoredPayment) =>
  (error: unknown): never => {
    if (!(error instanceof AppError && error.code === 'SLOT_TAKEN')) throw error
    const message = 'This time was taken meanwhile. Book another with the same payment.'
    throw new AppError('SLOT_TAKEN', { message, details: { ...error.details, payment: { id, state } } })
  }

/** Adds the price in fields of its own to a 402. */
function withPrice(error: unknown, { facts, payTo }: PaymentOffer, priceCents: number): unknown {
  if (!(error instanceof AppError && error.status === 402)) return error
  const price = { priceCents, network: facts.network, payToAddress: payTo }
  const why = error.code === 'PAYMENT_REQUIRED' ? {} : { details: { message: error.details?.message } }
  const message = error.code === 'PAYMENT_REQUIRED' ? 'Payment required' : error.message
  return new AppError(error.code, { message, details: { ...error.details, ...price, ...why } })
}

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

interface CallText {
  title?: string | undefined
  notes?: string | null | undefined
  guestName?: string | undefined
}

/** Refuses texts of a call that imitate somebody, or have a word that is blocked everywhere. */
export async function refuseCallText(
  node: Node,
  account: string | null,
  { title, notes, guestName }: CallText,
): Promise<void> {
  if (guestName !== undefined) await refuseDisplayName('guestName', account ?? '', guestName)
  const texts = { name: title, notes: notes ?? undefined, guestName }
  await node.log.ask(GLOBAL, (view) => refuseNames(node, view, account ?? '', texts))
}
