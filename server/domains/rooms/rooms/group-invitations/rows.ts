import { blockedAmong } from '#server/domains/moderation/blocks/blocks'
import { adminAccountsAmong } from '#server/domains/people/accounts/facts'
import { hiddenAccountsAmong } from '#server/domains/people/accounts/found'
import { profileOf, profilesOf } from '#server/domains/people/accounts/profiles'
import { adminRoles, membershipsOf, rolesOfAll, roomsBannedFrom } from '#server/domains/rooms/room-state/membership'
import { Rooms } from '#server/domains/rooms/room-state/model'
import type { Node } from '#server/kernel/context'
import { placeOfId } from '#server/kernel/store/pages'
import type { GroupInvitation } from '#shared/api/rooms/group-invitations'
import { roomOfKey } from '#shared/kit/room-key'
import { type GroupInvitationRow, GroupInvitations } from './model.ts'

/** Pending invitations for the invited person, without closed groups and inviters without the right. */
export async function invitationOutputs(node: Node, rows: readonly GroupInvitationRow[]): Promise<GroupInvitation[]> {
  const inviters = [...new Set(rows.map(({ inviter_address }) => inviter_address))]
  const [groups, profiles, mayBringIn] = await Promise.all([
    Rooms.find({ _id: { $in: rows.map(({ room }) => room) }, is_active: true }).lean(),
    profilesOf(node, inviters),
    sendersAmong(rows),
  ])
  const byKey = new Map(groups.map((group) => [group._id, group]))
  return rows.flatMap(({ invitation_id, room, inviter_address, invitee_address, created_at, responded_at }) => {
    const group = byKey.get(room)
    if (!group || !mayBringIn(room, inviter_address)) return []
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

/** The inviters who are found and may still add people, by the records. */
async function sendersAmong(rows: readonly GroupInvitationRow[]): Promise<(room: string, inviter: string) => boolean> {
  const inviters = [...new Set(rows.map(({ inviter_address }) => inviter_address))]
  const rooms = [...new Set(rows.map(({ room }) => room))]
  const [hidden, everywhere, roles] = await Promise.all([
    hiddenAccountsAmong(inviters, null, 'directories'),
    adminAccountsAmong(inviters),
    rolesOfAll(inviters, rooms),
  ])
  const allowed = roles
    .filter(({ account, role }) => !hidden.has(account) && (everywhere.has(account) || adminRoles.includes(role)))
    .map(({ account, room }) => `${room} ${account}`)
  const may = new Set(allowed)
  return (room, inviter) => may.has(`${room} ${inviter}`)
}

const readAtOnce = 100

/** The invitations that an account may answer, newest first, after `before`. `next` is null at the end. */
export async function openInvitationsOf(node: Node, account: string, limit: number, before?: string) {
  const found: GroupInvitation[] = []
  let after = before === undefined ? undefined : placeOfId(before)
  do {
    const older = after === undefined ? {} : { invitation_id: { $lt: after } }
    const rows = await GroupInvitations.find({ invitee_address: account, status: 'pending', ...older })
      .sort({ invitation_id: -1 })
      .limit(readAtOnce)
      .lean<GroupInvitationRow[]>()
    found.push(...(await invitationOutputs(node, await answerableAmong(node, account, rows))))
    after = rows.length === readAtOnce ? rows.at(-1)?.invitation_id : undefined
  } while (after !== undefined && found.length <= limit)
  const invitations = found.slice(0, limit)
  return { invitations, next: found.length > limit ? (invitations.at(-1)?.id ?? null) : null }
}

/** Without blocked inviters, and rooms in which the account is a member or banned. */
async function answerableAmong(
  node: Node,
  account: string,
  rows: readonly GroupInvitationRow[],
): Promise<GroupInvitationRow[]> {
  const inviters = rows.map(({ inviter_address }) => inviter_address)
  const rooms = rows.map(({ room }) => room)
  const [blocked, joined, banned] = await Promise.all([
    blockedAmong(account, inviters),
    membershipsOf(account),
    roomsBannedFrom(account, rooms, node.now()),
  ])
  return rows.filter(
    ({ inviter_address, room }) => !blocked.has(inviter_address) && !joined.includes(room) && !banned.has(room),
  )
}
