import type { Hex } from 'viem'
import { neverExpires, type PaymentCode, refusedMilliseconds, type StoredPayment } from './model.ts'

/** `offered`: no settlement was requested. `settling`: only the first can have charged it. `doubtful`: the first had no answer. The rest is final. */
export type PaymentStage = 'offered' | 'settling' | 'doubtful' | 'settled' | 'failed'

export interface PaymentEvent {
  type:
    | 'requested' // A settlement is about to be requested.
    | 'refused' // The facilitator does not settle the payment.
    | 'settled'
    | 'used' // The nonce was used before, and no chain can be asked by what.
    | 'used traceably' // The nonce was used before, and a chain can be asked by what.
    | 'withdrawn' // The seller withdrew the purchase before this settlement was requested.
    | 'cancelled' // The chain shows that the payer cancelled the nonce, or used it for another transfer.
    | 'expired' // The chain is past the end of the payment and shows no transfer.
  /** Why the payment fails, if it does. */
  code?: PaymentCode
  transaction?: Hex | null
}

interface StageRules {
  /** The stage after an event; an event that is not named changes nothing. */
  on: { readonly [Type in PaymentEvent['type']]?: PaymentStage }
  /** The answer to the payer while another request works on the payment. */
  busy: 'conflict' | 'pending'
  /** The answer to the payer when this request has worked on it. */
  idle: 'refusal' | 'pending' | 'service'
}

const stages: Readonly<Record<PaymentStage, StageRules>> = {
  offered: {
    on: { requested: 'settling', refused: 'failed' },
    busy: 'conflict',
    idle: 'refusal',
  },
  // No settlement of ours came before: a used nonce was used for another purchase.
  settling: {
    on: {
      requested: 'doubtful',
      settled: 'settled',
      refused: 'failed',
      used: 'failed',
      'used traceably': 'failed',
      withdrawn: 'failed',
    },
    busy: 'conflict',
    idle: 'pending',
  },
  // A settlement before this one may have charged the payment: no refusal ends it.
  doubtful: {
    on: { requested: 'doubtful', settled: 'settled', used: 'settled', cancelled: 'failed', expired: 'failed' },
    busy: 'pending',
    idle: 'pending',
  },
  settled: { on: {}, busy: 'conflict', idle: 'service' },
  failed: { on: {}, busy: 'conflict', idle: 'refusal' },
}

const soonMilliseconds = 1_000
export const longestWaitMilliseconds = 300_000

type Progress = Pick<StoredPayment, 'state' | 'attempts'>

export function paymentStageOf({ state, attempts }: Progress): PaymentStage {
  if (state === 'unknown') return attempts > 1 ? 'doubtful' : 'settling'
  return ({ verifying: 'offered', settled: 'settled', rejected: 'failed' } as const)[state]
}

export const stageRulesOf = (payment: Progress): StageRules => stages[paymentStageOf(payment)]

/** The change by an event; null if there is none. */
export function paymentChangeBy(
  payment: Progress,
  { type, code = 'INVALID_PAYMENT', transaction = null }: PaymentEvent,
  now: number,
  simulated: boolean,
): Partial<StoredPayment> | null {
  const next = stageRulesOf(payment).on[type]
  if (next === undefined) return null
  if (next === 'settled') return { state: 'settled', transaction, simulated, settled_at: new Date(now) }
  if (next === 'failed') return { state: 'rejected', code, expires_at: new Date(now + refusedMilliseconds) }
  const wait = Math.min(longestWaitMilliseconds, soonMilliseconds * 2 ** payment.attempts)
  return { state: 'unknown', attempts: payment.attempts + 1, due_at: new Date(now + wait), expires_at: neverExpires }
}

/** Whether the payment cannot have been charged: it is new, was never settled, or failed. */
export const isUnchargedPayment = (payment: Progress | null): boolean =>
  !payment || stageRulesOf(payment).idle === 'refusal'

/** Whether a settlement of the payment may be requested now. */
export const isSettlementDue = (payment: Progress & Pick<StoredPayment, 'due_at'>, now: number): boolean =>
  paymentStageOf(payment) === 'offered' || ('requested' in stageRulesOf(payment).on && payment.due_at.getTime() <= now)
