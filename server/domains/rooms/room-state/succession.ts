import { plazaAccount } from '#server/domains/people/accounts/accounts'
import { accountSuspended } from '#server/domains/people/accounts/events'
import { suspendedAccounts } from '#server/domains/people/accounts/facts'
import { hiddenAccountsAmong } from '#server/domains/people/accounts/found'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import { isRowOf } from '#server/domains/rooms/events/define'
import type { Node } from '#server/kernel/context'
import {
  type Act,
  type Entry,
  GLOBAL,
  type Judgement,
  type LoggedEvent,
  type Outcome,
  type RoomKey,
  type View,
} from '#server/log/types'
import type { MemberRole } from '#shared/api/rooms/room'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { isAgent } from '#shared/kit/room-agents'
import { inSuccession, roleBelow } from '#shared/kit/succession'
import { roleChanged } from './events/people.ts'
import { type MemberFact, memberIn, moderatorIn, roomIn } from './facts.ts'
import { isKnownRoom, kindOf, typesWhere } from './kinds.ts'
import { adminRoles, revokedInvitations } from './membership.ts'
import { Members, Moderators, Rooms } from './model.ts'
import { actorOf, entryOf, isSuspended, plazaActor, rankOf, ranks } from './standing.ts'

interface NamedAccount {
  account: string
  name: string
}
interface Candidate extends NamedAccount {
  role: MemberRole
}

const membersAtOnce = 100
const membersAtMost = 5_000
const fields = { user_address: 1, role: 1 } as const

interface Candidates {
  candidates: Candidate[]
  /** So many of the oldest members were read. */
  read: number
}

const isPerson = (account: string): boolean => !isAgent(account) && !isSameAccount(account, plazaAccount)

/**
 * Possible successors by the records: members with a role, the newest member, and the oldest ones. The oldest are read
 * until one can follow. The log decides on right and order.
 */
async function candidatesIn(node: Node, key: RoomKey, but: string | null): Promise<Candidates> {
  const here = { room: key, is_active: true }
  const grants = await Moderators.find(here, { user_address: 1 }).lean()
  const others = await Promise.all([
    Members.find({ ...here, role: { $in: [...adminRoles, 'moderator'] } }, fields).lean(),
    Members.find({ ...here, user_address: { $in: grants.map((grant) => grant.user_address) } }, fields).lean(),
    Members.find(here, fields).sort({ joined_at: -1 }).limit(1).lean(),
  ])
  const roles = new Map(others.flat().map(({ user_address, role }) => [user_address, role]))
  let read = 0
  for (let isMore = true; isMore; ) {
    const page = await Members.find(here, fields).sort({ joined_at: 1 }).skip(read).limit(membersAtOnce).lean()
    read += page.length
    const hidden = await hiddenAccountsAmong(page.map(accountOf), null, 'directories')
    const able = page.filter((row) => !hidden.has(accountOf(row)) && accountOf(row) !== but && isPerson(accountOf(row)))
    for (const { user_address, role } of able) roles.set(user_address, role)
    isMore = able.length === 0 && page.length === membersAtOnce && read < membersAtMost
  }
  if (but !== null) roles.delete(but)
  for (const account of await hiddenAccountsAmong([...roles.keys()], null, 'lists')) roles.delete(account)
  const profiles = await profilesOf(node, [...roles.keys()])
  const candidates = [...roles].map(([account, role]) => ({
    account,
    role,
    name: profiles.get(account)?.name ?? account,
  }))
  return { candidates, read }
}

const accountOf = ({ user_address }: { user_address: string }): string => user_address

export const roleEntry = (
  view: View,
  actor: NamedAccount,
  target: NamedAccount,
  member: MemberFact,
  role: MemberRole,
): Entry => {
  const lost = rankOf(role) < ranks.admin ? revokedInvitations(view, target.account) : {}
  const body = { role, member: { ...member, role }, permissions: null, ...lost }
  return entryOf(view, actor, roleChanged, body, { target: target.account, targetName: target.name })
}

const isRunBy = (key: RoomKey, member: Pick<MemberFact, 'role'> | null): boolean => {
  const { runBy } = kindOf(key)
  return runBy !== null && member !== null && rankOf(member.role) >= rankOf(runBy)
}

/** Does this member manage the room now? */
export const managesRoom = (view: View, account: string): boolean =>
  isRunBy(view.room, memberIn(view, account)) && !isSuspended(view, account)

/** May this member take the room over? */
export const mayManageRoom = (view: View, account: string): boolean =>
  memberIn(view, account) !== null && !isSuspended(view, account) && isPerson(account)

/** Official rooms are managed by staff, and a stream by its streamer. */
export const hasSuccession = (key: RoomKey): boolean => kindOf(key).runBy !== null && kindOf(key).keeps !== 'its owner'
const isPassedOn = (view: View): boolean => {
  const room = roomIn(view)
  return hasSuccession(view.room) && room?.is_active === true && !room.is_official
}

/** The appointment of the successor; null if there is none. */
function appointment(view: View, actor: NamedAccount, candidates: readonly NamedAccount[]): Entry | null {
  const { runBy } = kindOf(view.room)
  const members = candidates
    .filter(({ account }) => mayManageRoom(view, account))
    .flatMap((one) => asCandidate(view, one))
  const [heir] = members.toSorted(inSuccession)
  return runBy !== null && heir && isPassedOn(view) ? roleEntry(view, actor, heir, heir.member, runBy) : null
}

function asCandidate(view: View, { account, name }: NamedAccount) {
  const member = memberIn(view, account)
  if (!member) return []
  const role = member.role === 'member' && moderatorIn(view, account) ? ('moderator' as const) : member.role
  return [{ account, name, member, role, user_address: account, joined_at: member.joined_at }]
}

/** Does somebody manage the room, or nobody by its kind? Its owner usually does, which costs no query. */
export async function isManaged(node: Node, key: RoomKey): Promise<boolean> {
  const owner = await node.log.ask(key, (view) => (isPassedOn(view) ? (roomIn(view)?.owner_address ?? '') : null))
  if (owner === null || (await node.log.ask(key, (view) => managesRoom(view, owner)))) return true
  const heads = await Members.find(
    { room: key, is_active: true, role: { $in: adminRoles } },
    { user_address: 1 },
  ).lean()
  return node.log.ask(key, (view) => heads.some(({ user_address }) => managesRoom(view, user_address)))
}

const triesAtMost = 5
const alreadySo: Judgement<null> = { already: null }

/**
 * An act by which a member leaves, or loses the managing role. If nobody else manages the room, the successor is
 * appointed first in the same turn. No row thus leaves a room without a manager. Without a successor the member may
 * leave, but not lose the role.
 */
export async function actWithSuccession<M extends LoggedEvent, T = never>(
  node: Node,
  key: RoomKey,
  leaver: string,
  act: Act<T, M>,
  { stays = false } = {},
): Promise<Outcome<T, M>> {
  const unsettled = new AppError('SERVICE_UNAVAILABLE')
  // The records are read only if a successor is needed.
  let known: Candidates | null = null
  let actor: NamedAccount = plazaActor
  for (let tries = 1; ; tries++) {
    const isLast = (view: View) =>
      isPassedOn(view) &&
      managesRoom(view, leaver) &&
      !known?.candidates.some(({ account }) => managesRoom(view, account))
    const refusalOf = (view: View): AppError | null => {
      if (!isLast(view)) return null
      // Members who joined after the read may also succeed.
      const isToCome = known === null || known.read < Math.min(roomIn(view)?.member_count ?? 0, membersAtMost)
      if (known?.candidates.some(({ account }) => mayManageRoom(view, account)) || (isToCome && tries < triesAtMost))
        return unsettled
      return stays ? new AppError('VALIDATION_ERROR', { message: 'Nobody else here can run this room' }) : null
    }
    const judge = (view: View, now: number): Judgement<T> => {
      const judged = act.judge(view, now)
      const refuse = 'accept' in judged ? refusalOf(view) : null
      return refuse ? { refuse } : judged
    }
    const appoint = (view: View, now: number): Judgement<null> => {
      const isToBe = isAccepted(() => act.judge(view, now)) && isLast(view)
      const entry = isToBe ? appointment(view, actor, known?.candidates ?? []) : null
      return entry ? { accept: entry } : alreadySo
    }
    try {
      const [, outcome] = await Promise.all([
        known && node.log.act(key, { sender: act.sender, makes: roleChanged, judge: appoint }),
        node.log.act<M, T>(key, { ...act, judge }),
      ])
      return outcome
    } catch (error) {
      if (error !== unsettled || tries >= triesAtMost) throw error
      known = await candidatesIn(node, key, leaver)
      if (!isSameAccount(act.sender, plazaActor.account)) actor = await actorOf(node, act.sender)
    }
  }
}

/** False if the judgement throws: then no successor is needed. */
function isAccepted(judge: () => Judgement<unknown>): boolean {
  try {
    return 'accept' in judge()
  } catch {
    return false
  }
}

/** Appoints a successor in a room without a manager. A suspended manager gets the role below. */
async function appointManager(node: Node, key: RoomKey): Promise<void> {
  const { candidates } = await candidatesIn(node, key, null)
  const isRun = (view: View) => candidates.some(({ account }) => managesRoom(view, account))
  const { row } = await node.log.act(key, {
    sender: plazaActor.account,
    makes: roleChanged,
    judge(view): Judgement<null> {
      const entry = isRun(view) ? null : appointment(view, plazaActor, candidates)
      return entry ? { accept: entry } : alreadySo
    },
  })
  if (!row) return
  for (const one of candidates.filter((member) => isRunBy(key, member)))
    await lowerRole(node, key, plazaActor, one, (view) => isSuspended(view, one.account) && isRun(view))
}

/** Lowers the role of a manager, if it is due. */
export async function lowerRole(
  node: Node,
  key: RoomKey,
  actor: NamedAccount,
  who: NamedAccount,
  isDue: (view: View) => boolean,
): Promise<void> {
  const { runBy } = kindOf(key)
  if (runBy === null) return
  await node.log.act(key, {
    sender: actor.account,
    makes: roleChanged,
    judge(view) {
      const member = memberIn(view, who.account)
      if (member?.role !== runBy || !isDue(view)) return alreadySo
      return { accept: roleEntry(view, actor, who, member, roleBelow[runBy]) }
    },
  })
}

/** The same for each of these rooms; a failure is logged, and repeated at the next start. */
export const appointManagers = async (node: Node, keys: readonly RoomKey[]): Promise<void> => {
  for (const key of keys)
    await appointManager(node, key).catch((error: unknown) =>
      node.logger.warn({ room: key, error }, 'nobody was appointed who runs a room'),
    )
}

/** Appoints successors in the rooms of a suspended account. The next start completes missed ones. */
export function followSuspensions(node: Node): void {
  node.log.onRows((key, rows, isOurs) => {
    if (!isOurs || key !== GLOBAL) return
    for (const row of rows)
      if (isRowOf(row, accountSuspended) && row.target !== null)
        roomsRunBy(row.target)
          .then((run) => appointManagers(node, run))
          .catch((error: unknown) => node.logger.warn({ error }, 'the rooms of a suspended account were not handed on'))
  })
}

async function roomsRunBy(account: string): Promise<RoomKey[]> {
  const rows = await Members.find({ user_address: account, is_active: true }, { room: 1, role: 1 }).lean()
  return rows
    .filter(({ room, role }) => isKnownRoom(room) && hasSuccession(room) && isRunBy(room, { role }))
    .map(({ room }) => room)
}

const roomsAtOnce = 500

/** Finds rooms without a manager, such as those of older versions, a few at a time. */
export async function appointMissingManagers(node: Node): Promise<void> {
  const types: readonly string[] = typesWhere(({ runBy, keeps }) => runBy !== null && keeps !== 'its owner')
  const suspended = new Set(await suspendedAccounts())
  const shown = { type: 1, is_active: 1, is_official: 1, member_count: 1 }
  for (let after = ''; ; ) {
    // With a further condition, a store would read and sort all rooms for each page.
    const page = await Rooms.find({ _id: { $gt: after } }, shown)
      .sort({ _id: 1 })
      .limit(roomsAtOnce)
      .lean()
    const due = page.filter(
      (room) => types.includes(room.type) && room.is_active && room.is_official === false && room.member_count > 0,
    )
    const keys = due.map(({ _id }) => _id)
    const held = { room: { $in: keys }, is_active: true, role: { $in: adminRoles } }
    const heads = await Members.find(held, { room: 1, role: 1, user_address: 1 }).lean()
    const run = new Set(
      heads
        .filter(({ room, role, user_address }) => isRunBy(room, { role }) && !suspended.has(user_address))
        .map(({ room }) => room),
    )
    await appointManagers(
      node,
      keys.filter((key) => !run.has(key)),
    )
    after = page.at(-1)?._id ?? ''
    if (page.length < roomsAtOnce) return
  }
}
