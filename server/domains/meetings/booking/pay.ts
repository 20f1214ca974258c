import { isHex } from 'viem'
import { type NewCall, refuseTakenTime } from '#server/domains/meetings/scheduling/host-schedule'
import type { StoredBooking } from '#server/domains/meetings/scheduling/model'
import { type PaymentCode, Payments, type StoredPayment } from '#server/domains/payments/payments/model'
import { purchaseHash, repeatedPayment, sentPayment, whenPaid } from '#server/domains/payments/payments/pay'
import { busyPaymentError, paymentRequiredError, pendingPaymentError } from '#server/domains/payments/payments/refuse'
import { facilitatorFor, networkNamed, type PaymentOffer } from '#server/domains/payments/payments/scheme'
import { isUnchargedPayment } from '#server/domains/payments/payments/states'
import { settledHeaders } from '#server/domains/payments/payments/x402'
import type { Context, Node } from '#server/kernel/context'
import type { SchedulingSettings } from '#shared/api/meetings/scheduling'
import { priceText, unitsOf } from '#shared/api/payments/payment-networks'
import { AppError } from '#shared/errors'
import { bookHeldCall, callOfPayment, heldCallFor, releaseCall } from './holds.ts'

const minute = 60_000
/** A settled payment keeps its price for so long. */
const priceKeptMilliseconds = 86_400_000

/** A payment buys one booking by one person, at any time of one host. Others cannot use its proof. */
const purchaseOf = (host: string, booker: string, header: string) => ({
  seller: `call:${host}`,
  hash: purchaseHash('call', host, booker),
  header,
})

/** The call that is booked with a payment, or held for it, if any. */
export async function bookedWithPayment(
  node: Node,
  host: string,
  booker: string,
  header: string,
): Promise<StoredBooking | null> {
  const { stored, differs } = await sentPayment(node, purchaseOf(host, booker, header))
  return stored && differs === null ? callOfPayment(stored) : null
}

/** Books a held call, whatever the host's settings are by now. Throws while its payment is pending. */
export async function bookSettledCall(node: Node, call: StoredBooking): Promise<StoredBooking> {
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
export async function bookPaidCall(
  context: Context,
  call: NewCall,
  { settings, price, header }: Payment,
  write: (call: NewCall) => Promise<StoredBooking>,
): Promise<StoredBooking> {
  const { node } = context
  const { recipient_wallet_address: host, booker } = call
  const wanted = callOfferOf(node, settings, price)
  const { isSimulated } = facilitatorFor(node, wanted.facts)
  const hold = (payment: StoredPayment) => write(heldCallFor(call, price, payment)).catch(withUnusedPayment(payment))
  /** An earlier version settled payments without a hold; they pay for the current request. */
  async function bookUnheld(payment: StoredPayment): Promise<StoredBooking> {
    const fault = offerMismatch(payment, wanted, isSimulated, node.now())
    if (fault) throw paymentRequiredError(context, wanted, fault)
    const held = await hold(payment)
    return (await bookHeldCall(node, payment)) ?? held
  }
  try {
    if (header === undefined) throw paymentRequiredError(context, wanted, null)
    const sent = await sentPayment(node, purchaseOf(host, booker, header))
    if (isUnchargedPayment(repeatedPayment(context, wanted, sent)))
      await refuseTakenTime(call, settings.scheduling_buffer_minutes * minute)
    const release = ({ _id }: StoredPayment) => releaseCall(node, _id)
    const book = async ({ payment }: { payment: StoredPayment }) => {
      const booked = (await bookHeldCall(node, payment)) ?? (await bookUnheld(payment))
      for (const [name, value] of Object.entries(settledHeaders(wanted.facts, payment)))
        context.http?.setHeader(name, value)
      return booked
    }
    return await whenPaid(context, wanted, sent, book, { hold, release })
  } catch (error) {
    throw withPrice(error, wanted, price)
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
