import { profileOf, profilesOf } from '#server/domains/accounts/profiles'
import { Rooms } from '#server/domains/room-state/model'
import type { Node } from '#server/kernel/context'
import type { GroupInvitation } from '#shared/api/group-invitations'
import { roomOfKey } from '#shared/kit/room-key'
import type { GroupInvitationRow } from './model.ts'

/** Invitations that wait, as those who are invited see them; without those to rooms that are no more. */
export async function shownAll(node: Node, rows: readonly GroupInvitationRow[]): Promise<GroupInvitation[]> {
  const inviters = [...new Set(rows.map(({ inviter_address }) => inviter_address))]
  const [groups, profiles] = await Promise.all([
    Rooms.find({ _id: { $in: rows.map(({ room }) => room) }, is_active: true }).lean(),
    profilesOf(node, inviters),
  ])
  const byKey = new Map(groups.map((group) => [group._id, group]))
  return rows.flatMap(({ invitation_id, room, inviter_address, invitee_address, created_at, responded_at }) => {
    const group = byKey.get(room)
    if (!group) return []
    const { name } = profiles.get(inviter_address) ?? profileOf({ _id: inviter_address })
    return {
      id: invitation_id,
      group_id: roomOfKey(room).id ?? '',
      group_name: group.name,
      group_emoji: group.emoji,
      member_count: group.member_count,
      inviter_address,
      inviter_name: name,
      ...{ invitee_address, created_at, responded_at },
      status: 'pending' as const,
    }
  })
}
