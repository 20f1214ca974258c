import type { Node } from '#server/kernel/context'
import { type Lease, withLease } from '#server/kernel/work/lease'
import { Payments, type StoredPayment } from './model.ts'

/** A payment under its lease: only its holder changes it. */
export interface HeldPayment {
  readonly payment: StoredPayment
  /** Throws where the lease was lost. */
  change(change: Partial<StoredPayment>): Promise<void>
}

export const paymentLease: Lease<StoredPayment> = {
  model: Payments,
  holder: 'holder',
  held_until: 'leased_until',
  milliseconds: 6_000,
}

/** Works on a payment under the lease that was taken on it. */
export const withPayment = <Done>(
  node: Node,
  payment: StoredPayment,
  work: (held: HeldPayment) => Promise<Done>,
): Promise<Done> =>
  withLease(paymentLease, node, payment, (lease) => {
    const held = {
      payment,
      async change(change: Partial<StoredPayment>) {
        if (!(await lease.change({ $set: change }))) throw new Error('The lease of a payment was lost')
        held.payment = { ...held.payment, ...change }
      },
    }
    return work(held)
  })
