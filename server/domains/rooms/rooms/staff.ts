import { readRoom } from '#server/domains/rooms/room-state/access'
import { memberIn } from '#server/domains/rooms/room-state/facts'
import { adminRoles } from '#server/domains/rooms/room-state/membership'
import { Members, Moderators } from '#server/domains/rooms/room-state/model'
import { standingOf } from '#server/domains/rooms/room-state/standing'
import type { Action } from '#server/kernel/context'
import { GLOBAL } from '#server/log/types'
import type { MemberRole } from '#shared/api/rooms/room'
import type { rooms as contract } from '#shared/api/rooms/rooms'
import { memberOutputs } from './members.ts'

const namedAtMost = 200

/** The managers of a room. The records list candidates; the log decides on role and right. */
export const staff: Action<typeof contract.staff> = async ({ room }, { node, caller }) => {
  const { key } = await readRoom(node, caller, room, () => null)
  const held = { room: key, is_active: true, role: { $in: [...adminRoles, 'moderator' as const] } }
  const granted = { room: { $in: [key, GLOBAL] }, is_active: true }
  const [members, grants] = await Promise.all([
    Members.find(held).limit(namedAtMost).lean(),
    Moderators.find(granted).sort({ granted_at: -1 }).limit(namedAtMost).lean(),
  ])
  const since = new Map([...grants, ...members].map((one) => [one.user_address, sinceOf(one)]))
  const rows = await node.log.ask(key, (view) =>
    [...since].flatMap(([user_address, joined_at]) => {
      const { rank, role, isModerator } = standingOf(view, user_address)
      if (!isModerator || role === null) return []
      const member = memberIn(view, user_address)
      return [{ user_address, joined_at: member?.joined_at ?? joined_at, role: asMember[role] ?? 'moderator', rank }]
    }),
  )
  const byRank = rows.toSorted((one, other) => other.rank - one.rank || (one.joined_at < other.joined_at ? -1 : 1))
  return { staff: await memberOutputs(node, byRank, caller.account) }
}

const sinceOf = (one: { joined_at: string } | { granted_at: string }): string =>
  'joined_at' in one ? one.joined_at : one.granted_at

/** The roles above moderator, by their names in a standing. */
const asMember: Readonly<Record<string, MemberRole>> = { owner: 'owner', admin: 'admin', super_admin: 'admin' }
