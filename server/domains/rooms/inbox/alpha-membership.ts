import { conversationMuteOf, conversationMutesOf } from '#server/domains/moderation/social/conversation-mutes'
import { Members, Reads } from '#server/domains/rooms/room-state/model'
import { type Action, signedIn } from '#server/kernel/context'
import { messagesBetween as rowsBetween } from '#server/log/store'
import type { inbox as contract } from '#shared/api/rooms/inbox'
import { alpha, roomKey } from '#shared/kit/room-key'

const key = roomKey(alpha)
const timeOf = (row: { at: number } | undefined) => (row ? new Date(row.at).toISOString() : null)

export const alphaMembership: Action<typeof contract.alphaMembership> = async (_input, context) => {
  const { node } = context
  const { account } = signedIn(context)
  const [member, read, mutes] = await Promise.all([
    Members.findOne({ _id: `${key}|member:${account}` }).lean(),
    Reads.findOne({ _id: `${key}|${account}` }).lean(),
    conversationMutesOf(account, node.now()),
  ])
  if (!member) return { membership: null }
  const { joined_at, is_active, applied_seq } = member
  const n = read?.n ?? 0
  const [[last], [parting]] = await Promise.all([
    n > 0 ? rowsBetween(key, n, n) : [],
    is_active ? [] : node.log.read(key, applied_seq - 1, 1),
  ])
  return {
    membership: {
      user_address: account,
      notifications_muted: conversationMuteOf(mutes, key, account) !== null,
      last_read_at: timeOf(last),
      joined_at,
      left_at: timeOf(parting),
    },
  }
}
