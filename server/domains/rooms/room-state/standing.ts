import { roleIn, suspensionIn } from '#server/domains/people/accounts/facts'
import type { View } from '#server/log/types'
import type { MemberRole } from '#shared/api/room'
import { peersOf } from '#shared/kit/room-key'
import { isBetweenTwo } from '#shared/kit/room-kinds'
import { banIn, grantIn, type ModeratorFact, memberIn, moderatorIn, refOf, roomIn } from './facts.ts'
import { kinds } from './kinds.ts'

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

const rankOfRole: Record<MemberRole, number> = {
  owner: ranks.owner,
  admin: ranks.admin,
  moderator: ranks.moderator,
  member: ranks.member,
}
export const rankOf = (role: MemberRole) => rankOfRole[role]

type May = Pick<Standing, 'isModerator' | 'canPin' | 'canDelete' | 'canMute' | 'canManageMods'>
const all: May = { isModerator: true, canPin: true, canDelete: true, canMute: true, canManageMods: true }
const none: May = { isModerator: false, canPin: false, canDelete: false, canMute: false, canManageMods: false }

export function standingOf(view: View, account: string): Standing {
  const siteRole = roleIn(view, account)
  const room = view.room === view.global.room ? null : refOf(view)
  const isPeers = room !== null && isBetweenTwo(room.type)
  const member = room && !isPeers ? memberIn(view, account) : null
  const granted = grantIn(view, account)
  const globalGrant = moderatorIn(view.global, account)
  const isMember = isPeers ? peersOf(room.id).includes(account) : member !== null
  if (room && !isPeers && roomIn(view)?.access_level === 'staff' && !runsOfficial(view, account)) return outsider
  const site = { isMember, isAdmin: siteRole !== 'user', isSuperAdmin: siteRole === 'super_admin' }
  const plain = standing(site, none, isMember ? ranks.member : ranks.none, isMember ? 'member' : null)
  if (room && !kinds[room.type].hasModerators) return plain
  if (siteRole === 'super_admin') return standing(site, all, ranks.superAdmin, siteRole)
  if (siteRole === 'admin') return standing(site, all, ranks.siteAdmin, siteRole)
  if (member?.role === 'owner' || member?.role === 'admin') return standing(site, all, rankOf(member.role), member.role)
  const grant = moderatorIn(view, account)
  if (grant) return standing(site, grantedBy(grant), ranks.moderator, 'moderator')
  if (globalGrant && isOfficial(view))
    return standing(site, within(grantedBy(globalGrant), granted), ranks.moderator, 'moderator')
  if (member?.role === 'moderator')
    return standing(site, { ...all, canManageMods: false }, ranks.moderator, 'moderator')
  return plain
}

/** Is somebody an admin, or one who moderates all official rooms where this is one? A room of the staff has no other members. */
const runsOfficial = (view: View, account: string): boolean =>
  roleIn(view, account) !== 'user' || (isOfficial(view) && moderatorIn(view.global, account) !== null)

/** Is somebody of the staff: an admin or a global moderator who is not suspended? Asked of the log of what holds everywhere. */
export const isStaff = (view: View, account: string): boolean =>
  runsOfficial(view, account) && !isSuspended(view, account)

/** Is this an official room, where global moderators moderate? */
const isOfficial = (view: View): boolean =>
  view.room === view.global.room ||
  kinds[refOf(view).type].founded.by === 'the house' ||
  roomIn(view)?.is_official === true

/** You may change the rights only of people with a lower grade. Moderators are graded by where they were appointed, then by whether they manage others. */
export function gradeOf(view: View, account: string): number {
  const { rank, canManageMods } = standingOf(view, account)
  if (rank !== ranks.moderator) return rank
  const isAppointedToAll = isOfficial(view) && moderatorIn(view.global, account) !== null
  return rank + (isAppointedToAll ? 0.5 : 0) + (canManageMods ? 0.25 : 0)
}

/** The rights held everywhere, limited by what was granted here, so that leaving the room lifts no limit. */
const within = (everywhere: May, here: ModeratorFact | null): May =>
  here === null
    ? everywhere
    : {
        isModerator: true,
        canPin: everywhere.canPin && here.can_pin,
        canDelete: everywhere.canDelete && here.can_delete,
        canMute: everywhere.canMute && here.can_mute,
        canManageMods: everywhere.canManageMods && here.can_manage_mods,
      }

const grants = ['can_pin', 'can_delete', 'can_mute', 'can_manage_mods'] as const

/** Does the grant here limit the rights that a global moderator holds everywhere? */
export function isLimited(view: View, account: string): boolean {
  const here = view.room === view.global.room ? null : grantIn(view, account)
  const everywhere = here && isOfficial(view) ? moderatorIn(view.global, account) : null
  return here !== null && everywhere !== null && grants.some((right) => everywhere[right] && !here[right])
}

const grantedBy = ({ can_pin, can_delete, can_mute, can_manage_mods }: ModeratorFact): May => ({
  isModerator: true,
  canPin: can_pin,
  canDelete: can_delete,
  canMute: can_mute,
  canManageMods: can_manage_mods,
})

// Field by field: adding to a spread object costs microseconds a field, and every message asks for its sender's standing.
const standing = (
  { isMember, isAdmin, isSuperAdmin }: Pick<Standing, 'isMember' | 'isAdmin' | 'isSuperAdmin'>,
  { isModerator, canPin, canDelete, canMute, canManageMods }: May,
  rank: number,
  role: string | null,
): Standing => ({
  rank,
  role,
  isMember,
  isAdmin,
  isSuperAdmin,
  isModerator,
  canPin,
  canDelete,
  canMute,
  canManageMods,
})

/** Who is neither in a room nor may do anything there. */
const outsider = standing({ isMember: false, isAdmin: false, isSuperAdmin: false }, none, ranks.none, null)

export const isSuspended = (view: View, account: string): boolean => suspensionIn(view, account) !== null

/** What somebody may do here now. Who is suspended, or banned here, has no rights, but keeps the rank that protects them. */
export function rightsIn(view: View, account: string, now: number): Standing {
  const held = standingOf(view, account)
  const isBanned = view.room !== view.global.room && banIn(view, account, now) !== null
  return isBanned || isSuspended(view, account) ? { ...held, ...none, isAdmin: false, isSuperAdmin: false } : held
}

/** Nobody can act on a higher rank, nor on their own, except moderators who may manage moderators. */
export const mayTouch = (actor: Standing, target: Standing): boolean =>
  actor.rank > target.rank || (actor.rank === ranks.moderator && target.rank === ranks.moderator && actor.canManageMods)
