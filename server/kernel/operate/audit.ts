import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { AuditLine } from '#server/kernel/invoke'
import { AuditLines } from '#server/kernel/store/model'
import { upsert } from '#server/ports/database/port'

/** Writes the line without a wait; a failure is logged. */
export function recordAudit(node: Node, line: AuditLine): void {
  const row = { _id: newId(), ...line, at: new Date(node.now()) }
  AuditLines.create(row).catch((error: unknown) => node.logger.error({ error, ...line }, 'audit line not written'))
}

/** Notes an erasure: when it ended, and how many rows of which models it took. Its account is the alias, which says nothing of the person. */
export async function recordReceipt(
  node: Pick<Node, 'now'>,
  { id, alias, counts }: { id: string; alias: string; counts: { [model: string]: number } },
): Promise<void> {
  const line = { operation: 'ownData.erased', actor: alias, outcome: 'ok', request_id: id, at: new Date(node.now()) }
  await upsert(() =>
    AuditLines.updateOne({ _id: `erasure ${id}` }, { $setOnInsert: { ...line, counts } }, { upsert: true }),
  )
}

/** Notes why an admin has erased which account, also where the call itself has no answer. */
export async function recordReason(
  node: Pick<Node, 'now'>,
  { id, admin, target, reason }: { id: string; admin: string; target: string; reason: string },
): Promise<void> {
  const line = { operation: 'ownData.eraseUser', actor: admin, outcome: 'reason', request_id: id, target, reason }
  await AuditLines.create({ _id: newId(), ...line, at: new Date(node.now()) })
}
