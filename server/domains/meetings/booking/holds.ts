import type { NewCall } from '#server/domains/meetings/scheduling/diary'
import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import { exactScheme } from '#server/domains/payments/payments/exact'
import { paymentLease } from '#server/domains/payments/payments/lease'
import { Payments, type StoredPayment } from '#server/domains/payments/payments/model'
import { withdrawPayment } from '#server/domains/payments/payments/settle'
import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/every'
import { newId } from '#server/kernel/ids'
import { takeLease, withLease } from '#server/kernel/lease'
import { centsOf } from '#shared/api/payment-networks'
import { announceBooked, announceUnbooked, tellParties, toBeTold } from './announce.ts'

const lookMilliseconds = 1_000
const atOnce = 20

/** What this service is owed of a price: 1 %, rounded up; in cents. */
const feeOf = (cents: number): number => Math.ceil(cents / 100)

/** The call of a payment, held or booked; null where there is none. */
export const callOf = ({ _id }: StoredPayment): Promise<StoredBooking | null> =>
  Bookings.findOne({ payment_id: _id }).lean<StoredBooking>()

/** Whether the time of a call is held until it is known to be paid for. */
export const isHeld = ({ payment_status }: StoredBooking): boolean => payment_status === 'pending'

/** A call as it is held for a payment. Of less than the price where that was lower when it was signed. */
export function heldFor(call: NewCall, price: number, { _id, value }: StoredPayment): NewCall {
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

/**
 * Books the call that is held for a payment which was settled; the one that was booked with it before, and null where there is none. One that was
 * cancelled while it was paid for stays so, and says that it is paid.
 */
export async function bookHeld(node: Node, payment: StoredPayment): Promise<StoredBooking | null> {
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
    { $set: { ...paid, ...toBeTold(node), status: 'confirmed' } },
    { returnDocument: 'after' },
  ).lean<StoredBooking>()
  if (booked) await announceBooked(node, booked, booked.booker)
  else await Bookings.updateOne(held, { $set: paid })
  return booked ?? callOf(payment)
}

/**
 * Frees the time that is held for a payment by which nothing was charged. The record stays for its number, and is nobody's; that of a call
 * which somebody has cancelled stays theirs.
 */
export async function letGo(node: Node, payment_id: string): Promise<void> {
  const held = { payment_id, payment_status: 'pending' } as const
  const free = { payment_status: null, updated_at: new Date(node.now()) } as const
  const $unset = { payment_id: '' } as const
  await Bookings.updateOne(
    { ...held, status: 'pending' },
    { $set: { ...free, status: 'cancelled', parties: [] }, $unset },
  )
  await Bookings.updateOne({ ...held, status: 'cancelled' }, { $set: free, $unset })
}

/**
 * Frees the time that is held for a payment of which nobody can tell whether it was charged. It is not asked for any more, unless it is sent
 * again for another time of this host. The record is theirs alone who paid, and they are told.
 */
async function giveUp(node: Node, held: StoredBooking, payment: StoredPayment): Promise<void> {
  const { _id, recipient_wallet_address: host, parties } = held
  // It has become known meanwhile.
  if ((await withdrawPayment(payment._id)) !== 'unknown') return
  const ended = {
    status: 'cancelled',
    payment_status: null,
    payment_usable_until: exactScheme(node).usableUntil(payment),
    parties: parties.filter((party) => party !== host),
    updated_at: new Date(node.now()),
    ...toBeTold(node),
  } as const
  const unbooked = await Bookings.findOneAndUpdate(
    { _id, payment_id: payment._id, payment_status: 'pending', status: 'pending' },
    { $set: ended, $unset: { payment_id: '' } },
    { returnDocument: 'after' },
  ).lean<StoredBooking>()
  if (!unbooked) return
  tellParties(node, { ...unbooked, parties })
  await announceUnbooked(node, unbooked)
}

/** Books what is held as soon as it is known to be paid for, and frees what never will be known to be: also after a crash. */
export function keepHolds(node: Node): () => void {
  let last = ''
  async function look(): Promise<void> {
    const held = await Bookings.find({ payment_status: 'pending', _id: { $gt: last } })
      .sort({ _id: 1 })
      .limit(atOnce)
      .lean<StoredBooking[]>()
    last = held.length === atOnce ? (held.at(-1)?._id ?? '') : ''
    await Promise.all(held.map(end))
  }
  async function end(held: StoredBooking): Promise<void> {
    const { payment_id = '', status } = held
    const payment = await Payments.findOne({ _id: payment_id }).lean<StoredPayment>()
    if (payment?.state === 'unknown')
      return status === 'pending' && exactScheme(node).isLongOver(payment) ? giveUp(node, held, payment) : undefined
    if (payment?.state === 'settled') return tellBooked(await bookHeld(node, payment))
    if (payment?.state !== 'verifying') return letGo(node, payment_id)
    const mine = await takeLease(paymentLease, node, { _id: payment_id, state: 'verifying' })
    if (mine) await withLease(paymentLease, node, mine, () => letGo(node, payment_id))
  }
  function tellBooked(booked: StoredBooking | null): void {
    if (booked) tellParties(node, booked)
  }
  return every(node, lookMilliseconds, look, 'calls that are paid for were not booked')
}
