import type { Node } from '#server/kernel/context'
import { centsOf, unitsPaid } from '#shared/api/payments/payment-networks'
import type { Receipt } from '#shared/api/payments/payments'
import { AppError } from '#shared/errors'
import { Earnings, Payments, type StoredEarnings, type StoredPayment } from './model.ts'

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
