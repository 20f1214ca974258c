import { randomBytes } from 'node:crypto'
import type { NewCall } from '#server/domains/meetings/scheduling/host-schedule'
import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import { exactScheme } from '#server/domains/payments/payments/exact'
import { Payments, type StoredPayment } from '#server/domains/payments/payments/model'
import { paymentLease, withdrawPayment } from '#server/domains/payments/payments/settle'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { takeLease, withLease } from '#server/kernel/work/lease'
import { centsOf } from '#shared/api/payments/payment-networks'
import { announceBooked, announceUnbooked, noticeDue, notifyParties } from './notices.ts'

/** The fee of this service in cents: 1 %, rounded up. */
const feeOf = (cents: number): number => Math.ceil(cents / 100)

/** The held or booked call of a payment, if any. */
export const callOfPayment = ({ _id }: StoredPayment): Promise<StoredBooking | null> =>
  Bookings.findOne({ payment_id: _id }).lean<StoredBooking>()

/** Whether the call's time is held while its payment is pending. */
export const isHeldCall = ({ payment_status }: StoredBooking): boolean => payment_status === 'pending'

/** The held call of a payment, at the price at which it was signed. */
export function heldCallFor(call: NewCall, price: number, { _id, value }: StoredPayment): NewCall {
  const cents = Math.min(price, centsOf(value))
  return {
    ...call,
    _id: newId(),
    status: 'pending',
    payment_required: true,
    payment_amount_cents: cents,
    payment_status: 'pending',
    payment_id: _id,
    platform_fee_cents: feeOf(cents),
  }
}

/** Books the held call of a settled payment, or returns the booked one, if any. A call cancelled meanwhile stays cancelled, but is paid. */
export async function bookHeldCall(node: Node, payment: StoredPayment): Promise<StoredBooking | null> {
  const { _id: payment_id, transaction } = payment
  const held = { payment_id, payment_status: 'pending' } as const
  const paid = {
    is_paid: true,
    payment_status: 'paid',
    payment_transaction_hash: transaction,
    platform_fee_status: 'pending',
    updated_at: new Date(node.now()),
  } as const
  const booked = await Bookings.findOneAndUpdate(
    { ...held, status: 'pending' },
    { $set: { ...paid, ...noticeDue(node), status: 'confirmed' } },
    { returnDocument: 'after' },
  ).lean<StoredBooking>()
  if (booked) await announceBooked(node, booked, booked.booker)
  else await Bookings.updateOne(held, { $set: paid })
  return booked ?? callOfPayment(payment)
}

/** Releases the held time of an uncharged payment. The record keeps its number, without parties unless somebody cancelled it. */
export async function releaseCall(node: Node, payment_id: string): Promise<void> {
  const held = { payment_id, payment_status: 'pending' } as const
  const free = { payment_status: null, updated_at: new Date(node.now()) } as const
  const $unset = { payment_id: '' } as const
  await Bookings.updateOne(
    { ...held, status: 'pending' },
    { $set: { ...free, status: 'cancelled', parties: [] }, $unset },
  )
  await Bookings.updateOne({ ...held, status: 'cancelled' }, { $set: free, $unset })
}

/** Releases the held time of a doubtful payment, which is withdrawn. Only the payer keeps the record, and is notified. */
async function endDoubtfulHold(node: Node, held: StoredBooking, payment: StoredPayment): Promise<void> {
  const { _id, recipient_wallet_address: host, parties } = held
  // The outcome became known meanwhile.
  if ((await withdrawPayment(payment._id)) !== 'unknown') return
  const ended = {
    status: 'cancelled',
    payment_status: null,
    payment_usable_until: exactScheme(node).usableUntil(payment),
    parties: parties.filter((party) => party !== host),
    updated_at: new Date(node.now()),
    ...noticeDue(node),
  } as const
  const unbooked = await Bookings.findOneAndUpdate(
    { _id, payment_id: payment._id, payment_status: 'pending', status: 'pending' },
    { $set: ended, $unset: { payment_id: '' } },
    { returnDocument: 'after' },
  ).lean<StoredBooking>()
  if (!unbooked) return
  notifyParties(node, { ...unbooked, parties })
  await announceUnbooked(node, unbooked)
}

/** Books a held call if it is paid, and releases it if it will not be. */
export async function resolveHold(node: Node, { payment_id = '', ...held }: StoredBooking): Promise<void> {
  const payment = await Payments.findOne({ _id: payment_id }).lean<StoredPayment>()
  if (payment?.state === 'unknown') {
    if (held.status === 'pending' && exactScheme(node).isLongOver(payment)) await endDoubtfulHold(node, held, payment)
  } else if (payment?.state === 'settled') {
    const booked = await bookHeldCall(node, payment)
    if (booked) notifyParties(node, booked)
  } else if (payment?.state === 'verifying') {
    const mine = await takeLease(paymentLease, node, { _id: payment_id, state: 'verifying' })
    if (mine) await withLease(paymentLease, node, mine, () => releaseCall(node, payment_id))
  } else await releaseCall(node, payment_id)
}

/** A booker: an account, or a guest by name and email. */
export interface Booker {
  account: string | null
  /** The account, or the address of the guest. */
  id: string
  name: string
  /** As given for this call. */
  email: string | null
}

/** A call as its booker describes it. */
interface CallRequest {
  host: string
  scheduledAt: string
  timezone?: string | undefined
  title?: string | undefined
  notes?: string | null | undefined
  guestName?: string | undefined
  guestEmail?: string | undefined
}

/** A new call without a payment. */
export const newCall = (_id: string, minutes: number, booker: Booker, request: CallRequest, now: Date): NewCall => ({
  _id,
  scheduler_wallet_address: booker.account,
  recipient_wallet_address: request.host,
  scheduled_at: new Date(request.scheduledAt),
  duration_minutes: minutes,
  title: request.title ?? 'Scheduled Call',
  status: 'confirmed',
  is_paid: false,
  payment_required: false,
  payment_amount_cents: null,
  payment_transaction_hash: null,
  payment_status: null,
  platform_fee_cents: 0,
  platform_fee_status: 'waived',
  guest_email: request.guestEmail ?? null,
  guest_name: request.guestName ?? null,
  scheduler_email: booker.account === null ? null : booker.email,
  scheduler_name: booker.account === null ? null : booker.name,
  notes: request.notes?.trim() || null,
  timezone: request.timezone ?? 'UTC',
  invite_token: randomBytes(16).toString('hex'),
  invite_sent_at: null,
  invite_opened_at: null,
  calendar_event_id: null,
  parties: [...new Set([request.host, ...(booker.account === null ? [] : [booker.account])])],
  booker: booker.id,
  created_at: now,
  updated_at: now,
})
