import { suspendedAccountsAmong } from '#server/domains/people/accounts/facts'
import { listAdmins } from '#server/domains/people/accounts/lists'
import type { Node } from '#server/kernel/context'
import { GLOBAL, type RoomKey, type View } from '#server/log/types'
import { foundedBy } from '#shared/kit/room-kinds'
import { actorOf, entryOf, plazaActor } from './entries.ts'
import { memberJoined, memberRemoved } from './events/people.ts'
import { memberIn } from './facts.ts'
import { isKnownRoom } from './kinds.ts'
import { becomeMember, leavingChanges } from './membership.ts'
import { Members, Moderators, Rooms } from './model.ts'
import { isStaff, rightsIn } from './standing.ts'

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
