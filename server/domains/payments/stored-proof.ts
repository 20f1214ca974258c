import { never, type StoredPayment } from '#server/domains/receipts/model'
import type { Node } from '#server/kernel/context'
import { unseal } from '#server/kernel/seal'
import type { Proof } from '#server/ports/facilitator/port'

/** So long after its end a payment may still come into a block. */
export const blockMilliseconds = 120_000

export const proofOf = ({ settings }: Node, { proof }: StoredPayment): Proof =>
  JSON.parse(unseal(settings.sessionKeys, proof)) as Proof

/** Until when whoever was given a payment can have it carried out. */
export const usableUntil = (node: Node, payment: StoredPayment): Date =>
  new Date(Math.min(Number(proofOf(node, payment).authorization.validBefore) * 1_000, never.getTime()))

/** Whether nothing comes of a payment any more: what it has not charged by now, it never will. */
export const isOver = (node: Node, payment: StoredPayment): boolean => endOf(node, payment) < node.now()

export const endOf = (node: Node, payment: StoredPayment): number =>
  usableUntil(node, payment).getTime() + blockMilliseconds
