import { hashTypedData, recoverAddress } from 'viem'
import type { Node } from '#server/kernel/context'
import { seal, tryUnseal, unseal } from '#server/kernel/seal'
import type { Chain } from '#server/ports/chain/port'
import type { PaymentRefusal, Proof } from '#server/ports/facilitator/port'
import {
  domainOf,
  type NetworkFacts,
  networks,
  overpaidTimes,
  transferTypes,
} from '#shared/api/payments/payment-networks'
import { neverExpires, type PaymentCode, type StoredPayment } from './model.ts'
import {
  facilitatorFor,
  hashOf,
  networkNamed,
  offerOfPayment,
  type PaymentOffer,
  type PaymentScheme,
} from './scheme.ts'
import { longestWaitMilliseconds } from './states.ts'
import { maxTimeoutSeconds, type OfferedProof, readProof, requirementOf } from './x402.ts'

/** A payment must be good for so long after it was judged, as settling it takes a while. */
const leastSecondsLeft = 6n
/** A payment may still come into a block for so long after its end. */
const blockMilliseconds = 120_000
/** A chain that stopped has so long to catch up with its blocks. */
const chainMilliseconds = 3_600_000

const codes: Readonly<Record<PaymentRefusal | 'failed', PaymentCode>> = {
  funds: 'INSUFFICIENT_PAYMENT',
  expired: 'PAYMENT_EXPIRED',
  network: 'WRONG_NETWORK',
  invalid: 'INVALID_PAYMENT',
  failed: 'X402_PAYMENT_FAILED',
}

/** The scheme `exact`: a transfer that the payer signs (EIP-3009), and that anybody can carry out once. */
export function exactScheme(node: Node): PaymentScheme {
  const { sessionKeys } = node.settings
  const proofOf = ({ proof }: StoredPayment) => JSON.parse(unseal(sessionKeys, proof)) as Proof
  const requirementFor = (payment: StoredPayment) => requirementOf(offerOfPayment(payment))
  /** Null where this server asks no node of that chain. */
  const chainOf = ({ chainId }: NetworkFacts): Chain | null => node.services.chains.get(chainId) ?? null

  function usableUntil({ usable_until, proof: sealed }: StoredPayment): Date {
    if (usable_until) return usable_until
    // Older versions stored it within the proof alone, whose key may be gone.
    const proof = tryUnseal(sessionKeys, sealed)
    return proof === null ? neverExpires : endOfProof(JSON.parse(proof) as Proof)
  }
  /** The payment can be in no later block, of a chain that does not stand still. */
  const endOf = (payment: StoredPayment): number => usableUntil(payment).getTime() + blockMilliseconds

  return {
    read(header) {
      const proof = readProof(header)
      const network = networkNamed(proof?.network ?? '')?.network
      if (!proof || !network) return null
      const { authorization, signature } = proof
      const { from: payer, nonce, value } = authorization
      return {
        ...{ network, payer, nonce, value },
        usable_until: endOfProof(proof),
        proof_hash: hashOf(authorization, signature),
        seal: () => seal(sessionKeys, JSON.stringify({ authorization, signature })),
      }
    },
    judge: (header, offer) => judgeProof(header, offer, node.now(), chainOf(offer.facts)),
    async verify(payment) {
      const facilitator = facilitatorFor(node, networks[payment.network])
      const refusal = await facilitator.verify(proofOf(payment), requirementFor(payment))
      return refusal && codes[refusal]
    },
    async settle(payment) {
      const facts = networks[payment.network]
      const facilitator = facilitatorFor(node, facts)
      try {
        const settlement = await facilitator.settle(proofOf(payment), requirementFor(payment))
        if (settlement.state === 'unknown') return null
        if (settlement.state === 'refused') return { type: 'refused', code: codes[settlement.reason] }
        if (settlement.state === 'used') return { type: chainOf(facts) ? 'used traceably' : 'used' }
        return { type: 'settled', transaction: settlement.transaction }
      } catch (error) {
        node.logger.warn({ error, payment: payment._id }, 'a settlement was not answered')
        return null
      }
    },
    async find(payment) {
      const facts = networks[payment.network]
      const { payer: from, pay_to: to, value, nonce } = payment
      const found = await chainOf(facts)
        ?.authorized(facts.asset, { from, to, value: BigInt(value), nonce })
        .catch(() => null)
      if (!found) return null
      if (found === 'other') return { type: 'cancelled' }
      if (found === 'unseen') return { type: 'settled' }
      if ('transaction' in found) return { type: 'settled', ...found }
      // A chain that stopped catches up with its blocks, so that its own time counts too.
      const isPast = endOf(payment) < node.now() && found.openAt >= usableUntil(payment).getTime()
      return isPast ? { type: 'expired', code: 'PAYMENT_EXPIRED' } : null
    },
    usableUntil,
    isOver: (payment) => endOf(payment) + (chainOf(networks[payment.network]) ? chainMilliseconds : 0) < node.now(),
    isLongOver(payment) {
      const answered = payment.created_at.getTime() + 3 * maxTimeoutSeconds * 1_000
      return Math.min(endOf(payment), answered + blockMilliseconds) + longestWaitMilliseconds < node.now()
    },
  }
}

const endOfProof = ({ authorization: { validBefore } }: Proof): Date =>
  new Date(Math.min(Number(validBefore) * 1_000, neverExpires.getTime()))

/** The digest that the payer signs (EIP-712 over EIP-3009). */
export function digestOf({ authorization }: Proof, network: NetworkFacts): `0x${string}` {
  const { value, validAfter, validBefore, ...rest } = authorization
  const numbers = { value: BigInt(value), validAfter: BigInt(validAfter), validBefore: BigInt(validBefore) }
  const typed = { domain: domainOf(network), types: transferTypes, primaryType: 'TransferWithAuthorization' } as const
  return hashTypedData({ ...typed, message: { ...rest, ...numbers } })
}

/** Why a header does not pay the offer; null if it does. Contract wallets need the chain, and this throws if it has no answer. */
export async function judgeProof(
  header: string,
  offer: PaymentOffer,
  now: number,
  chain: Pick<Chain, 'verifyHash'> | null,
): Promise<PaymentCode | null> {
  const proof = readProof(header)
  if (!proof) return 'INVALID_PAYMENT'
  const code = mismatchOf(proof, offer) ?? contradiction(proof, offer) ?? lateness(proof, now)
  return code ?? ((await isSigned(proof, offer.facts, chain)) ? null : 'INVALID_PAYMENT')
}

function mismatchOf(
  { network, authorization: { to, value } }: OfferedProof,
  { facts, amount, payTo }: PaymentOffer,
): PaymentCode | null {
  if (networkNamed(network) !== facts) return 'WRONG_NETWORK'
  if (to !== payTo.toLowerCase()) return 'INVALID_PAYMENT'
  if (BigInt(value) < BigInt(amount)) return 'INSUFFICIENT_PAYMENT'
  return BigInt(value) > BigInt(amount) * overpaidTimes ? 'INVALID_PAYMENT' : null
}

/** Version 2 repeats the offer: where it differs, the payer meant to pay for something else. */
function contradiction(
  { accepted = { scheme: 'exact', network: '' } }: OfferedProof,
  { facts, amount, payTo }: PaymentOffer,
): PaymentCode | null {
  const { name, version } = accepted.extra ?? {}
  const pairs = [
    [accepted.amount, amount],
    [accepted.asset, facts.asset.toLowerCase()],
    [accepted.payTo, payTo.toLowerCase()],
    [name, facts.name],
    [version, facts.version],
  ]
  return pairs.some(([repeated, offered]) => repeated !== undefined && repeated !== offered) ? 'INVALID_PAYMENT' : null
}

function lateness({ authorization: { validAfter, validBefore } }: OfferedProof, now: number): PaymentCode | null {
  const seconds = BigInt(Math.floor(now / 1000))
  if (BigInt(validBefore) < seconds + leastSecondsLeft) return 'PAYMENT_EXPIRED'
  return BigInt(validAfter) > seconds ? 'INVALID_PAYMENT' : null
}

async function isSigned(proof: Proof, facts: NetworkFacts, chain: Pick<Chain, 'verifyHash'> | null): Promise<boolean> {
  const hash = digestOf(proof, facts)
  const { from } = proof.authorization
  const signer = await recoverAddress({ hash, signature: proof.signature }).catch(() => null)
  if (signer?.toLowerCase() === from) return true
  return chain ? chain.verifyHash(from, hash, proof.signature) : false
}
