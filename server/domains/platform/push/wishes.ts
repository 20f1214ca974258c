import { blockedAmong } from '#server/domains/moderation/blocks/blocks'
import { conversationMuteOf, conversationMutesOf } from '#server/domains/moderation/social/conversation-mutes'
import type { Node } from '#server/kernel/context'
import type { RoomKey } from '#server/log/types'
import type { Notice } from './notice.ts'
import { preferencesOf, suppressionOf } from './preferences.ts'

/** Does somebody want to hear of this now? `room` is the one whose silence silences it. */
export async function isWanted(
  node: Node,
  account: string,
  { type, senderAddress }: Pick<Notice, 'type' | 'senderAddress'>,
  room: RoomKey | null,
): Promise<boolean> {
  const now = node.now()
  const [preferences, mutes, blocked] = await Promise.all([
    preferencesOf(account),
    conversationMutesOf(account, now),
    senderAddress === null ? new Set<string>() : blockedAmong(account, [senderAddress]),
  ])
  const isQuiet =
    suppressionOf(preferences, type, now) !== null ||
    (room !== null && conversationMuteOf(mutes, room, account) !== null)
  return !isQuiet && blocked.size === 0
}
