import { roleIn, suspensionIn } from '#server/domains/accounts/facts'
import type { View } from '#server/log/types'
import type { MemberRole } from '#shared/api/rooms'
import { memberIn, moderatorIn, refOf, roomIn } from './facts.ts'
import { peersOf } from './kinds.ts'

export const ranks = { none: 0, member: 1, moderator: 2, admin: 3, owner: 4, siteAdmin: 5, superAdmin: 6 } as const

/** What somebody is in a room, and so may do there. */
export interface Standing {
  rank: number
  role: string | null
  isMember: boolean
  isAdmin: boolean
  isSuperAdmin: boolean
  isModerator: boolean
  canPin: boolean
  canDelete: boolean
  canMute: boolean
  canManageMods: boolean
}

const all = { isModerator: true, canPin: true, canDelete: true, canMute: true, canManageMods: true }
const none = { isModerator: false, canPin: false, canDelete: false, canMute: false, canManageMods: false }
const rankOfRole: Record<MemberRole, number> = {
  owner: ranks.owner,
  admin: ranks.admin,
  moderator: ranks.moderator,
  member: ranks.member,
}
export const rankOf = (role: MemberRole) => rankOfRole[role]

export function standingOf(view: View, account: string): Standing {
  const siteRole = roleIn(view, account)
  const room = view.room === view.global.room ? null : refOf(view)
  const member = room && room.type !== 'dm' ? memberIn(view, account) : null
  const grant = moderatorIn(view, account)
  const globalGrant = moderatorIn(view.global, account)
  const isMember = room?.type === 'dm' ? peersOf(room.id).includes(account) : member !== null
  const base = { isMember, isAdmin: siteRole !== 'user', isSuperAdmin: siteRole === 'super_admin' }
  if (room?.type === 'dm')
    return { ...base, ...none, rank: isMember ? ranks.member : ranks.none, role: isMember ? 'member' : null }
  if (siteRole === 'super_admin') return { ...base, ...all, rank: ranks.superAdmin, role: 'super_admin' }
  if (siteRole === 'admin') return { ...base, ...all, rank: ranks.siteAdmin, role: 'admin' }
  if (member?.role === 'owner' || member?.role === 'admin')
    return { ...base, ...all, rank: rankOf(member.role), role: member.role }
  const isOfficial = room === null || room.type === 'alpha' || roomIn(view)?.is_official === true
  const held = grant ?? (isOfficial ? globalGrant : null)
  if (held) {
    const { can_pin: canPin, can_delete: canDelete, can_mute: canMute, can_manage_mods: canManageMods } = held
    return {
      ...base,
      isModerator: true,
      canPin,
      canDelete,
      canMute,
      canManageMods,
      rank: ranks.moderator,
      role: 'moderator',
    }
  }
  if (member?.role === 'moderator')
    return { ...base, ...all, canManageMods: false, rank: ranks.moderator, role: 'moderator' }
  return { ...base, ...none, rank: isMember ? ranks.member : ranks.none, role: isMember ? 'member' : null }
}

export const isSuspended = (view: View, account: string): boolean => suspensionIn(view, account) !== null

/** Those of higher rank are out of reach; so is one's own rank, but for moderators who may manage moderators. */
export const mayTouch = (actor: Standing, target: Standing): boolean =>
  actor.rank > target.rank || (actor.rank === ranks.moderator && target.rank === ranks.moderator && actor.canManageMods)
