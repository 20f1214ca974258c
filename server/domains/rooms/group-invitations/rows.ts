import { profileOf, profilesOf } from '#server/domains/accounts/profiles'
import { blockedAmong } from '#server/domains/blocks/blocks'
import { membershipsOf } from '#server/domains/room-state/membership'
import { Rooms } from '#server/domains/room-state/model'
import type { Node } from '#server/kernel/context'
import type { GroupInvitation } from '#shared/api/group-invitations'
import { roomOfKey } from '#shared/kit/room-key'
import { type GroupInvitationRow, GroupInvitations } from './model.ts'

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

const readAtOnce = 100

/** Those that somebody may answer, newest first, after the one of `before`. `next` is null at the end. */
export async function waitingFor(node: Node, account: string, limit: number, before?: string) {
  const found: GroupInvitation[] = []
  let after = before
  do {
    const older = after === undefined ? {} : { invitation_id: { $lt: after } }
    const rows = await GroupInvitations.find({ invitee_address: account, status: 'pending', ...older })
      .sort({ invitation_id: -1 })
      .limit(readAtOnce)
      .lean<GroupInvitationRow[]>()
    found.push(...(await shownAll(node, await open(account, rows))))
    after = rows.length === readAtOnce ? rows.at(-1)?.invitation_id : undefined
  } while (after !== undefined && found.length <= limit)
  const invitations = found.slice(0, limit)
  return { invitations, next: found.length > limit ? (invitations.at(-1)?.id ?? null) : null }
}

/** Without those between a block, and those to where the account is already. */
async function open(account: string, rows: readonly GroupInvitationRow[]): Promise<GroupInvitationRow[]> {
  const inviters = rows.map(({ inviter_address }) => inviter_address)
  const [blocked, joined] = await Promise.all([blockedAmong(account, inviters), membershipsOf(account)])
  return rows.filter(({ inviter_address, room }) => !blocked.has(inviter_address) && !joined.includes(room))
}
