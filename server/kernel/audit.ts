import type { Node } from './context.ts'
import { newId } from './ids.ts'
import type { AuditLine } from './invoke.ts'
import { AuditLines } from './model.ts'

/** Writes the line without a wait; a failure is logged. */
export function recordAudit(node: Node, line: AuditLine): void {
  const row = { _id: newId(), ...line, at: new Date(node.now()) }
  AuditLines.create(row).catch((error: unknown) => node.logger.error({ error, ...line }, 'audit line not written'))
}
