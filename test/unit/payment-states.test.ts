import { expect, test } from 'vitest'
import { neverExpires, type StoredPayment } from '#server/domains/payments/payments/model'
import {
  isSettlementDue,
  isUnchargedPayment,
  type PaymentEvent,
  type PaymentStage,
  paymentChangeBy,
  paymentStageOf,
  stageRulesOf,
} from '#server/domains/payments/payments/states'

const now = Date.UTC(2026, 0, 1)
const transaction = `0x${'ab'.repeat(32)}` as const

type Progress = Pick<StoredPayment, 'state' | 'attempts'>
const payments: Record<PaymentStage, Progress> = {
  offered: { state: 'verifying', attempts: 0 },
  settling: { state: 'unknown', attempts: 1 },
  doubtful: { state: 'unknown', attempts: 2 },
  settled: { state: 'settled', attempts: 1 },
  failed: { state: 'rejected', attempts: 1 },
}
const stages = Object.keys(payments) as PaymentStage[]
const events = [
  ...(['requested', 'refused', 'settled', 'used', 'used traceably', 'withdrawn', 'cancelled', 'expired'] as const),
]
/** The state that an event leads to; a dash where it changes nothing. */
const outcomeOf = (stage: PaymentStage, type: PaymentEvent['type']) =>
  paymentChangeBy(payments[stage], { type }, now, false)?.state ?? '-'

test.each(stages)('a stored payment is %s by its state and its settlements', (stage) => {
  expect(paymentStageOf(payments[stage])).toBe(stage)
})

test.each<[PaymentStage, string]>([
  // requested, refused, settled, used, used traceably, withdrawn, cancelled, expired
  ['offered', 'unknown rejected - - - - - -'],
  ['settling', 'unknown rejected settled rejected rejected rejected - -'],
  ['doubtful', 'unknown - settled settled - - rejected rejected'],
  ['settled', '- - - - - - - -'],
  ['failed', '- - - - - - - -'],
])('P22: no event takes a payment that is %s where it may not go', (stage, outcomes) => {
  expect(events.map((type) => outcomeOf(stage, type)).join(' ')).toBe(outcomes)
})

test('a request of a settlement is counted, kept for good, and due again after twice the wait, of five minutes at most', () => {
  const waits = [0, 1, 2, 8, 9, 60].map((attempts) => {
    const state = attempts === 0 ? 'verifying' : 'unknown'
    const change = paymentChangeBy({ state, attempts }, { type: 'requested' }, now, false)
    expect(change).toMatchObject({ state: 'unknown', attempts: attempts + 1, expires_at: neverExpires })
    return ((change?.due_at?.getTime() ?? 0) - now) / 1_000
  })
  expect(waits).toEqual([1, 2, 4, 256, 300, 300])
})

test('a settled payment names its transaction, its moment, and whether it was simulated', () => {
  const settled = { state: 'settled', transaction, simulated: false, settled_at: new Date(now) }
  expect(paymentChangeBy(payments.settling, { type: 'settled', transaction }, now, false)).toEqual(settled)
  expect(paymentChangeBy(payments.settling, { type: 'settled' }, now, true)).toEqual({
    ...{ ...settled, transaction: null, simulated: true },
  })
})

test('a failed payment says why, and is kept for a day', () => {
  const failed = { state: 'rejected', code: 'PAYMENT_EXPIRED', expires_at: new Date(now + 86_400_000) }
  expect(paymentChangeBy(payments.doubtful, { type: 'expired', code: 'PAYMENT_EXPIRED' }, now, false)).toEqual(failed)
  expect(paymentChangeBy(payments.doubtful, { type: 'cancelled' }, now, false)?.code).toBe('INVALID_PAYMENT')
})

test('a payment is settled at once where nobody was asked to, again when it is due, and never after its outcome is known', () => {
  const dueAt = (stage: PaymentStage, milliseconds: number) =>
    isSettlementDue({ ...payments[stage], due_at: new Date(now + milliseconds) }, now)
  expect(stages.map((stage) => dueAt(stage, 0))).toEqual([true, true, true, false, false])
  expect(stages.map((stage) => dueAt(stage, 1))).toEqual([true, false, false, false, false])
})

test('a payer waits for what may have been charged, and is served what is settled', () => {
  expect(stages.map((stage) => stageRulesOf(payments[stage]).busy)).toEqual([
    ...['conflict', 'conflict', 'pending', 'conflict', 'conflict'],
  ])
  expect(stages.map((stage) => stageRulesOf(payments[stage]).idle)).toEqual([
    ...['refusal', 'pending', 'pending', 'service', 'refusal'],
  ])
  expect(stages.map((stage) => isUnchargedPayment(payments[stage]))).toEqual([true, false, false, false, true])
  expect(isUnchargedPayment(null)).toBe(true)
})
