import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { Payments, type StoredPayment } from './model.ts'

const leaseMilliseconds = 6_000
const renewMilliseconds = 1_500

/** A payment under a lease: only its holder changes it. */
export interface HeldPayment {
  readonly payment: StoredPayment
  change(change: Partial<StoredPayment>): Promise<void>
}

export const newPaymentLease = (node: Pick<Node, 'now'>) => ({
  holder: newId(),
  leased_until: new Date(node.now() + leaseMilliseconds),
})

/** Leases a payment and changes it; null while another request holds its lease. */
export async function leasePayment(
  node: Node,
  payment: StoredPayment,
  change: Partial<StoredPayment> = {},
): Promise<StoredPayment | null> {
  return Payments.findOneAndUpdate(
    { _id: payment._id, leased_until: { $lte: new Date(node.now()) } },
    { $set: { ...newPaymentLease(node), ...change } },
    { returnDocument: 'after' },
  ).lean<StoredPayment>()
}

const leaseOf = ({ _id, holder }: StoredPayment) => ({ _id, holder })

/** Releases a payment. A lease that could not be released ends by itself. */
export async function releasePayment(payment: StoredPayment): Promise<void> {
  await Payments.updateOne(leaseOf(payment), { $set: { leased_until: new Date(0) } }).catch(() => undefined)
}

/** Works on a payment under its lease, which is renewed meanwhile and released afterwards. */
export async function withPaymentLease<Done>(
  node: Node,
  payment: StoredPayment,
  work: (held: HeldPayment) => Promise<Done>,
): Promise<Done> {
  const mine = leaseOf(payment)
  const held = {
    payment,
    async change(change: Partial<StoredPayment>) {
      const { matchedCount } = await Payments.updateOne(mine, { $set: change })
      if (matchedCount === 0) throw new Error('The lease of a payment was lost')
      held.payment = { ...held.payment, ...change }
    },
  }
  const renew = () => Payments.updateOne(mine, { $set: { leased_until: new Date(node.now() + leaseMilliseconds) } })
  const renewal = setInterval(() => void renew().catch(() => undefined), renewMilliseconds)
  try {
    return await work(held)
  } finally {
    clearInterval(renewal)
    await releasePayment(payment)
  }
}
