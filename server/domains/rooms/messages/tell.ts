import { written } from '#server/domains/moderation/verdict/content'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import type { ClearType } from '#shared/kit/clear-types'
import { dmOf, roomKey } from '#shared/kit/primitives'
import { sendDraft } from './send.ts'

interface Told {
  type: ClearType
  text: string
  /** Whoever has a message of this key from the same account has this one. */
  cid: string
}

/**
 * Tells somebody something, in clear, in their conversation with the account that it is from. Told again, with the same key, it is not new.
 * Null where it is refused, as it is where one of the two has blocked the other.
 */
export async function tell(
  node: Node,
  from: string,
  to: string,
  { type, text, cid }: Told,
): Promise<{ isNew: boolean } | null> {
  try {
    const key = roomKey(dmOf(from, to))
    const { duplicate } = await sendDraft({ node, emit: () => {} }, key, from, written(type, text.trim()), { cid })
    return { isNew: !duplicate }
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return null
    throw error
  }
}
