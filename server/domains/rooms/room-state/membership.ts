import type { Judgement, View } from '#server/log/types'
import type { MemberRole } from '#shared/api/rooms/room'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { entryOf } from './entries.ts'
import { memberJoined, memberLeft } from './events/people.ts'
import {
  banIn,
  grantIn,
  invitationsIn,
  isTermRunning,
  type ModeratorFact,
  memberIn,
  roomIn,
  roomRefOf,
} from './facts.ts'
import { isKnownRoom, kindOf, kinds } from './kinds.ts'
import { Bans, Members } from './model.ts'
import { type Pass, passesGate } from './passes.ts'
import { isLimited, isSuspended, standingOf } from './standing.ts'

interface Actor {
  account: string
  name: string
}

interface Joining {
  who?: Actor
  role?: MemberRole
  invited?: boolean
  /** The used link, with this use counted. */
  invitation?: { id: string; uses: number }
  /** The pass of the room's gate, which every way in requires. */
  pass?: Pass | null
}

/** Joins an account to a room, by itself or by another member. */
export function becomeMember(
  view: View,
  now: number,
  actor: Actor,
  { who = actor, role = 'member', invited = false, invitation, pass = null }: Joining = {},
): Judgement<null> {
  const room = roomIn(view)
  const ban = banIn(view, who.account, now)
  const present = memberIn(view, who.account)
  const standing = standingOf(view, who.account)
  if (!room) return { refuse: new AppError('ROOM_NOT_FOUND') }
  if (room.access_level === 'staff' && !standing.isModerator) return { refuse: new AppError('ROOM_NOT_FOUND') }
  if (isSuspended(view, actor.account)) return { refuse: new AppError('SUSPENDED') }
  if (ban) return { refuse: new AppError('BANNED', { details: { until: ban.banned_until, reason: ban.reason } }) }
  if (present) return { already: null }
  if (!room.is_active) return { refuse: new AppError('ROOM_ARCHIVED') }
  if (!invited && kinds[roomRefOf(view).type].joining !== 'open') return { refuse: new AppError('ROOM_NOT_FOUND') }
  if (!passesGate(view, who.account, pass)) return { refuse: new AppError('GATE_NOT_PASSED') }
  const joined = { joined_at: new Date(now).toISOString(), joined_seq: view.seq, joined_n: view.total }
  const member = { user_address: who.account, role, ...joined }
  const body = { member, member_count: room.member_count + 1, ...(invitation ? { invitation } : {}) }
  return { accept: entryOf(view, actor, memberJoined, body, { target: who.account, targetName: who.name }) }
}

const memberCountWithout = (view: View): number => Math.max(0, (roomIn(view)?.member_count ?? 0) - 1)

interface LeavingChanges {
  member_count: number
  moderator?: ModeratorFact | null
  invitations?: null
}

/** The changes when a member leaves: rights end, and a limit stays. */
export function leavingChanges(view: View, account: string): LeavingChanges {
  const grant = grantIn(view, account)
  const left = grant && isLimited(view, account) ? { ...grant, granted_seq: null } : null
  return {
    member_count: memberCountWithout(view),
    ...(grant ? { moderator: left } : {}),
    ...revokedInvitations(view, account),
  }
}

/** The change for people who may no longer invite: their invitations stay revoked, even if the right returns. */
export const revokedInvitations = (view: View, account: string): { invitations?: null } =>
  invitationsIn(view).some(({ invited_by, revoked_at }) => isSameAccount(invited_by, account) && revoked_at === null)
    ? { invitations: null }
    : {}

export function giveUpMembership(view: View, actor: Actor): Judgement<null> {
  const member = memberIn(view, actor.account)
  const room = roomIn(view)
  if (!room) return { refuse: new AppError('ROOM_NOT_FOUND') }
  if (!member) return { already: null }
  return { accept: entryOf(view, actor, memberLeft, leavingChanges(view, actor.account)) }
}

/** The memberships of an account, with the fields of its list and counts. */
export async function ownMemberships(account: string) {
  const shown = { room: 1, role: 1, joined_at: 1, joined_seq: 1, joined_n: 1 }
  const rows = await Members.find({ user_address: account, is_active: true }, shown).lean()
  return rows.filter(({ room }) => isKnownRoom(room))
}

export const membershipsOf = async (account: string): Promise<string[]> =>
  (await ownMemberships(account)).map(({ room }) => room)

/** The rooms of each of these accounts. */
export async function membershipsOfAll(accounts: readonly string[]): Promise<{ account: string; room: string }[]> {
  const filter = { user_address: { $in: [...accounts] }, is_active: true }
  const rows = await Members.find(filter, { user_address: 1, room: 1 }).lean()
  return rows.filter(({ room }) => isKnownRoom(room)).map(({ user_address, room }) => ({ account: user_address, room }))
}

/** The roles that manage a room, and bring people into a closed one. */
export const adminRoles: readonly MemberRole[] = ['owner', 'admin']

/** The roles of these accounts in these rooms, by the records. */
export async function rolesOfAll(accounts: readonly string[], rooms: readonly string[]) {
  const filter = { user_address: { $in: accounts }, room: { $in: rooms }, is_active: true }
  const rows = await Members.find(filter, { user_address: 1, room: 1, role: 1 }).lean()
  return rows.map(({ user_address: account, room, role }) => ({ account, room, role: role as MemberRole }))
}

/** The rooms among these from which an account is banned now, by the records. */
export async function roomsBannedFrom(account: string, rooms: readonly string[], now: number): Promise<Set<string>> {
  const rows = await Bans.find({ room: { $in: rooms }, user_address: account, is_active: true }).lean()
  return new Set(rows.filter(({ banned_until }) => isTermRunning(banned_until, now)).map(({ room }) => room))
}

const askedAtMost = 200

/** The newest rooms that an account left by a ban, still in force or not; each log knows. */
export async function roomsLeftByBan(account: string): Promise<string[]> {
  const past = await Members.find(
    { user_address: account, is_active: false, joined_at: { $exists: true } },
    { room: 1, applied_seq: 1, joined_at: 1 },
  ).lean()
  const bans = await Bans.find({ _id: { $in: past.map(({ room }) => `${room}|ban:${account}`) } }).lean()
  const banned = new Map(bans.map(({ room, applied_seq }) => [room, applied_seq]))
  // A ban changes both records at once. A later departure was voluntary.
  const parted = past.filter(({ room, applied_seq }) => isKnownRoom(room) && (banned.get(room) ?? 0) >= applied_seq)
  const newest = parted.toSorted((one, other) => (one.joined_at < other.joined_at ? 1 : -1))
  return newest.map(({ room }) => room).slice(0, askedAtMost)
}

/** The accounts among these that share a closed room with this one. */
export async function accountsSharingClosedRooms(account: string, others: readonly string[]): Promise<Set<string>> {
  const closed = (await membershipsOf(account)).filter((room) => kindOf(room).joining === 'invited')
  return new Set((await rolesOfAll(others, closed)).map((one) => one.account))
}
