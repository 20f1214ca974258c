import { randomUUID } from 'node:crypto'
import type { Context, Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { readDuplicate } from '#server/kernel/store/read-back'
import { newLease, takeLease } from '#server/kernel/work/lease'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'
import { exactScheme } from './exact.ts'
import { type PaymentCode, Payments, refusedMilliseconds, type StoredPayment } from './model.ts'
import { hashOf, type PaymentOffer, type SignedPayment } from './scheme.ts'
import {
  chargePayment,
  type HeldPayment,
  paymentLease,
  type Reservation,
  restorePayment,
  withPayment,
} from './settle.ts'
import { paymentStageOf, stageRulesOf } from './states.ts'
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
  offer: PaymentOffer,
  code: PaymentCode | null,
): AppError {
  const requirement = requirementOf(offer)
  const error = code ?? 'PAYMENT_REQUIRED'
  const refusal = new AppError(error, {
    details: { ...paymentRequired(requirement), message: code === null ? offer.description : texts[code] },
  })
  for (const [name, value] of Object.entries(requiredHeaders(requirement, refusal.message)))
    context.http?.setHeader(name, value)
  return refusal
}

/** The status is not 402, as clients pay a second time after one. */
const otherPurchaseError = (): AppError =>
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

/** A purchase and the header that pays for it. */
interface Purchase {
  /** The id of an agent, or another name for what is no agent. */
  seller: string
  /** By `purchaseHash`: the same payment for any other purchase is refused. */
  hash: string
  sessionId?: string | undefined
  header: string
}

/** A purchase with the payment of its header, and with the record that is stored for its payer and nonce. */
interface SentPayment extends Purchase {
  signed: SignedPayment | null
  stored: StoredPayment | null
  /** How it differs from what is stored: it is another payment with the same nonce, or for another purchase. */
  differs: 'payment' | 'purchase' | null
}

/** The hash of all that makes a purchase another one. */
export const purchaseHash = hashOf

export async function sentPayment(node: Node, purchase: Purchase): Promise<SentPayment> {
  const signed = exactScheme(node).read(purchase.header)
  if (!signed) return { ...purchase, signed, stored: null, differs: null }
  const { network, payer, nonce, proof_hash } = signed
  const stored = await Payments.findOne({ network, payer, nonce }).lean<StoredPayment>()
  if (!stored) return { ...purchase, signed, stored, differs: null }
  const differs =
    stored.proof_hash !== proof_hash ? 'payment' : stored.question_hash !== purchase.hash ? 'purchase' : null
  return { ...purchase, signed, stored, differs }
}

/** The stored payment that was sent again; null if it is new. Throws 402 or 409 if it does not pay for this purchase. */
export function repeatedPayment(context: Context, offer: PaymentOffer, sent: SentPayment): StoredPayment | null {
  const { stored, differs } = sent
  if (differs === 'payment') throw paymentRequiredError(context, offer, 'INVALID_PAYMENT')
  if (stored && paymentStageOf(stored) === 'failed') throw paymentRequiredError(context, offer, stored.code)
  if (differs === 'purchase') throw otherPurchaseError()
  return stored
}

/** Verifies and settles a payment under its lease, then serves the purchase. Throws 402 unpaid, 202 pending, 409 busy. */
export async function whenPaid<Served>(
  context: Context,
  offer: PaymentOffer,
  sent: SentPayment,
  serve: (held: HeldPayment) => Promise<Served>,
  reservation?: Reservation,
): Promise<Served> {
  const { node } = context
  const repeated = repeatedPayment(context, offer, sent)
  const taken = repeated ? await takePayment(node, sent, repeated) : await storePayment(context, offer, sent)
  return withPayment(node, taken, async (held) => {
    if (repeated) await judgeAgain(context, offer, sent, taken)
    node.reached('payment-reserved')
    const payment = await chargePayment(node, held, reservation)
    const { idle } = stageRulesOf(payment)
    if (idle === 'pending') throw pendingPaymentError(node, payment)
    if (idle === 'refusal') throw paymentRequiredError(context, offer, payment.code)
    return serve(held)
  })
}

/** Leases a payment that was sent again, and seals it anew, as its key may be gone. */
async function takePayment(node: Node, { signed }: SentPayment, stored: StoredPayment): Promise<StoredPayment> {
  const sealed = signed ? { proof: signed.seal() } : {}
  const mine = await takeLease(paymentLease, node, { _id: stored._id }, { $set: sealed })
  if (!mine)
    throw stageRulesOf(stored).busy === 'pending' ? pendingPaymentError(node, stored) : busyPaymentError(stored)
  return mine
}

/** Judges a repeated payment that is not charged yet, or was withdrawn. Throws 402 if it is no longer valid. */
async function judgeAgain(context: Context, offer: PaymentOffer, { header }: SentPayment, payment: StoredPayment) {
  const isOffered = paymentStageOf(payment) === 'offered'
  if (!isOffered && !payment.withdrawn) return
  const scheme = exactScheme(context.node)
  const code = await scheme.judge(header, offer)
  if (isOffered && code) throw paymentRequiredError(context, offer, code)
  // Expired: it cannot be charged, but an earlier attempt may still report success.
  if (!isOffered && (!code || scheme.isOver(payment))) await restorePayment(payment)
}

/** Stores a new payment that is valid by itself; of simultaneous requests one stores it. */
async function storePayment(context: Context, offer: PaymentOffer, sent: SentPayment): Promise<StoredPayment> {
  const { node } = context
  const code = await exactScheme(node).judge(sent.header, offer)
  if (code || !sent.signed) throw paymentRequiredError(context, offer, code ?? 'INVALID_PAYMENT')
  const payment = { ...newPayment(node, offer, sent, sent.signed), ...newLease(paymentLease, node) } as StoredPayment
  try {
    await Payments.create(payment)
    return payment
  } catch (error) {
    if (!isDuplicate(error)) throw error
    const { network, payer, nonce } = payment
    const first = await readDuplicate(() => Payments.findOne({ network, payer, nonce }).lean<StoredPayment>())
    // A write that timed out may have been made again: then the payment is ours.
    if (first?.holder === payment.holder) return payment
    throw first ? busyPaymentError(first) : new AppError('SERVICE_UNAVAILABLE', { retryAfter: 1 })
  }
}

const newPayment = (
  node: Node,
  { payTo, resource, description }: PaymentOffer,
  { seller, hash, sessionId }: Purchase,
  { seal, ...signed }: SignedPayment,
): Omit<StoredPayment, 'holder' | 'leased_until'> => ({
  _id: newId(),
  ...signed,
  ...{ agent_id: seller, question_hash: hash, pay_to: payTo, resource, description },
  proof: seal(),
  session_id: sessionId ?? randomUUID(),
  state: 'verifying',
  ...{ code: null, transaction: null, simulated: false, attempts: 0, answers: 0, run_id: null, message_id: null },
  due_at: new Date(node.now()),
  expires_at: new Date(node.now() + refusedMilliseconds),
  created_at: new Date(node.now()),
  settled_at: null,
})
