import { Schema } from 'mongoose'
import type { Hex } from 'viem'
import { moment, optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { PaymentNetwork } from '#shared/api/payments/payment-networks'
import type { paymentStates } from '#shared/api/payments/payments'

export type PaymentState = (typeof paymentStates)[number]

/** Why a payment is refused. */
export type PaymentCode =
  | 'INVALID_PAYMENT'
  | 'WRONG_NETWORK'
  | 'INSUFFICIENT_PAYMENT'
  | 'PAYMENT_EXPIRED'
  | 'X402_PAYMENT_FAILED'

/** Records of money never expire. */
export const neverExpires = new Date('9999-01-01T00:00:00Z')
/** A payment that was not settled is stored for so long. */
export const refusedMilliseconds = 86_400_000

/** A payment and its progress. */
export interface StoredPayment {
  _id: string
  network: PaymentNetwork
  payer: Hex
  nonce: Hex
  agent_id: string
  pay_to: Hex
  /** What the payer signed, in the smallest unit. */
  value: string
  /** Hashes of the proof and of the purchase: the same nonce with another of these is refused. */
  proof_hash: string
  question_hash: string
  /** Sealed, as its readers could carry the payment out. */
  proof: string
  /** Until when it can be carried out; absent in payments of older versions. */
  usable_until?: Date
  /** The purchase as the facilitator sees it. */
  resource: string
  description: string
  session_id: string
  /** `unknown` from the request of a settlement until its outcome is known: `stageOf` tells the rest. */
  state: PaymentState
  /** Why it was rejected. */
  code: PaymentCode | null
  transaction: string | null
  simulated: boolean
  /** The seller withdrew the purchase: no settlement is requested again. */
  withdrawn?: boolean
  /** Settlements that were requested. */
  attempts: number
  /** Answers that were begun for it; the last of them is `run_id`. */
  answers: number
  run_id: string | null
  message_id: string | null
  /** The lease: its holder, and its end. */
  holder: string
  leased_until: Date
  /** When a settlement is requested again, while the outcome is unknown. */
  due_at: Date
  /** When the record is removed, where no settlement is under way: the same payment is a new one then. */
  expires_at: Date
  created_at: Date
  settled_at: Date | null
}

const count = { type: Number, required: true } as const

export const Payments = defineModel<StoredPayment>(
  'Payments',
  {
    shares: [
      { owner: 'payer', becomes: 'keep', reason: 'Receipts are kept as tax law asks.', days: 3653 },
      {
        owner: 'pay_to',
        becomes: 'keep',
        reason: 'Receipts are kept as tax law asks.',
        days: 3653,
        hides: ['payer', 'session_id', 'run_id', 'message_id'],
      },
    ],
    archive: 'payments',
    secret: ['proof', 'proof_hash', 'question_hash', 'nonce', 'holder'],
    stays: ['value', 'description', 'resource', 'code', 'session_id'],
  },
  new Schema<StoredPayment>(
    {
      _id: required,
      network: required,
      payer: required,
      nonce: required,
      agent_id: required,
      pay_to: required,
      value: required,
      proof_hash: required,
      question_hash: required,
      proof: required,
      usable_until: { type: Date },
      resource: required,
      description: { type: String, default: '' },
      session_id: required,
      state: required,
      code: optional,
      transaction: optional,
      simulated: { type: Boolean, required: true },
      withdrawn: { type: Boolean },
      attempts: count,
      answers: count,
      run_id: optional,
      message_id: optional,
      holder: required,
      leased_until: moment,
      due_at: moment,
      expires_at: moment,
      created_at: moment,
      settled_at: { type: Date, default: null },
    },
    { collection: 'payments', versionKey: false, minimize: false },
  )
    .index({ network: 1, payer: 1, nonce: 1 }, { unique: true })
    .index({ payer: 1 })
    .index({ pay_to: 1 })
    .index({ state: 1, due_at: 1 })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 })
    .index({ agent_id: 1, state: 1, _id: 1 })
    .index({ agent_id: 1, state: 1, settled_at: 1, _id: 1 }),
)

/** The sum of an agent's (`_id`) payments up to one of them, in the order of their settlement. */
export interface StoredEarnings {
  _id: string
  settled_at: Date | null
  payment_id: string
  payments: number
  /** In the smallest unit; `simulated` is the part of simulated payments. */
  units: string
  simulated: string
}

export const Earnings = defineModel<StoredEarnings>(
  'Earnings',
  {
    shares: [
      { owner: '_id', becomes: 'keep', reason: 'Receipts are kept as tax law asks.', days: 3653, through: 'Agents' },
    ],
    archive: 'payments',
  },
  new Schema<StoredEarnings>(
    {
      _id: required,
      settled_at: { type: Date, default: null },
      payment_id: required,
      payments: count,
      units: required,
      simulated: required,
    },
    { collection: 'earnings', versionKey: false, minimize: false },
  ),
)
