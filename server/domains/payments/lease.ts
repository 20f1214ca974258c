import { Payments, type StoredPayment } from '#server/domains/receipts/model'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'

const leaseMilliseconds = 6_000
const renewMilliseconds = 1_500

/** A payment that nobody else works on; what it is changed to holds only as long as that is so. */
export interface Held {
  readonly payment: StoredPayment
  change(change: Partial<StoredPayment>): Promise<void>
}

export const newLease = (node: Pick<Node, 'now'>) => ({
  holder: newId(),
  leased_until: new Date(node.now() + leaseMilliseconds),
})

/** Takes a payment that nobody works on, and changes it; null where somebody does. */
export async function claim(
  node: Node,
  payment: StoredPayment,
  change: Partial<StoredPayment> = {},
): Promise<StoredPayment | null> {
  return Payments.findOneAndUpdate(
    { _id: payment._id, leased_until: { $lte: new Date(node.now()) } },
    { $set: { ...newLease(node), ...change } },
    { returnDocument: 'after' },
  ).lean<StoredPayment>()
}

const leaseOf = ({ _id, holder }: StoredPayment) => ({ _id, holder })

/** Lets others work on a payment. A lease that could not be given back ends by itself. */
export async function giveBack(payment: StoredPayment): Promise<void> {
  await Payments.updateOne(leaseOf(payment), { $set: { leased_until: new Date(0) } }).catch(() => undefined)
}

/** Works on a payment under its lease, which is given back afterwards. */
export async function holding<Done>(
  node: Node,
  payment: StoredPayment,
  work: (held: Held) => Promise<Done>,
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
    await giveBack(payment)
  }
}
