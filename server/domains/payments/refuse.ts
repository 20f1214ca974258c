import type { PaymentCode, StoredPayment } from '#server/domains/receipts/model'
import type { Wanted } from '#server/domains/receipts/networks'
import type { Context, Node } from '#server/kernel/context'
import type { PaymentRefusal } from '#server/ports/facilitator/port'
import { AppError } from '#shared/errors'
import { paymentRequired, requiredHeaders, requirementOf } from './requirement.ts'
import { isOver, usableUntil } from './stored-proof.ts'

const texts: Readonly<Record<PaymentCode, string>> = {
  INVALID_PAYMENT: 'The payment is not valid, or it was used before',
  WRONG_NETWORK: 'The payment is for another network',
  INSUFFICIENT_PAYMENT: 'The payment is too small, or the payer has too little',
  PAYMENT_EXPIRED: 'The payment has expired',
  X402_PAYMENT_FAILED: 'The payment could not be settled. Nothing was charged.',
}

export const codes: Readonly<Record<PaymentRefusal | 'failed', PaymentCode>> = {
  funds: 'INSUFFICIENT_PAYMENT',
  expired: 'PAYMENT_EXPIRED',
  network: 'WRONG_NETWORK',
  invalid: 'INVALID_PAYMENT',
  failed: 'X402_PAYMENT_FAILED',
}

/** The 402 that says what is to be paid, and, with a code, why what was offered is not taken. */
export function wantsPayment(context: Pick<Context, 'http'>, wanted: Wanted, code: PaymentCode | null): AppError {
  const requirement = requirementOf(wanted)
  const error = code ?? 'PAYMENT_REQUIRED'
  const refusal = new AppError(error, {
    details: { ...paymentRequired(requirement), message: code === null ? wanted.description : texts[code] },
  })
  for (const [name, value] of Object.entries(requiredHeaders(requirement, refusal.message)))
    context.http?.setHeader(name, value)
  return refusal
}

/** No 402: by one, clients pay another time by themselves. */
export const offeredOtherwise = (): AppError =>
  new AppError('INVALID_PAYMENT', {
    status: 409,
    details: { message: 'This payment was sent for something else before, and is good for that alone' },
  })

const askAgainSeconds = 2

const overText =
  'It is not known whether this payment was charged, and it cannot be charged any more. Look in the wallet before you pay another time.'

/** It may have been charged: to be asked for, and not to be paid again before it is over. */
export function pending(node: Node, payment: StoredPayment): AppError {
  const { _id: id, state } = payment
  const url = `${node.settings.publicUrl}/api/public/payments/${id}`
  const is_over = isOver(node, payment)
  return new AppError('PAYMENT_PENDING', {
    ...(is_over && { message: overText }),
    retryAfter: askAgainSeconds,
    details: { payment: { id, state, url, usable_until: usableUntil(node, payment).toISOString(), is_over } },
  })
}

/** Somebody asks with the same payment at this moment. */
export const inProgress = ({ _id: id, state }: StoredPayment): AppError =>
  new AppError('CONFLICT', {
    message: 'This payment is being handled. Ask again with the same payment for the answer.',
    retryAfter: 1,
    details: { payment: { id, state } },
  })
