import { endErasing } from '#server/domains/people/accounts/leaving'
import { Accounts } from '#server/domains/people/accounts/model'
import type { Node } from '#server/kernel/context'
import { type ErasureLine, erasuresOf } from '#server/kernel/erasure-list'
import { newId } from '#server/kernel/ids'
import { completeFile, lackingErasures, storeErasures } from './erased-list.ts'
import { planFor } from './erasures.ts'

const accountsAtOnce = 500

/** Erases accounts again that a restored backup has brought back, and completes both lists. */
export async function followErasureList(node: Node): Promise<void> {
  const lacking = await lackingErasures(node)
  if (lacking.length > 0) {
    await eraseRestored(node, lacking)
    await storeErasures(lacking)
  }
  await completeFile(node)
}

async function eraseRestored(node: Node, lines: readonly ErasureLine[]): Promise<void> {
  const erasureOf = erasuresOf(lines)
  for (let after = ''; ; ) {
    const page = Accounts.find({ _id: { $gt: after } }, { created_at: 1 })
      .sort({ _id: 1 })
      .limit(accountsAtOnce)
    const found = await page.lean<{ _id: string; created_at: Date }[]>()
    for (const { _id: account, created_at } of found) {
      const erasure = erasureOf(account, created_at)
      if (erasure) await eraseAgain(node, account, erasure)
    }
    if (found.length < accountsAtOnce) return
    after = found.at(-1)?._id ?? ''
  }
}

/** An erasure that was under way in the backup begins anew, because the key of its job may be lost. */
async function eraseAgain(node: Node, account: string, { messages }: ErasureLine): Promise<void> {
  await endErasing(account)
  await planFor(node, { id: newId(), account, messages, graceMilliseconds: 0 })
}
