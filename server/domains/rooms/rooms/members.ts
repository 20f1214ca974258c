import { checkGate } from '#server/domains/gates'
import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { plazaAccount } from '#server/domains/people/accounts/accounts'
import { foundRows, isLeavingAccount, refuseNewContact } from '#server/domains/people/accounts/found'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import { friendsAmong, refusalOfContact } from '#server/domains/people/friends/pairs'
import { claimPosition } from '#server/domains/rooms/places/index'
import { actingRoom, keyOf, readRoom, visibleRoom } from '#server/domains/rooms/room-state/access'
import { memberJoined, memberLeft, memberRemoved, roleChanged } from '#server/domains/rooms/room-state/events/people'
import { type MemberFact, memberIn, roomIn } from '#server/domains/rooms/room-state/facts'
import { kindOf } from '#server/domains/rooms/room-state/kinds'
import {
  adminRoles,
  becomeMember,
  gateFor,
  giveUpMembership,
  leavingChanges,
  type Pass,
} from '#server/domains/rooms/room-state/membership'
import { Members } from '#server/domains/rooms/room-state/model'
import { presencesOf } from '#server/domains/rooms/room-state/online'
import { roomAnswer } from '#server/domains/rooms/room-state/rows'
import {
  actorOf,
  entryOf,
  mayTouch,
  rankOf,
  ranks,
  rightsIn,
  standingOf,
} from '#server/domains/rooms/room-state/standing'
import {
  actWithSuccession,
  appointManagers,
  hasSuccession,
  isManaged,
  lowerRole,
  managesRoom,
  mayManageRoom,
  roleEntry,
} from '#server/domains/rooms/room-state/succession'
import { type Action, type Node, signedIn } from '#server/kernel/context'
import type { Judgement, RoomKey, View } from '#server/log/types'
import type { Gate, GateAnswer } from '#shared/api/rooms/gates'
import type { Member } from '#shared/api/rooms/room'
import type { rooms as contract } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { nameOf } from '#shared/kit/person-name'
import { done } from '#shared/kit/primitives'
import { allowInvitations, inviteIntoGroup, notifyInvitedPeople } from './group-invitations/inviting.ts'
import { withSharedKey } from './shared-key.ts'

interface RoomEntry {
  /** The account that enters. */
  who: string
  /** The admitting account, if another. */
  by?: string
  /** Ends in `becomeMember`, which gets the pass. */
  judge(view: View, now: number, pass: Pass | null): Judgement<null>
}

/**
 * Every way into a room with a possible gate. The gate is checked before the log's turn, if nothing else refuses.
 * `answer` is null if no check was needed.
 */
export async function enterRoom(node: Node, key: RoomKey, { who, by = who, judge }: RoomEntry) {
  const pass: Pass = { room: key, account: who }
  const gate = await node.log.ask(key, (view, now) => {
    const room = roomIn(view)
    const asked = room && gateFor(room, who)
    const judged = asked && judge(view, now, pass)
    if (judged && 'refuse' in judged) throw judged.refuse
    return judged && 'accept' in judged ? asked : null
  })
  const answer = gate && (await passGate(node, who, gate))
  const outcome = await node.log.act(key, {
    sender: by,
    makes: memberJoined,
    judge: (view, now) => judge(view, now, answer && pass),
  })
  // A room whose last manager left, or was suspended among others who cannot manage it, had no successor.
  if (outcome.row && !(await isManaged(node, key))) await appointManagers(node, [key])
  return { outcome, answer }
}

/** Throws the refusal with its findings. */
async function passGate(node: Node, account: string, gate: Gate): Promise<GateAnswer> {
  const answer = await checkGate({ node, account, gate, fresh: false })
  if (!answer.passed) throw gateRefusalOf(answer)
  return answer
}

export const gateRefusalOf = ({ text, checked, details }: GateAnswer): AppError =>
  new AppError('GATE_NOT_PASSED', { message: text, details: { ...details, checked } })

export const join: Action<typeof contract.join> = async ({ room, position }, context) => {
  const { account } = signedIn(context)
  if (position) await claimPosition(context.node, account, position)
  const key = await keyOf(room)
  const actor = await actorOf(context.node, account)
  const { outcome, answer } = await enterRoom(context.node, key, {
    who: account,
    judge: (view, now, pass) => becomeMember(view, now, actor, { pass }),
  })
  const already = !outcome.row
  if (already && context.door === 'http' && kindOf(key).joiningAgain === 'refused')
    throw new AppError('VALIDATION_ERROR', { message: 'Already a member of this channel' })
  const shared = await withSharedKey(context.node, key)
  return { room: await roomAnswer(context.node, key, account), already, answer, ...shared }
}

export const leave: Action<typeof contract.leave> = async ({ room }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const actor = await actorOf(context.node, account)
  const { keeps } = kindOf(key)
  const otherAdmins = keeps === 'its last admin' ? await adminsBeside(key, account) : null
  await actWithSuccession(context.node, key, account, {
    sender: account,
    makes: memberLeft,
    judge(view, now) {
      visibleRoom(view, account, now)
      if (otherAdmins && isAdmin(view, account) && !otherAdmins.some((other) => isAdmin(view, other)))
        return { refuse: new AppError('VALIDATION_ERROR', { message: 'Make somebody else an admin first' }) }
      if (keeps === 'its owner' && memberIn(view, account)?.role === 'owner')
        return { refuse: new AppError('VALIDATION_ERROR', { message: 'Its owner cannot leave this room' }) }
      return giveUpMembership(view, actor)
    },
  })
  return done
}

/** By the records; only the log knows whether each still is one. */
async function adminsBeside(key: string, account: string): Promise<string[]> {
  const role = { $in: adminRoles }
  const others = await Members.find({ room: key, is_active: true, role, user_address: { $ne: account } }).lean()
  return others.map(({ user_address }) => user_address)
}

const isAdmin = (view: View, account: string): boolean => {
  const role = memberIn(view, account)?.role
  return role !== undefined && adminRoles.includes(role)
}

/** A page may be shorter than asked, as members who are not found are left out of it. */
export const members: Action<typeof contract.members> = async ({ room, limit, offset, search }, context) => {
  const { node, caller } = context
  const { key } = await readRoom(node, caller, room, () => null)
  const here = { room: key, is_active: true }
  const newest = Members.find(here).sort({ joined_at: -1, _id: 1 })
  const named = search && (await membersNamed(node, await newest.limit(searchedAtMost).lean(), search))
  const found = named && (await foundMembers(named, caller.account))
  const [rows, total] = found
    ? [found.slice(offset, offset + limit), found.length]
    : await Promise.all([newest.skip(offset).limit(limit).lean(), Members.countDocuments(here)])
  return { members: await memberOutputs(node, rows, caller.account), total, hasMore: offset + rows.length < total }
}

type MemberRow = Pick<MemberFact, 'user_address' | 'joined_at' | 'role'>

const foundMembers = <Row extends Pick<MemberRow, 'user_address'>>(rows: readonly Row[], viewer: string | null) =>
  foundRows(rows, ({ user_address }) => user_address, viewer)

/** The found members, with their profiles. */
export async function memberOutputs(
  node: Node,
  members: readonly MemberRow[],
  viewer: string | null,
): Promise<Member[]> {
  const rows = await foundMembers(members, viewer)
  const accounts = rows.map(({ user_address }) => user_address)
  const [profiles, presences] = await Promise.all([profilesOf(node, accounts), presencesOf(node, accounts)])
  return rows.map(({ user_address, joined_at, role }) => {
    const profile = profiles.get(user_address)
    const { name = user_address, username = null, display_name = null, avatar_url: avatar = null } = profile ?? {}
    const online = presences.has(user_address)
    return { user_address, joined_at, role: role as Member['role'], username, display_name, avatar, name, online }
  })
}

/** The newest members, in the form of `members`. */
export async function newestMembers(node: Node, room: string, limit: number, viewer: string | null): Promise<Member[]> {
  const newest = Members.find({ room, is_active: true }).sort({ joined_at: -1, _id: 1 })
  return memberOutputs(node, await newest.limit(limit).lean(), viewer)
}

const searchedAtMost = 2_000

async function membersNamed<Row extends { user_address: string }>(
  node: Node,
  rows: Row[],
  search: string,
): Promise<Row[]> {
  const wanted = search.toLowerCase()
  const profiles = await profilesOf(
    node,
    rows.map(({ user_address }) => user_address),
  )
  return rows.filter(({ user_address }) => {
    const { name, username, display_name } = profiles.get(user_address) ?? {}
    return [user_address, nameOf(name, user_address), username, display_name].some((one) =>
      one?.toLowerCase().includes(wanted),
    )
  })
}

export const addMembers: Action<typeof contract.addMembers> = async ({ id, addresses }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf({ type: 'group', id })
  const { friends, strangers } = await friendsAndStrangers(account, await addablePeople(account, addresses))
  await allowInvitations(context.node, account, strangers.length)
  const invited = await inviteIntoGroup(context.node, account, key, strangers)
  await notifyInvitedPeople(context, key, invited)
  const added = await addPeople(context.node, key, account, friends)
  return { success: true, added, invited }
}

/** Friends may be added; others are invited first. Plaza itself is invited, so that nobody can add it. */
export async function friendsAndStrangers(account: string, people: readonly string[]) {
  const friends = new Set(await friendsAmong(account, people))
  friends.delete(plazaAccount)
  return {
    friends: people.filter((person) => friends.has(person)),
    strangers: people.filter((person) => !friends.has(person)),
  }
}

/** Adds people to a room, one event each, except members. */
export async function addPeople(
  node: Node,
  key: string,
  account: string,
  addresses: readonly string[],
): Promise<string[]> {
  const wanted = await addablePeople(account, addresses)
  const actor = await actorOf(node, account)
  const added: string[] = []
  for (const address of wanted) {
    const who = await actorOf(node, address)
    const { outcome } = await enterRoom(node, key, {
      who: address,
      by: account,
      judge(view, now, pass) {
        const standing = standingOf(view, account)
        visibleRoom(view, account, now)
        if (standing.rank < ranks.admin)
          return { refuse: new AppError('FORBIDDEN', { message: 'Only the admin of the group may add people' }) }
        return becomeMember(view, now, actor, { who, invited: true, pass })
      },
    })
    if (outcome.row) added.push(address)
  }
  return added
}

/** The distinct people whom an account may add. Throws for an unknown or blocked one. */
export async function addablePeople(account: string, addresses: readonly string[]): Promise<string[]> {
  const wanted = [...new Set(addresses)].filter((address) => !isSameAccount(address, account))
  for (const address of wanted) await refuseUnwilling(account, address)
  return wanted
}

async function refuseUnwilling(account: string, address: string): Promise<void> {
  await refuseNewContact(address)
  if (await areBlocked(account, address)) throw new AppError('BLOCKED')
  const refusal = await refusalOfContact('invites_from', account, address)
  if (refusal) throw refusal
}

/** Of a member who is to be erased too, where somebody would appoint them. */
const notAMember = () => new AppError('NOT_FOUND', { message: 'Not a member of this room' })

export const setRole: Action<typeof contract.setRole> = async ({ room, address, role }, context) => {
  const { account } = signedIn(context)
  if (role === 'owner') throw new AppError('VALIDATION_ERROR', { message: 'Owner cannot be assigned' })
  const key = await keyOf(room)
  const [actor, target, isLeaving] = await Promise.all([
    actorOf(context.node, account),
    actorOf(context.node, address),
    isLeavingAccount(address),
  ])
  const setting = {
    sender: account,
    makes: roleChanged,
    judge(view: View, now: number): Judgement<null> {
      const theirs = standingOf(view, address)
      const member = memberIn(view, address)
      const { room: here, standing: mine } = actingRoom(view, account, now)
      if (mine.rank < ranks.admin)
        return { refuse: new AppError('FORBIDDEN', { message: 'Only admins and the owner may set roles' }) }
      if (!here.is_active) return { refuse: new AppError('ROOM_ARCHIVED') }
      if (!member || (isLeaving && rankOf(role) > rankOf(member.role))) return { refuse: notAMember() }
      // Group admins may appoint any number of admins.
      const isOwnRole = role === kindOf(key).runBy && role === memberIn(view, account)?.role
      if (theirs.rank >= mine.rank || (rankOf(role) >= mine.rank && !isOwnRole))
        return { refuse: new AppError('FORBIDDEN', { message: 'You may only touch and give lower ranks' }) }
      if (member.role === role) return { already: null }
      return { accept: roleEntry(view, actor, target, member, role) }
    },
  }
  await actWithSuccession(context.node, key, address, setting, { stays: true })
  return done
}

export const handOver: Action<typeof contract.handOver> = async ({ room, address, client_action_id }, context) => {
  const { account } = signedIn(context)
  const { node } = context
  const key = await keyOf(room)
  const { runBy } = kindOf(key)
  if (runBy === null || !hasSuccession(key))
    throw new AppError('VALIDATION_ERROR', { message: 'room: this kind of room is not handed over' })
  const [actor, heir, isLeaving] = await Promise.all([
    actorOf(node, account),
    actorOf(node, address),
    isLeavingAccount(address),
  ])
  await node.log.act(key, {
    sender: account,
    cid: client_action_id,
    makes: roleChanged,
    isRepeat: (row, body) => isSameAccount(row.target, address) && body.role === runBy,
    judge(view, now) {
      const member = memberIn(view, address)
      const isRunning = managesRoom(view, account)
      // A super admin appoints in any room, without reading it.
      const { isSuperAdmin } = rightsIn(view, account, now)
      const here = isSuperAdmin ? roomIn(view) : actingRoom(view, account, now).room
      if (!here) return { refuse: new AppError('ROOM_NOT_FOUND') }
      if (!isRunning && !isSuperAdmin)
        return { refuse: new AppError('FORBIDDEN', { message: 'Only who runs the room may hand it over' }) }
      if (!here.is_active) return { refuse: new AppError('ROOM_ARCHIVED') }
      if (!member || isLeaving) return { refuse: notAMember() }
      if (!mayManageRoom(view, address))
        return { refuse: new AppError('FORBIDDEN', { message: 'This member cannot run a room' }) }
      if (member.role === runBy) return { already: null }
      return { accept: roleEntry(view, actor, heir, member, runBy) }
    },
  })
  // A room has one owner; a group has any number of admins.
  const owners = runBy === 'owner' ? await ownersOf(node, key) : [actor]
  for (const before of owners.filter((one) => !isSameAccount(one.account, address)))
    await lowerRole(node, key, actor, before, (view) => managesRoom(view, address))
  return done
}

async function ownersOf(node: Node, key: string) {
  const rows = await Members.find({ room: key, is_active: true, role: 'owner' }, { user_address: 1 }).lean()
  return Promise.all(rows.map(({ user_address }) => actorOf(node, user_address)))
}

export const kick: Action<typeof contract.kick> = async ({ room, address, reason }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const [actor, target] = await Promise.all([actorOf(context.node, account), actorOf(context.node, address)])
  await actWithSuccession(context.node, key, address, {
    sender: account,
    makes: memberRemoved,
    judge(view, now) {
      const theirs = standingOf(view, address)
      const member = memberIn(view, address)
      const { room: here, standing: mine } = actingRoom(view, account, now)
      if (!mine.isModerator || !mine.canMute)
        return { refuse: new AppError('FORBIDDEN', { message: 'Only moderators may remove members' }) }
      if (!here.is_active) return { refuse: new AppError('ROOM_ARCHIVED') }
      if (!member) return { refuse: notAMember() }
      if (!mayTouch(mine, theirs))
        return { refuse: new AppError('FORBIDDEN', { message: 'You may only remove members of lower rank' }) }
      const about = { target: address, targetName: target.name, reason: reason ?? null }
      return { accept: entryOf(view, actor, memberRemoved, leavingChanges(view, address), about) }
    },
  })
  return done
}
