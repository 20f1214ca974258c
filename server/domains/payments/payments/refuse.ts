import type { Context, Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { exactScheme } from './exact.ts'
import type { PaymentCode, StoredPayment } from './model.ts'
import type { PaymentOffer } from './scheme.ts'
import { paymentRequired, requiredHeaders, requirementOf } from './x402.ts'

const texts: Readonly<Record<PaymentCode, string>> = {
  INVALID_PAYMENT: 'The payment is not valid, or it was used before',
  WRONG_NETWORK: 'The payment is for another network',
  INSUFFICIENT_PAYMENT: 'The payment is too small, or the payer has too little',
  PAYMENT_EXPIRED: 'The payment has expired',
  X402_PAYMENT_FAILED: 'The payment could not be settled. Nothing was charged.',
}

/** The 402 with the price and, with a code, the reason why the payment is refused. */
export function paymentRequiredError(
  context: Pick<Context, 'http'>,
  wanted: PaymentOffer,
  code: PaymentCode | null,
): AppError {
  const requirement = requirementOf(wanted)
  const error = code ?? 'PAYMENT_REQUIRED'
  const refusal = new AppError(error, {
    details: { ...paymentRequired(requirement), message: code === null ? wanted.description : texts[code] },
  })
  for (const [name, value] of Object.entries(requiredHeaders(requirement, refusal.message)))
    context.http?.setHeader(name, value)
  return refusal
}

/** The status is not 402, as clients pay a second time after one. */
export const otherPurchaseError = (): AppError =>
  new AppError('INVALID_PAYMENT', {
    status: 409,
    details: { message: 'This payment was sent for something else before, and is good for that alone' },
  })

const askAgainSeconds = 2

const overText =
  'It is not known whether this payment was charged, and it cannot be charged any more. Look in the wallet before you pay another time.'

/** The payment may have been charged: the payer waits, and pays a second time only when it is over. */
export function pendingPaymentError(node: Node, payment: StoredPayment): AppError {
  const { _id: id, state } = payment
  const url = `${node.settings.publicUrl}/api/public/payments/${id}`
  const scheme = exactScheme(node)
  const is_over = scheme.isOver(payment)
  return new AppError('PAYMENT_PENDING', {
    ...(is_over && { message: overText }),
    retryAfter: askAgainSeconds,
    details: { payment: { id, state, url, usable_until: scheme.usableUntil(payment).toISOString(), is_over } },
  })
}

/** Another request works on the payment. */
export const busyPaymentError = ({ _id: id, state }: StoredPayment): AppError =>
  new AppError('CONFLICT', {
    message: 'This payment is being handled. Ask again with the same payment for the answer.',
    retryAfter: 1,
    details: { payment: { id, state } },
  })
