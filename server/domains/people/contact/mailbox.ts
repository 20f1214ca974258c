import type { Node } from '#server/kernel/context'
import { contactSettings } from './settings.ts'

/** The mailbox of inquiries; null if there is none. */
export const mailboxOf = (node: Node): string | null =>
  node.services.mail === null ? null : contactSettings.of(node).address
