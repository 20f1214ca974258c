import { textDraft } from '#server/domains/moderation/verdict/content'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import type { ClearType } from '#shared/kit/clear-types'
import { dmOf, roomKey } from '#shared/kit/primitives'
import { sendDraft } from './send.ts'

interface ClearMessage {
  type: ClearType
  text: string
  /** A repeat with this key from the same account is the same message. */
  cid: string
}

/**
 * Sends a message in clear to a person, from the given account. A repeat with the same key is not new. Null if it is
 * refused, as after a block.
 */
export async function sendClearMessage(
  node: Node,
  from: string,
  to: string,
  { type, text, cid }: ClearMessage,
): Promise<{ isNew: boolean } | null> {
  try {
    const key = roomKey(dmOf(from, to))
    const { duplicate } = await sendDraft({ node, emit: () => {} }, key, from, textDraft(type, text.trim()), { cid })
    return { isNew: !duplicate }
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return null
    throw error
  }
}
