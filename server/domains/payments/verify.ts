import { hashTypedData, recoverAddress } from 'viem'
import type { PaymentCode } from '#server/domains/receipts/model'
import { networkNamed, type Wanted } from '#server/domains/receipts/networks'
import type { Chain } from '#server/ports/chain/port'
import type { Proof } from '#server/ports/facilitator/port'
import { domainOf, type NetworkFacts, overpaidTimes, transferTypes } from '#shared/api/payment-networks'
import { type OfferedProof, readProof } from './read-proof.ts'

export type Judged = { ok: true; proof: Proof } | { ok: false; code: PaymentCode }

/** So long a payment must still be good for, as settling it takes a while. */
const leastSecondsLeft = 6n

/** What the payer signs (EIP-712 over EIP-3009). */
export function digestOf({ authorization }: Proof, network: NetworkFacts): `0x${string}` {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  return hashTypedData({
    domain: domainOf(network),
    types: transferTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from,
      to,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce,
    },
  })
}

/**
 * Judges a payment header by itself: whether it is well formed, for this payee and network, enough, good now, and signed by the payer.
 * Without the chain the signature of a contract wallet cannot be checked. Throws where the chain gives no answer.
 */
export async function judgeProof(
  header: string,
  { facts, amount, payTo }: Wanted,
  now: number,
  chain: Pick<Chain, 'verifyHash'> | null,
): Promise<Judged> {
  const offered = readProof(header)
  if (!offered) return { ok: false, code: 'INVALID_PAYMENT' }
  const code =
    mismatchOf(offered, facts, amount, payTo) ?? contradiction(offered, facts, amount, payTo) ?? lateness(offered, now)
  if (code) return { ok: false, code }
  const { signature, authorization } = offered
  const proof = { signature, authorization }
  return (await isSigned(proof, facts, chain)) ? { ok: true, proof } : { ok: false, code: 'INVALID_PAYMENT' }
}

function mismatchOf(
  { network, authorization: { to, value } }: OfferedProof,
  facts: NetworkFacts,
  amount: string,
  payTo: string,
): PaymentCode | null {
  if (networkNamed(network) !== facts) return 'WRONG_NETWORK'
  if (to !== payTo.toLowerCase()) return 'INVALID_PAYMENT'
  if (BigInt(value) < BigInt(amount)) return 'INSUFFICIENT_PAYMENT'
  return BigInt(value) > BigInt(amount) * overpaidTimes ? 'INVALID_PAYMENT' : null
}

/** Version 2 repeats the offer: what it says of that has to be so, as the payer meant to pay something else otherwise. */
function contradiction(
  { accepted = { scheme: 'exact', network: '' } }: OfferedProof,
  facts: NetworkFacts,
  amount: string,
  payTo: string,
): PaymentCode | null {
  const { name, version } = accepted.extra ?? {}
  const pairs = [
    [accepted.amount, amount],
    [accepted.asset, facts.asset.toLowerCase()],
    [accepted.payTo, payTo.toLowerCase()],
    [name, facts.name],
    [version, facts.version],
  ]
  return pairs.some(([said, offered]) => said !== undefined && said !== offered) ? 'INVALID_PAYMENT' : null
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
