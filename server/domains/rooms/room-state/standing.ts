import { roleIn, suspensionIn } from '#server/domains/people/accounts/facts'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import type { EventRecord } from '#server/domains/rooms/events/define'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import type { Entry, Json, View } from '#server/log/types'
import type { MemberRole } from '#shared/api/rooms/room'
import type { RoomEventType } from '#shared/api/rooms/room-events'
import { serverActor } from '#shared/kit/accounts'
import { peersOf } from '#shared/kit/room-key'
import { isBetweenTwo } from '#shared/kit/room-kinds'
import { roomArchived } from './events/rooms.ts'
import { banIn, grantIn, type ModeratorFact, memberIn, moderatorIn, roomIn, roomRefOf } from './facts.ts'
import { kinds } from './kinds.ts'

export const ranks = { none: 0, member: 1, moderator: 2, admin: 3, owner: 4, siteAdmin: 5, superAdmin: 6 } as const

/** A person's role and rights in a room. */
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

type Rights = Pick<Standing, 'isModerator' | 'canPin' | 'canDelete' | 'canMute' | 'canManageMods'>
const all: Rights = { isModerator: true, canPin: true, canDelete: true, canMute: true, canManageMods: true }
const none: Rights = { isModerator: false, canPin: false, canDelete: false, canMute: false, canManageMods: false }

export function standingOf(view: View, account: string): Standing {
  const siteRole = roleIn(view, account)
  const room = view.room === view.global.room ? null : roomRefOf(view)
  const isPeers = room !== null && isBetweenTwo(room.type)
  const member = room && !isPeers ? memberIn(view, account) : null
  const granted = grantIn(view, account)
  const globalGrant = moderatorIn(view.global, account)
  const isMember = isPeers ? peersOf(room.id).includes(account) : member !== null
  if (room && !isPeers && roomIn(view)?.access_level === 'staff' && !runsOfficial(view, account)) return outsider
  const site = { isMember, isAdmin: siteRole !== 'user', isSuperAdmin: siteRole === 'super_admin' }
  const plain = makeStanding(site, none, isMember ? ranks.member : ranks.none, isMember ? 'member' : null)
  if (room && !kinds[room.type].hasModerators) return plain
  if (siteRole === 'super_admin') return makeStanding(site, all, ranks.superAdmin, siteRole)
  if (siteRole === 'admin') return makeStanding(site, all, ranks.siteAdmin, siteRole)
  if (member?.role === 'owner' || member?.role === 'admin')
    return makeStanding(site, all, rankOf(member.role), member.role)
  const grant = moderatorIn(view, account)
  if (grant) return makeStanding(site, grantedBy(grant), ranks.moderator, 'moderator')
  if (globalGrant && isOfficial(view))
    return makeStanding(site, limitedRights(grantedBy(globalGrant), granted), ranks.moderator, 'moderator')
  if (member?.role === 'moderator')
    return makeStanding(site, { ...all, canManageMods: false }, ranks.moderator, 'moderator')
  return plain
}

/** Is the account an admin, or a global moderator of this official room? Staff rooms have no other members. */
const runsOfficial = (view: View, account: string): boolean =>
  roleIn(view, account) !== 'user' || (isOfficial(view) && moderatorIn(view.global, account) !== null)

/** Is the account staff: an admin or a global moderator, not suspended? It reads the global log. */
export const isStaff = (view: View, account: string): boolean =>
  runsOfficial(view, account) && !isSuspended(view, account)

/** Is this an official room, where global moderators have rights? */
const isOfficial = (view: View): boolean =>
  view.room === view.global.room ||
  kinds[roomRefOf(view).type].founded.by === 'the server' ||
  roomIn(view)?.is_official === true

/**
 * The grade: rights of an equal or higher grade cannot be changed. Moderators are graded by global appointment, then by
 * the right to manage others.
 */
export function gradeOf(view: View, account: string): number {
  const { rank, canManageMods } = standingOf(view, account)
  if (rank !== ranks.moderator) return rank
  const isAppointedToAll = isOfficial(view) && moderatorIn(view.global, account) !== null
  return rank + (isAppointedToAll ? 0.5 : 0) + (canManageMods ? 0.25 : 0)
}

/** The global rights, limited by the grant here, so that leaving the room lifts no limit. */
const limitedRights = (everywhere: Rights, here: ModeratorFact | null): Rights =>
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

/** Does the grant here limit a global moderator's rights? */
export function isLimited(view: View, account: string): boolean {
  const here = view.room === view.global.room ? null : grantIn(view, account)
  const everywhere = here && isOfficial(view) ? moderatorIn(view.global, account) : null
  return here !== null && everywhere !== null && grants.some((right) => everywhere[right] && !here[right])
}

const grantedBy = ({ can_pin, can_delete, can_mute, can_manage_mods }: ModeratorFact): Rights => ({
  isModerator: true,
  canPin: can_pin,
  canDelete: can_delete,
  canMute: can_mute,
  canManageMods: can_manage_mods,
})

// Field by field, because a spread costs microseconds a field, and every message needs it.
const makeStanding = (
  { isMember, isAdmin, isSuperAdmin }: Pick<Standing, 'isMember' | 'isAdmin' | 'isSuperAdmin'>,
  { isModerator, canPin, canDelete, canMute, canManageMods }: Rights,
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

/** Neither a member nor with any right. */
const outsider = makeStanding({ isMember: false, isAdmin: false, isSuperAdmin: false }, none, ranks.none, null)

export const isSuspended = (view: View, account: string): boolean => suspensionIn(view, account) !== null

/** The present rights here. Suspended and banned people have none, but keep the rank that protects them. */
export function rightsIn(view: View, account: string, now: number): Standing {
  const held = standingOf(view, account)
  const isBanned = view.room !== view.global.room && banIn(view, account, now) !== null
  return isBanned || isSuspended(view, account) ? { ...held, ...none, isAdmin: false, isSuperAdmin: false } : held
}

/** Nobody acts on an equal or higher rank, except moderators who may manage moderators. */
export const mayTouch = (actor: Standing, target: Standing): boolean =>
  actor.rank > target.rank || (actor.rank === ranks.moderator && target.rank === ranks.moderator && actor.canManageMods)

/** The actor of automatic acts. */
export const plazaActor = { account: serverActor, name: 'Plaza' }

interface EntryOptions {
  target?: string | null
  targetName?: string | null
  until?: string | null
  reason?: string | null
}

/** An event as a log entry, signed with the actor's name and present rank, which may be given. */
export const entryOf = <Body>(
  view: View,
  actor: { account: string; name: string; role?: string | null },
  { type }: Pick<EventRecord<RoomEventType, Body>, 'type' | 'body'>,
  body: NoInfer<Body>,
  { target = null, targetName = null, until = null, reason = null }: EntryOptions = {},
): Entry => ({
  type,
  body: {
    actor: { name: actor.name, role: actor.role === undefined ? standingOf(view, actor.account).role : actor.role },
    ...(targetName === null ? {} : { target_name: targetName }),
    ...(body as unknown as { [key: string]: Json }),
  },
  target,
  until: until === null ? null : Date.parse(until),
  reason,
})

const loadingOn = nodeState(() => new Map<string, Promise<string>>())

/** One look-up for simultaneous callers, so that acts keep their order. */
export function displayNameOf(node: Node, account: string): Promise<string> {
  const loading = loadingOn(node)
  const known = loading.get(account)
  if (known) return known
  const load = profilesOf(node, [account])
    .then((profiles) => profiles.get(account)?.name ?? account)
    .finally(() => loading.delete(account))
  loading.set(account, load)
  return load
}

export const actorOf = async (node: Node, account: string) => ({ account, name: await displayNameOf(node, account) })

/** Archives a room without a check of rights. */
export async function archiveRoom(node: Node, key: string, actor: { account: string; name: string }): Promise<void> {
  await node.log.act(key, {
    sender: actor.account,
    makes: roomArchived,
    judge: (view) => (roomIn(view)?.is_active ? { accept: entryOf(view, actor, roomArchived, {}) } : { already: null }),
  })
}
