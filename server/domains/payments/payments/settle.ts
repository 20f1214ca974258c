import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/work/every'
import { takeLease } from '#server/kernel/work/lease'
import { exactScheme } from './exact.ts'
import { type HeldPayment, paymentLease, withPayment } from './lease.ts'
import { type PaymentState, Payments, type StoredPayment } from './model.ts'
import { isSettlementDue, type PaymentEvent, paymentChangeBy, paymentStageOf } from './states.ts'

const lookMilliseconds = 1_000
const atOnce = 10

/** A reservation before the settlement, so that the purchase cannot be refused afterwards. */
export interface Reservation {
  /** Throws if it is not available: then nothing is charged. */
  hold(payment: StoredPayment): Promise<unknown>
  /** Releases the reservation of a failed payment. */
  release(payment: StoredPayment): Promise<unknown>
}

/** Verifies and settles a payment as far as it is due, and returns its new state. */
export async function chargePayment(node: Node, held: HeldPayment, reservation?: Reservation): Promise<StoredPayment> {
  if (paymentStageOf(held.payment) === 'offered') {
    const code = await exactScheme(node).verify(held.payment)
    if (code) await record(node, held, { type: 'refused', code })
    node.reached('payment-verified')
    if (!code) await reservation?.hold(held.payment)
  }
  const payment = isSettlementDue(held.payment, node.now()) ? await settle(node, held) : held.payment
  if (paymentStageOf(payment) === 'failed') await reservation?.release(payment)
  return payment
}

async function settle(node: Node, held: HeldPayment): Promise<StoredPayment> {
  // Stored before the request: a payment that is found so may have been charged.
  const payment = await record(node, held, { type: 'requested' })
  node.reached('payment-asked')
  return record(node, held, await outcomeOf(node, payment))
}

/** The outcome of a requested settlement; null if it is unknown. */
async function outcomeOf(node: Node, payment: StoredPayment): Promise<PaymentEvent | null> {
  const scheme = exactScheme(node)
  const isDoubtful = paymentStageOf(payment) === 'doubtful'
  const before = isDoubtful ? await scheme.find(payment) : null
  if (before) return before
  if (await Payments.exists({ _id: payment._id, withdrawn: true }))
    return { type: 'withdrawn', code: 'X402_PAYMENT_FAILED' }
  const answer = await scheme.settle(payment)
  node.reached('payment-answered')
  const isKnown = !isDoubtful || answer === null || answer.type === 'settled'
  return isKnown ? answer : ((await scheme.find(payment)) ?? answer)
}

/** Stores the change of an event, and returns the payment after it. */
async function record(node: Node, held: HeldPayment, event: PaymentEvent | null): Promise<StoredPayment> {
  const isSimulated = node.services.facilitator?.isSimulated ?? false
  const change = event && paymentChangeBy(held.payment, event, node.now(), isSimulated)
  if (change) await held.change(change)
  if (change?.state === 'settled') node.reached('payment-settled')
  return held.payment
}

/** Withdraws a payment of unknown outcome and returns its state: `verifying` is uncharged, `unknown` may be charged. Null if the outcome is known. */
export async function withdrawPayment(_id: string): Promise<PaymentState | null> {
  const payment = await Payments.findOneAndUpdate(
    { _id, state: { $in: ['verifying', 'unknown'] } },
    { $set: { withdrawn: true } },
    { returnDocument: 'after' },
  ).lean<StoredPayment>()
  return payment?.state ?? null
}

/** Cancels the withdrawal of a payment, which its payer has sent for another purchase. */
export const restorePayment = ({ _id }: StoredPayment) =>
  Payments.updateOne({ _id, state: 'unknown', withdrawn: true }, { $unset: { withdrawn: '' } })

/** Settles or finds payments of unknown outcome, also after a crash, at growing intervals. */
export function resolvePayments(node: Node): () => void {
  async function resolveDue(): Promise<void> {
    const due = await Payments.find({ state: 'unknown', due_at: { $lte: new Date(node.now()) } })
      .sort({ due_at: 1 })
      .limit(atOnce)
      .lean<StoredPayment[]>()
    await Promise.all(due.map(resolve))
  }
  async function resolve({ _id }: StoredPayment): Promise<void> {
    const payment = await takeLease(paymentLease, node, { _id, state: 'unknown' })
    if (payment) await withPayment(node, payment, (held) => settle(node, held))
  }
  return every(node, lookMilliseconds, resolveDue, 'payments were not resolved')
}
