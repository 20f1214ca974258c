import type { Node } from '#server/kernel/context'
import { contactSettings } from './settings.ts'

/** Where inquiries go; null where nobody can write. */
export const mailboxOf = (node: Node): string | null =>
  node.services.mail === null ? null : contactSettings.of(node).address
