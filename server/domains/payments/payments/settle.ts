import { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { job } from '#server/kernel/work/jobs'
import { takeLease } from '#server/kernel/work/lease'
import { exactScheme } from './exact.ts'
import { type HeldPayment, paymentLease, withPayment } from './lease.ts'
import { type PaymentState, Payments, type StoredPayment } from './model.ts'
import { isSettlementDue, type PaymentEvent, paymentChangeBy, paymentStageOf } from './states.ts'

const pauseMilliseconds = 1_000

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
    if (!code) await planResolution(node, held.payment._id)
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

/** Stored before the first request, so that no crash comes between. */
const planResolution = ({ jobs, now }: Node, payment: string, id?: string): Promise<void> =>
  jobs.add(paymentResolution, { payment }, id, now() + pauseMilliseconds)

/** Settles or finds a payment at growing intervals, until its outcome is known. */
export const paymentResolution = job({
  kind: 'payments.resolve',
  payload: z.object({ payment: z.string() }),
  async run({ payment: _id }, { node }): Promise<number | undefined> {
    const now = new Date(node.now())
    const payment = await takeLease(paymentLease, node, { _id, state: 'unknown', due_at: { $lte: now } })
    const failed = (error: unknown) => node.logger.warn({ error }, 'a payment was not resolved')
    if (payment) await withPayment(node, payment, (held) => settle(node, held)).catch(failed)
    // While it is verified, its settlement may be about to be requested.
    const open = [{ state: 'unknown' }, { state: 'verifying', leased_until: { $gt: now } }] as const
    const left = await Payments.findOne({ _id, $or: [...open] }).lean<StoredPayment>()
    return left ? Math.max(left.due_at.getTime(), node.now() + pauseMilliseconds) : undefined
  },
})

/** Older versions stored no job for a payment. */
export async function resolveOlderPayments(node: Node): Promise<void> {
  for (const { _id } of await Payments.find({ state: 'unknown' }, { _id: 1 }).lean<StoredPayment[]>())
    await planResolution(node, _id, `${paymentResolution.kind} ${_id}`)
}
