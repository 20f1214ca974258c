import { Payments, type StoredPayment } from '#server/domains/receipts/model'
import { centsOf, unitsPaid } from '#shared/api/payment-networks'
import type { Receipt } from '#shared/api/payments'
import { AppError } from '#shared/errors'

/** A payment is good for one answer; so many are begun for it at most where they fail. */
export const mostAnswers = 5

export const paidOf = ({
  _id,
  state,
  network,
  value,
  transaction,
  simulated,
  answers,
  created_at,
  settled_at,
}: StoredPayment) => ({
  id: _id,
  state,
  network,
  amount: value,
  transaction,
  simulated,
  answers_left: mostAnswers - answers,
  created_at: created_at.toISOString(),
  settled_at: settled_at?.toISOString() ?? null,
})

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
    ...paidOf(payment),
    payer: payment.payer,
    cents: centsOf(String(unitsPaid(payment.value))),
    run_id: payment.run_id,
    message_id: payment.message_id,
  }))
}
