import { isHex } from 'viem'
import { wantsPayment } from '#server/domains/payments/refuse'
import { settledHeaders, type Wanted } from '#server/domains/payments/requirement'
import { facilitatorFor } from '#server/domains/payments/settle'
import { paidBefore, purchaseHash, whenPaid } from '#server/domains/payments/take'
import type { PaymentCode, StoredPayment } from '#server/domains/receipts/model'
import { type NewCall, refuseTaken } from '#server/domains/scheduling/diary'
import { Calls, type StoredCall } from '#server/domains/scheduling/model'
import type { Context, Node } from '#server/kernel/context'
import { centsOf, type NetworkFacts, networks, priceText, unitsOf } from '#shared/api/payment-networks'
import type { SchedulingSettings } from '#shared/api/scheduling'
import { AppError } from '#shared/errors'

const minute = 60_000
/** So long a payment that was settled is good for the price of then. */
const priceKeptMilliseconds = 86_400_000

/** What this service is owed of a price: 1 %, rounded up; in cents. */
const feeOf = (cents: number): number => Math.ceil(cents / 100)

/** A payment is for one booking by one person, at any time of one host: whoever else has the proof books nothing with it. */
const hashFor = (host: string, booker: string): string => purchaseHash('call', host, booker)

const callOf = ({ _id }: StoredPayment): Promise<StoredCall | null> =>
  Calls.findOne({ payment_id: _id }).lean<StoredCall>()

/** What was booked with a payment before; null where nothing was. */
export async function bookedWith(host: string, booker: string, header: string): Promise<StoredCall | null> {
  const payment = await paidBefore({ hash: hashFor(host, booker), payment: header })
  return payment && callOf(payment)
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
 * Has a call paid for, and writes it by `write` once it is. Throws 402 with what it costs where it is not. Where its time is taken
 * while it is paid for, the payment stays good for another time of this host, as long as it is of what is wanted there.
 */
export async function bookPaid(
  context: Context,
  call: NewCall,
  { settings, price, header }: Payment,
  write: (call: NewCall) => Promise<StoredCall>,
): Promise<StoredCall> {
  const { recipient_wallet_address: host, booker } = call
  const wanted = wantedFor(context.node, settings, price)
  const { isSimulated } = facilitatorFor(context.node, wanted.facts)
  try {
    if (header === undefined) throw wantsPayment(context, wanted, null)
    const purchase = {
      seller: `call:${host}`,
      hash: hashFor(host, booker),
      payment: header,
      refuseUnserved: () => refuseTaken(call, settings.scheduling_buffer_minutes * minute),
    }
    return await whenPaid(context, wanted, purchase, {
      along: callOf,
      async serve({ payment }) {
        const before = await callOf(payment)
        if (before) return before
        const fault = faultOf(payment, wanted, isSimulated, context.node.now())
        if (fault) throw wantsPayment(context, wanted, fault)
        const booked = await write(withPayment(call, price, payment)).catch(keeping(payment))
        const { payer, transaction } = payment
        for (const [name, value] of Object.entries(settledHeaders(wanted.facts, { payer, transaction })))
          context.http?.setHeader(name, value)
        return booked
      },
    })
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
  const facts = Object.values<NetworkFacts>(networks).find((one) => one.network === network)
  if (!facts || !isHex(payTo))
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'Calls on this network cannot be paid for here' })
  const description = `A call of ${settings.scheduling_paid_duration_minutes} minutes for ${priceText(price)}`
  return { facts, amount: unitsOf(price), payTo, resource: `${publicUrl}/api/scheduling/schedule`, description }
}

function withPayment(call: NewCall, price: number, { _id, transaction, value }: StoredPayment): NewCall {
  // Less than the price where that was lower when it was paid.
  const paid = Math.min(price, centsOf(value))
  return {
    ...call,
    is_paid: true,
    payment_required: true,
    payment_amount_cents: paid,
    payment_transaction_hash: transaction,
    payment_status: 'paid',
    payment_id: _id,
    platform_fee_cents: feeOf(paid),
    platform_fee_status: 'pending',
  }
}

/** Who has paid, and finds the time taken, is told that the payment is theirs still. */
const keeping =
  ({ _id: id, state }: StoredPayment) =>
  (error: unknown): never => {
    if (!(error instanceof AppError && error.code === 'SLOT_TAKEN')) throw error
    const message = 'This time was taken while it was paid for. Book another with the same payment.'
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
