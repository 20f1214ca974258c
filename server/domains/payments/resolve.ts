import { Payments, type StoredPayment } from '#server/domains/receipts/model'
import type { Node } from '#server/kernel/context'
import { every } from '#server/kernel/every'
import { claim, holding } from './lease.ts'
import { settleHeld } from './settle.ts'

const lookMilliseconds = 1_000
const atOnce = 10

/** Settles payments whose outcome is unknown, or finds it out, also after a crash; each is tried again at growing intervals. */
export function resolvePayments(node: Node): () => void {
  async function resolveDue(): Promise<void> {
    const now = new Date(node.now())
    const due = await Payments.find({ state: 'unknown', due_at: { $lte: now } })
      .sort({ due_at: 1 })
      .limit(atOnce)
      .lean<StoredPayment[]>()
    await Promise.all(due.map(resolve))
  }
  async function resolve(found: StoredPayment): Promise<void> {
    const payment = await claim(node, found)
    if (!payment) return
    await holding(node, payment, async (held) => {
      if (payment.state === 'unknown') await settleHeld(node, held)
    })
  }
  return every(node, lookMilliseconds, resolveDue, 'payments were not resolved')
}
