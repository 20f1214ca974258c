import { suspendedAccountsAmong } from '#server/domains/people/accounts/facts'
import { listAdmins } from '#server/domains/people/accounts/lists'
import type { Node } from '#server/kernel/context'
import { GLOBAL, type Judgement, type RoomKey, type View } from '#server/log/types'
import type { Gate } from '#shared/api/rooms/gates'
import type { MemberRole } from '#shared/api/rooms/room'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { isAgent } from '#shared/kit/room-agents'
import { foundedBy } from '#shared/kit/room-kinds'
import { memberJoined, memberLeft, memberRemoved } from './events/people.ts'
import {
  banIn,
  grantIn,
  invitationsIn,
  isTermRunning,
  type ModeratorFact,
  memberIn,
  type RoomFact,
  roomIn,
  roomRefOf,
} from './facts.ts'
import { isKnownRoom, kindOf, kinds } from './kinds.ts'
import { Bans, Members, Moderators, Rooms } from './model.ts'
import { actorOf, entryOf, isLimited, isStaff, isSuspended, plazaActor, rightsIn, standingOf } from './standing.ts'

/** The proof that an account passed a room's gate. Only `enter` makes it, after asking the gate. */
export interface Pass {
  readonly room: RoomKey
  readonly account: string
}

/** The gate that an account must pass. Founders set it and admins bring in agents, so neither has to. */
export const gateFor = (room: RoomFact, account: string): Gate | null =>
  isSameAccount(room.creator_address, account) || isAgent(account) ? null : room.gate

function passesGate(view: View, account: string, pass: Pass | null): boolean {
  const room = roomIn(view)
  if (room === null || gateFor(room, account) === null) return true
  return pass !== null && pass.room === view.room && isSameAccount(pass.account, account)
}

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

/** The members of the room read it. */
const reason = 'Is not of the staff any more'

/** Is this account staff now? This node's memory suffices if possible. */
export function isStaffNow({ log }: Node, account: string): boolean | Promise<boolean> {
  const question = (view: View) => isStaff(view, account)
  return log.answerHere(GLOBAL, question) ?? log.ask(GLOBAL, question)
}

/** The visible rooms among an account's own: without staff rooms, if its membership there is about to end. */
export async function visibleRooms<Known extends { room: { access_level: string } }>(
  node: Node,
  account: string,
  own: Known[],
): Promise<Known[]> {
  const isOfIt = ({ room }: Known) => room.access_level === 'staff'
  return !own.some(isOfIt) || (await isStaffNow(node, account)) ? own : own.filter((each) => !isOfIt(each))
}

/** Adds staff to their rooms; one who left a room stays out until the next sign-in. */
export async function joinStaffRooms(node: Node, account: string): Promise<void> {
  if (await isStaffNow(node, account)) await updateStaffMemberships(node, account)
}

/** Adds an account to the staff rooms, or removes it, by its present role and grants. */
export async function updateStaffMemberships(node: Node, account: string): Promise<void> {
  for (const key of await staffRooms()) await updateStaffMembership(node, key, account)
}

/** Completes the work of a dead node: removes former staff, and adds new staff. */
export async function updateAllStaffMemberships(node: Node): Promise<void> {
  const keys = await staffRooms()
  if (keys.length === 0) return
  const staff = await staffNow()
  for (const key of keys) {
    const members = await Members.find(
      { room: key, joined_at: { $exists: true } },
      { user_address: 1, is_active: 1 },
    ).lean()
    const known = new Set(members.map(({ user_address }) => user_address))
    const gone = members.filter(({ user_address, is_active }) => is_active && !staff.has(user_address))
    const missing = [...staff].filter((account) => !known.has(account))
    for (const account of [...gone.map(({ user_address }) => user_address), ...missing])
      await updateStaffMembership(node, key, account).catch((error: unknown) =>
        node.logger.warn({ actor: account, room: key, error }, 'somebody of the staff was not settled'),
      )
  }
}

/** By the records; the log decides on each. */
async function staffNow(): Promise<Set<string>> {
  const [admins, moderators] = await Promise.all([
    listAdmins(),
    Moderators.find({ room: GLOBAL, is_active: true }, { user_address: 1 }).lean(),
  ])
  const all = [...admins.map((one) => one.wallet_address), ...moderators.map((one) => one.user_address)]
  const suspended = await suspendedAccountsAmong(all)
  return new Set(all.filter((account) => !suspended.has(account)))
}

async function staffRooms(): Promise<RoomKey[]> {
  const which = { type: foundedBy('createChannel'), is_active: true, access_level: 'staff' }
  const found = await Rooms.find(which, { _id: 1 }).lean()
  return found.map(({ _id }) => _id).filter(isKnownRoom)
}

async function updateStaffMembership(node: Node, key: RoomKey, account: string): Promise<void> {
  const who = await actorOf(node, account)
  if (await isStaffNow(node, account)) {
    await node.log.act(key, {
      sender: account,
      makes: memberJoined,
      judge(view, now) {
        const judged = becomeMember(view, now, who, { invited: true })
        return 'refuse' in judged ? { already: null } : judged
      },
    })
    return
  }
  await node.log.act(key, {
    sender: plazaActor.account,
    makes: memberRemoved,
    judge(view, now) {
      if (!memberIn(view, account) || rightsIn(view, account, now).isModerator) return { already: null }
      const about = { target: account, targetName: who.name, reason }
      return { accept: entryOf(view, plazaActor, memberRemoved, leavingChanges(view, account), about) }
    },
  })
}
