import { createHash } from 'node:crypto'
import type { Hex } from 'viem'
import type { Node } from '#server/kernel/context'
import type { Facilitator } from '#server/ports/facilitator/port'
import { type NetworkFacts, networks, type PaymentNetwork } from '#shared/api/payments/payment-networks'
import { AppError } from '#shared/errors'
import type { PaymentCode, StoredPayment } from './model.ts'
import type { PaymentEvent } from './states.ts'

/** The price of a purchase, and its payee. */
export interface PaymentOffer {
  facts: NetworkFacts
  /** In the smallest unit. */
  amount: string
  payTo: Hex
  /** The address that is paid for. */
  resource: string
  description: string
}

/** A payment as its payer has signed it. */
export interface SignedPayment {
  network: PaymentNetwork
  payer: Hex
  nonce: Hex
  value: string
  usable_until: Date
  /** Differs from that of another payment with the same nonce. */
  proof_hash: string
  /** The proof for the store; sealed, as its readers could carry the payment out. */
  seal(): string
}

/** The port between the payments and one scheme of x402: how a payment is signed, settled and found again. */
export interface PaymentScheme {
  /** Null if the header is no payment, or names an unknown network. */
  read(header: string): SignedPayment | null
  /** Why the header does not pay the offer, judged here alone; null if it does. Throws if the chain has no answer. */
  judge(header: string, offer: PaymentOffer): Promise<PaymentCode | null>
  /** Why the facilitator refuses the payment; null if it does not. Nothing was charged when this throws. */
  verify(payment: StoredPayment): Promise<PaymentCode | null>
  /** Requests the settlement; null without an answer. */
  settle(payment: StoredPayment): Promise<PaymentEvent | null>
  /** Finds the outcome of an unanswered settlement; null while that can still change. */
  find(payment: StoredPayment): Promise<PaymentEvent | null>
  /** The last moment at which the payment can be carried out. */
  usableUntil(payment: StoredPayment): Date
  /** Whether the payment cannot be charged any more. */
  isOver(payment: StoredPayment): boolean
  /** Whether a known outcome would have arrived by now. */
  isLongOver(payment: StoredPayment): boolean
}

/** The price of a stored payment is what was signed, which may be more: some facilitators take nothing else. */
export const offerOfPayment = ({
  network,
  value: amount,
  pay_to: payTo,
  resource,
  description,
}: StoredPayment): PaymentOffer => ({
  facts: networks[network],
  ...{ amount, payTo, resource, description },
})

export const hashOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url')

const factsByName: ReadonlyMap<string, NetworkFacts> = new Map(
  Object.values(networks).flatMap((facts) => [
    [facts.network, facts],
    [`eip155:${facts.chainId}`, facts],
  ]),
)

/** A network by its name in either version of the protocol. */
export const networkNamed = (name: string): NetworkFacts | null => factsByName.get(name) ?? null

/** The facilitator of a network; null without one: real money is never simulated. */
export const facilitatorOf = (
  { services: { facilitator } }: Pick<Node, 'services'>,
  { isReal }: NetworkFacts,
): Facilitator | null => (facilitator && !(isReal && facilitator.isSimulated) ? facilitator : null)

/** The facilitator of a network. Throws without one. */
export function facilitatorFor(node: Pick<Node, 'services'>, network: NetworkFacts): Facilitator {
  const facilitator = facilitatorOf(node, network)
  if (!facilitator)
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'No payment facilitator: X402_FACILITATOR_URL is not set' })
  return facilitator
}
