import { isHex } from 'viem'
import { type NewCall, refuseTaken } from '#server/domains/meetings/scheduling/diary'
import type { StoredBooking } from '#server/domains/meetings/scheduling/model'
import { type PaymentCode, Payments, type StoredPayment } from '#server/domains/payments/payments/model'
import { purchaseHash, repeatedPayment, sentPayment, whenPaid } from '#server/domains/payments/payments/pay'
import { busyPayment, pendingPayment, wantsPayment } from '#server/domains/payments/payments/refuse'
import { facilitatorFor, networkNamed, type Wanted } from '#server/domains/payments/payments/scheme'
import { isUncharged } from '#server/domains/payments/payments/states'
import { settledHeaders } from '#server/domains/payments/payments/x402'
import type { Context, Node } from '#server/kernel/context'
import { priceText, unitsOf } from '#shared/api/payment-networks'
import type { SchedulingSettings } from '#shared/api/scheduling'
import { AppError } from '#shared/errors'
import { bookHeld, callOf, heldFor, letGo } from './holds.ts'

const minute = 60_000
/** So long a payment that was settled is good for the price of then. */
const priceKeptMilliseconds = 86_400_000

/** A payment is for one booking by one person, at any time of one host: whoever else has the proof books nothing with it. */
const purchaseOf = (host: string, booker: string, header: string) => ({
  seller: `call:${host}`,
  hash: purchaseHash('call', host, booker),
  header,
})

/** What was booked with a payment before, or is held for it; null where nothing is. */
export async function bookedWith(
  node: Node,
  host: string,
  booker: string,
  header: string,
): Promise<StoredBooking | null> {
  const { stored, differs } = await sentPayment(node, purchaseOf(host, booker, header))
  return stored && differs === null ? callOf(stored) : null
}

/** Books a call that is held for a payment, whatever its host wants by now; throws where it is not known yet whether it is paid. */
export async function bookOnceSettled(node: Node, call: StoredBooking): Promise<StoredBooking> {
  const payment = await Payments.findOne({ _id: call.payment_id ?? '' }).lean<StoredPayment>()
  const booked = payment?.state === 'settled' ? await bookHeld(node, payment) : null
  if (booked) return booked
  if (payment) throw payment.state === 'unknown' ? pendingPayment(node, payment) : busyPayment(payment)
  throw new AppError('SERVICE_UNAVAILABLE', { retryAfter: 1 })
}

/** How a call is paid for. */
interface Payment {
  settings: SchedulingSettings
  /** In cents. */
  price: number
  /** The proof of x402, where one was sent. */
  header: string | undefined
}

/**
 * Has a call paid for. Its time is held by `write` before it is, so that nothing refuses the call afterwards. Throws 402 with what it costs where
 * it is not paid. Where its time was taken first, the payment stays good for another time of this host.
 */
export async function bookPaid(
  context: Context,
  call: NewCall,
  { settings, price, header }: Payment,
  write: (call: NewCall) => Promise<StoredBooking>,
): Promise<StoredBooking> {
  const { node } = context
  const { recipient_wallet_address: host, booker } = call
  const wanted = wantedFor(node, settings, price)
  const { isSimulated } = facilitatorFor(node, wanted.facts)
  const hold = (payment: StoredPayment) => write(heldFor(call, price, payment)).catch(keeping(payment))
  /** The version before this one settled payments for which nothing is held: they are good for what is wanted now. */
  async function bookUnheld(payment: StoredPayment): Promise<StoredBooking> {
    const fault = faultOf(payment, wanted, isSimulated, node.now())
    if (fault) throw wantsPayment(context, wanted, fault)
    const held = await hold(payment)
    return (await bookHeld(node, payment)) ?? held
  }
  try {
    if (header === undefined) throw wantsPayment(context, wanted, null)
    const sent = await sentPayment(node, purchaseOf(host, booker, header))
    if (isUncharged(repeatedPayment(context, wanted, sent)))
      await refuseTaken(call, settings.scheduling_buffer_minutes * minute)
    const release = ({ _id }: StoredPayment) => letGo(node, _id)
    const book = async ({ payment }: { payment: StoredPayment }) => {
      const booked = (await bookHeld(node, payment)) ?? (await bookUnheld(payment))
      for (const [name, value] of Object.entries(settledHeaders(wanted.facts, payment)))
        context.http?.setHeader(name, value)
      return booked
    }
    return await whenPaid(context, wanted, sent, book, { hold, release })
  } catch (error) {
    throw withPrice(error, wanted, price)
  }
}

/** Why a payment that was settled, maybe long ago, is not good for what is wanted now; null where it is. */
function faultOf(
  { network, simulated, value, settled_at }: StoredPayment,
  { facts, amount }: Wanted,
  isSimulated: boolean,
  now: number,
): PaymentCode | null {
  if (network !== facts.network || simulated !== isSimulated) return 'WRONG_NETWORK'
  const keepsPrice = settled_at !== null && now - settled_at.getTime() <= priceKeptMilliseconds
  return keepsPrice || BigInt(value) >= BigInt(amount) ? null : 'INSUFFICIENT_PAYMENT'
}

function wantedFor({ settings: { publicUrl } }: Node, settings: SchedulingSettings, price: number): Wanted {
  const { scheduling_network: network, scheduling_wallet_address: payTo } = settings
  const facts = networkNamed(network)
  if (!facts || !isHex(payTo))
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'Calls on this network cannot be paid for here' })
  const description = `A call of ${settings.scheduling_paid_duration_minutes} minutes for ${priceText(price)}`
  return { facts, amount: unitsOf(price), payTo, resource: `${publicUrl}/api/scheduling/schedule`, description }
}

/** Who pays, and finds the time taken, is told that the payment is theirs still. */
const keeping =
  ({ _id: id, state }: StoredPayment) =>
  (error: unknown): never => {
    if (!(error instanceof AppError && error.code === 'SLOT_TAKEN')) throw error
    const message = 'This time was taken meanwhile. Book another with the same payment.'
    throw new AppError('SLOT_TAKEN', { message, details: { ...error.details, payment: { id, state } } })
  }

/** A 402 says the price in words of its own, too. */
function withPrice(error: unknown, { facts, payTo }: Wanted, priceCents: number): unknown {
  if (!(error instanceof AppError && error.status === 402)) return error
  const price = { priceCents, network: facts.network, payToAddress: payTo }
  const why = error.code === 'PAYMENT_REQUIRED' ? {} : { details: { message: error.details?.message } }
  const message = error.code === 'PAYMENT_REQUIRED' ? 'Payment required' : error.message
  return new AppError(error.code, { message, details: { ...error.details, ...price, ...why } })
}
