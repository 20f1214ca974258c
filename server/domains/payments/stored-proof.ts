import { never, type StoredPayment } from '#server/domains/receipts/model'
import type { Node } from '#server/kernel/context'
import { seal, tryUnseal, unseal } from '#server/kernel/seal'
import type { Proof } from '#server/ports/facilitator/port'
import { networks } from '#shared/api/payment-networks'

/** So long after its end a payment may still come into a block. */
export const blockMilliseconds = 120_000
/** A chain that can be asked ends a payment itself, also one that stood still meanwhile; so long it has for that. */
const chainMilliseconds = 3_600_000

export const proofOf = ({ settings }: Node, { proof }: StoredPayment): Proof =>
  JSON.parse(unseal(settings.sessionKeys, proof)) as Proof

export const sealedProof = ({ settings }: Node, { authorization, signature }: Proof): string =>
  seal(settings.sessionKeys, JSON.stringify({ authorization, signature }))

export const endOfProof = ({ authorization: { validBefore } }: Proof): Date =>
  new Date(Math.min(Number(validBefore) * 1_000, never.getTime()))

/** Until when whoever was given a payment can have it carried out. */
export function usableUntil(node: Node, payment: StoredPayment): Date {
  if (payment.usable_until) return payment.usable_until
  // Older versions stored it within the proof alone, whose key may be gone.
  const proof = tryUnseal(node.settings.sessionKeys, payment.proof)
  return proof === null ? never : endOfProof(JSON.parse(proof) as Proof)
}

/** When a payment can be in no block any more, of a chain that does not stand still. */
export const endOf = (node: Node, payment: StoredPayment): number =>
  usableUntil(node, payment).getTime() + blockMilliseconds

/** Whether nothing comes of a payment any more: what it has not charged by now, it never will. */
export function isOver(node: Node, payment: StoredPayment): boolean {
  const canBeAsked = node.services.chains.has(networks[payment.network].chainId)
  return endOf(node, payment) + (canBeAsked ? chainMilliseconds : 0) < node.now()
}
