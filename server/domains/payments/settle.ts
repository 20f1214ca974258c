import {
  never,
  type PaymentCode,
  type PaymentState,
  Payments,
  refusedMilliseconds,
  type StoredPayment,
} from '#server/domains/receipts/model'
import { facilitatorOf, type Wanted } from '#server/domains/receipts/networks'
import type { Node } from '#server/kernel/context'
import type { Chain } from '#server/ports/chain/port'
import type { Facilitator, Settlement } from '#server/ports/facilitator/port'
import { type NetworkFacts, networks } from '#shared/api/payment-networks'
import { AppError } from '#shared/errors'
import type { Held } from './lease.ts'
import { codes } from './refuse.ts'
import { maxTimeoutSeconds, requirementOf } from './requirement.ts'
import { blockMilliseconds, endOf, proofOf, usableUntil } from './stored-proof.ts'

const soonMilliseconds = 1_000
const longestWaitMilliseconds = 300_000

/** What has payments of this network carried out. Throws where there is none. */
export function facilitatorFor(node: Pick<Node, 'services'>, network: NetworkFacts): Facilitator {
  const facilitator = facilitatorOf(node, network)
  if (!facilitator)
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'No payment facilitator: X402_FACILITATOR_URL is not set' })
  return facilitator
}

/** What a payment was offered for. The amount is what was signed, which may be more than the price: some facilitators take nothing else. */
export const wantedOf = ({ network, value, pay_to, resource, description }: StoredPayment): Wanted => ({
  facts: networks[network],
  amount: value,
  payTo: pay_to,
  resource,
  description,
})

const requirementFor = (payment: StoredPayment) => requirementOf(wantedOf(payment))

/** Asks whether the payment can be settled; it is rejected where not. Nothing has been charged when this throws. */
export async function verifyHeld(node: Node, held: Held): Promise<void> {
  const { payment } = held
  const facilitator = facilitatorFor(node, networks[payment.network])
  const refusal = await facilitator.verify(proofOf(node, payment), requirementFor(payment))
  if (refusal) await reject(node, held, codes[refusal])
  node.reached('payment-verified')
}

/** Settles a payment that was verified, or finds out what came of that. It is `unknown` after where nobody can tell. */
export async function settleHeld(node: Node, held: Held): Promise<void> {
  const attempts = held.payment.attempts + 1
  const isFirst = attempts === 1
  // Before it is asked for: whoever finds it so knows that it may have been charged.
  await held.change({ state: 'unknown', attempts, due_at: new Date(node.now() + waitOf(attempts)), expires_at: never })
  node.reached('payment-asked')
  if (!isFirst && (await readFromChain(node, held))) return
  if (await isWithdrawn(held.payment)) return isFirst ? reject(node, held, 'X402_PAYMENT_FAILED') : undefined
  const settlement = await askToSettle(node, held)
  node.reached('payment-answered')
  if (settlement.state === 'settled') return markSettled(node, held, settlement.transaction)
  if (settlement.state === 'unknown') return
  // Nothing of ours was under way, so that one that is used was used for something else.
  if (isFirst) return reject(node, held, settlement.state === 'used' ? 'INVALID_PAYMENT' : codes[settlement.reason])
  if (await readFromChain(node, held)) return
  if (settlement.state === 'used' && !chainOf(node, networks[held.payment.network])) await markSettled(node, held, null)
}

/**
 * Has a payment never asked to be settled again whose outcome is not known yet, and gives its state: one that was `verifying` is never
 * charged, while one that is `unknown` may have been. Null where it was known already.
 */
export async function withdraw(_id: string): Promise<PaymentState | null> {
  const payment = await Payments.findOneAndUpdate(
    { _id, state: { $in: ['verifying', 'unknown'] } },
    { $set: { withdrawn: true } },
    { returnDocument: 'after' },
  ).lean<StoredPayment>()
  return payment?.state ?? null
}

/** Has a payment asked for again that was withdrawn while its outcome was not known: whoever pays has sent it for something else. */
export const offerAgain = ({ _id }: StoredPayment) =>
  Payments.updateOne({ _id, state: 'unknown', withdrawn: true }, { $unset: { withdrawn: '' } })

const isWithdrawn = async ({ _id }: StoredPayment): Promise<boolean> =>
  (await Payments.exists({ _id, withdrawn: true })) !== null

async function askToSettle(node: Node, { payment }: Held): Promise<Settlement> {
  const facilitator = facilitatorFor(node, networks[payment.network])
  try {
    return await facilitator.settle(proofOf(node, payment), requirementFor(payment))
  } catch (error) {
    node.logger.warn({ error, payment: payment._id }, 'a settlement was not answered')
    return { state: 'unknown' }
  }
}

const waitOf = (attempts: number) => Math.min(longestWaitMilliseconds, soonMilliseconds * 2 ** (attempts - 1))

/** Whether so long has gone by since a payment was over, or was taken where it is good for years, that its outcome would be known if anybody could tell. */
export const isLongOver = (node: Node, payment: StoredPayment): boolean => {
  const answered = payment.created_at.getTime() + 3 * maxTimeoutSeconds * 1_000
  return Math.min(endOf(node, payment), answered + blockMilliseconds) + longestWaitMilliseconds < node.now()
}

/** Null where this server asks no node of that chain. */
export const chainOf = ({ services: { chains } }: Pick<Node, 'services'>, { chainId }: NetworkFacts): Chain | null =>
  chains.get(chainId) ?? null

/**
 * Asks the chain, where there is one to ask, what became of the payment. True where that is known for good: that it was not carried out, only
 * once the chain itself is past its end, as one that stood still makes up for its blocks.
 */
async function readFromChain(node: Node, held: Held): Promise<boolean> {
  const facts = networks[held.payment.network]
  const { payer: from, pay_to: to, value, nonce } = held.payment
  const state = await chainOf(node, facts)
    ?.authorized(facts.asset, { from, to, value: BigInt(value), nonce })
    .catch(() => null)
  if (!state) return false
  if (typeof state === 'object' && 'openAt' in state) {
    const end = usableUntil(node, held.payment).getTime()
    if (endOf(node, held.payment) >= node.now() || state.openAt < end) return false
    await reject(node, held, 'PAYMENT_EXPIRED')
    return true
  }
  if (state === 'other') await reject(node, held, 'INVALID_PAYMENT')
  else await markSettled(node, held, state === 'unseen' ? null : state.transaction)
  return true
}

async function markSettled(node: Node, held: Held, transaction: string | null): Promise<void> {
  const simulated = node.services.facilitator?.isSimulated ?? false
  await held.change({ state: 'settled', transaction, simulated, settled_at: new Date(node.now()) })
  node.reached('payment-settled')
}

const reject = (node: Node, held: Held, code: PaymentCode) =>
  held.change({ state: 'rejected', code, expires_at: new Date(node.now() + refusedMilliseconds) })
