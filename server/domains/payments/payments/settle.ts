import { z } from 'zod'
import type { Node } from '#server/kernel/context'
import { job } from '#server/kernel/work/jobs'
import { type Lease, takeLease, withLease } from '#server/kernel/work/lease'
import { centsOf, unitsPaid } from '#shared/api/payments/payment-networks'
import type { Receipt } from '#shared/api/payments/payments'
import { AppError } from '#shared/errors'
import { exactScheme } from './exact.ts'
import { Earnings, type PaymentState, Payments, type StoredEarnings, type StoredPayment } from './model.ts'
import { isSettlementDue, type PaymentEvent, paymentChangeBy, paymentStageOf } from './states.ts'

/** A payment under its lease: only its holder changes it. */
export interface HeldPayment {
  readonly payment: StoredPayment
  /** Throws where the lease was lost. */
  change(change: Partial<StoredPayment>): Promise<void>
}

export const paymentLease: Lease<StoredPayment> = {
  model: Payments,
  holder: 'holder',
  held_until: 'leased_until',
  milliseconds: 6_000,
}

/** Works on a payment under the lease that was taken on it. */
export const withPayment = <Done>(
  node: Node,
  payment: StoredPayment,
  work: (held: HeldPayment) => Promise<Done>,
): Promise<Done> =>
  withLease(paymentLease, node, payment, (lease) => {
    const held = {
      payment,
      async change(change: Partial<StoredPayment>) {
        if (!(await lease.change({ $set: change }))) throw new Error('The lease of a payment was lost')
        held.payment = { ...held.payment, ...change }
      },
    }
    return work(held)
  })

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

/** A payment buys one answer; after failures, this many attempts. */
export const maxAnswers = 5

export function paymentSummaryOf(payment: StoredPayment) {
  const { _id: id, state, network, value: amount, transaction, simulated, answers, created_at, settled_at } = payment
  return {
    ...{ id, state, network, amount, transaction, simulated },
    answers_left: maxAnswers - answers,
    created_at: created_at.toISOString(),
    settled_at: settled_at?.toISOString() ?? null,
  }
}

export async function receiptsOf(agent: string, limit: number, before: string | undefined): Promise<Receipt[]> {
  if (before !== undefined && !(await Payments.exists({ _id: before, agent_id: agent })))
    throw new AppError('INVALID_PARAMETER', { message: 'before: no payment for this agent' })
  const found = await Payments.find({
    agent_id: agent,
    state: { $in: ['settled', 'unknown'] },
    ...(before === undefined ? {} : { _id: { $lt: before } }),
  })
    .sort({ _id: -1 })
    .limit(limit)
    .lean<StoredPayment[]>()
  return found.map((payment) => ({
    ...paymentSummaryOf(payment),
    payer: payment.payer,
    cents: centsOf(String(unitsPaid(payment.value))),
    run_id: payment.run_id,
    message_id: payment.message_id,
  }))
}

/** Payments are read in pages. A partial page is added to the stored sum at each request. */
const pageSize = 200
/** A payment is stored within seconds of its settlement, so older pages are complete. */
const completeAfterMilliseconds = 600_000

type Sum = Omit<StoredEarnings, '_id'>
type Settled = Pick<StoredPayment, '_id' | 'value' | 'simulated' | 'settled_at'>

/** The earnings of an agent in cents. */
export async function earningsOf(node: Pick<Node, 'now'>, agent: string) {
  const completeUntil = node.now() - completeAfterMilliseconds
  const stored = await Earnings.findOne({ _id: agent }).lean<StoredEarnings>()
  let sum: Sum = stored ?? { settled_at: null, payment_id: '', payments: 0, units: '0', simulated: '0' }
  for (;;) {
    const page = await settledAfter(agent, sum)
    sum = page.reduce(plus, sum)
    if (page.length < pageSize) break
    if (sum.settled_at !== null && sum.settled_at.getTime() <= completeUntil) await keep(agent, sum)
  }
  const { payments: paidMessages, units, simulated } = sum
  return { paidMessages, totalEarnings: centsOf(units), simulatedEarnings: centsOf(simulated) }
}

/** In the order of settlement, as a payment may be settled late. */
function settledAfter(agent: string, { settled_at, payment_id }: Sum): Promise<Settled[]> {
  const later = settled_at && {
    settled_at: { $gte: settled_at },
    $or: [{ settled_at: { $gt: settled_at } }, { _id: { $gt: payment_id } }],
  }
  return Payments.find({ agent_id: agent, state: 'settled', ...later })
    .select({ value: 1, simulated: 1, settled_at: 1 })
    .sort({ settled_at: 1, _id: 1 })
    .limit(pageSize)
    .lean<Settled[]>()
}

function plus(sum: Sum, { _id, value, simulated, settled_at }: Settled): Sum {
  const paid = unitsPaid(value)
  return {
    settled_at,
    payment_id: _id,
    payments: sum.payments + 1,
    units: String(BigInt(sum.units) + paid),
    simulated: String(BigInt(sum.simulated) + (simulated ? paid : 0n)),
  }
}

/** Simultaneous writers each store a true sum: up to the payment that it names. */
const keep = (agent: string, { settled_at, payment_id, payments, units, simulated }: Sum) =>
  Earnings.updateOne({ _id: agent }, { $set: { settled_at, payment_id, payments, units, simulated } }, { upsert: true })
