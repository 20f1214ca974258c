import { z } from 'zod'
import { blockedAmong } from '#server/domains/moderation/blocks/blocks'
import { adminAccountsAmong } from '#server/domains/people/accounts/facts'
import { hiddenAccountsAmong } from '#server/domains/people/accounts/found'
import { profileOf, profilesOf } from '#server/domains/people/accounts/profiles'
import { actingRoom } from '#server/domains/rooms/room-state/access'
import { banIn, memberIn } from '#server/domains/rooms/room-state/facts'
import { notifyInvitationEnded, notifyInvited } from '#server/domains/rooms/room-state/invitation-events'
import {
  accountsSharingClosedRooms,
  adminRoles,
  membershipsOf,
  rolesOfAll,
  roomsBannedFrom,
} from '#server/domains/rooms/room-state/membership'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { ranks } from '#server/domains/rooms/room-state/standing'
import { audiences, type Context, type Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { budgets } from '#server/kernel/limits/budgets'
import { definePeerMessage } from '#server/kernel/peer-message'
import { placeOfId } from '#server/kernel/store/pages'
import type { RoomKey } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import { type GroupInvitation, groupInvitationEnded, groupInvited } from '#shared/api/rooms/group-invitations'
import { AppError } from '#shared/errors'
import { roomOfKey } from '#shared/kit/room-key'
import { type GroupInvitationRow, GroupInvitations } from './model.ts'

/** The reason for an invitation's end. */
type EndStatus = Exclude<GroupInvitationRow['status'], 'pending'>

/** Pending invitations without an acceptance in progress. */
export const undecidedFilter = (now: number, status: 'pending' | 'unsent' = 'pending') => ({
  status,
  $or: [{ accepting_until: null }, { accepting_until: { $lt: new Date(now).toISOString() } }],
})

/** Ends a pending invitation and notifies the invited person. False if it is not pending, or `only` does not match. */
export async function endInvitation(
  node: Node,
  invitation: GroupInvitationRow,
  status: EndStatus,
  only: object = { status: 'pending' },
): Promise<boolean> {
  const { _id, invitation_id } = invitation
  const responded_at = new Date(node.now()).toISOString()
  const { modifiedCount } = await GroupInvitations.updateOne(
    { _id, invitation_id, ...only },
    { $set: { status, responded_at, accepting_until: null } },
  )
  if (modifiedCount === 1 && invitation.status === 'pending') announceEnd(node, invitation)
  return modifiedCount === 1
}

/**
 * A refusal is secret, so an answered invitation can be withdrawn once, like a pending one. False if it was withdrawn,
 * or is in another state.
 */
export async function withdrawAnswered({ _id, invitation_id }: GroupInvitationRow): Promise<boolean> {
  const answered = { status: { $in: ['declined', 'ended'] as const }, taken_back: { $ne: true } }
  const { modifiedCount } = await GroupInvitations.updateOne(
    { _id, invitation_id, ...answered },
    { $set: { taken_back: true } },
  )
  return modifiedCount === 1
}

/** The end of an invitation, for the invited person's devices. */
export const endMessage = definePeerMessage(
  'group-invitations',
  z.object({ account: z.string(), invitation: groupInvitationEnded.payload.shape.invitation }),
  (node, { account, invitation }) => node.live.send(groupInvitationEnded, audiences.account(account), { invitation }),
)

/** Notifies the invited person's devices on all nodes. */
function announceEnd(node: Node, { invitation_id: id, room, invitee_address: account }: GroupInvitationRow): void {
  notifyInvitationEnded(node, id)
  endMessage.publish(node, { account, invitation: { id, group_id: roomOfKey(room).id ?? '' } })
}

const hourSeconds = 3_600
const pendingAtMost = 100
const dayMilliseconds = 24 * hourSeconds * 1_000
/** After a refusal, the group and the inviter are barred from inviting for this time. */
const peaceMilliseconds = 30 * dayMilliseconds

/** Refuses an inviter with too many invitations in an hour, or too many pending. */
export async function allowInvitations(node: Node, account: string, count: number): Promise<void> {
  if (count === 0) return
  const anHour = budgets.groupInvitations.most
  for (let one = 0; one < count; one++)
    if (!(await node.limits.throttle('group-invitations-by', account, anHour, hourSeconds)))
      throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
  const pending = await GroupInvitations.countDocuments({ inviter_address: account, status: 'pending' })
  if (pending + count > pendingAtMost)
    throw new AppError('CONFLICT', { message: `At most ${pendingAtMost} invitations of yours may wait for an answer` })
}

/**
 * Invites people into an account's group, each once, except members; returns them. People who declined recently, or
 * have enough from this inviter, get no invitation but are returned: refusals stay secret.
 */
export async function inviteIntoGroup(
  node: Node,
  account: string,
  key: RoomKey,
  people: readonly string[],
): Promise<string[]> {
  if (people.length === 0) return []
  const outside = await node.log.ask(key, (view, now) => {
    const { room, standing } = actingRoom(view, account, now)
    if (standing.rank < ranks.admin)
      throw new AppError('FORBIDDEN', { message: 'Only the admin of the group may add people' })
    if (!room.is_active) throw new AppError('ROOM_ARCHIVED')
    const outside = people.filter((person) => memberIn(view, person) === null)
    if (outside.some((person) => banIn(view, person, now) !== null)) throw new AppError('BANNED')
    return outside
  })
  for (const person of outside) await invitePerson(node, account, key, person)
  return outside
}

/** Notifies invited people who have neither answered nor been notified. */
export async function notifyInvitedPeople(context: Context, key: RoomKey, people: readonly string[]): Promise<void> {
  if (people.length === 0) return
  const told_at = new Date(context.node.now()).toISOString()
  const notNotified = { status: 'pending' as const, told_at: null }
  const asked = { _id: { $in: people.map((person) => invitationIdOf(key, person)) }, ...notNotified }
  const rows = await GroupInvitations.find(asked).lean<GroupInvitationRow[]>()
  for (const invitation of await invitationOutputs(context.node, rows)) {
    const one = { _id: invitationIdOf(key, invitation.invitee_address), ...notNotified }
    const { modifiedCount } = await GroupInvitations.updateOne(one, { $set: { told_at } })
    if (modifiedCount !== 1) continue
    context.emit(groupInvited, audiences.account(invitation.invitee_address), { invitation })
    notifyInvited(context.node, invitation)
  }
}

export const invitationIdOf = (key: RoomKey, person: string): string => `${key} ${person}`

async function invitePerson(node: Node, account: string, key: RoomKey, person: string): Promise<void> {
  const now = node.now()
  const _id = invitationIdOf(key, person)
  const before = await GroupInvitations.findOne({ _id }).lean<GroupInvitationRow>()
  const hasDeclined = before?.status === 'declined' && (before.responded_at ?? '') >= since(now, peaceMilliseconds)
  if (hasDeclined) {
    await GroupInvitations.updateOne({ _id, status: 'declined' }, { $set: { taken_back: false } })
    return
  }
  if (before?.status !== 'pending') {
    const fields = {
      invitation_id: newId(),
      inviter_address: account,
      status: (await hasRecentRefusal(account, person, now)) ? ('unsent' as const) : ('pending' as const),
      created_at: new Date(now).toISOString(),
      responded_at: null,
      accepting_until: null,
      taken_back: false,
      told_at: before?.told_at && before.told_at >= since(now, dayMilliseconds) ? before.told_at : null,
    }
    if (before) {
      const { invitation_id, status } = before
      await GroupInvitations.updateOne({ _id, invitation_id, status }, { $set: fields })
    } else
      await GroupInvitations.create({ _id, room: key, invitee_address: person, ...fields }).catch((error: unknown) => {
        if (!isDuplicate(error)) throw error
      })
  }
  await limitOfInviter(account, person, now)
  await limitOfInvited(node, person)
}

const since = (now: number, milliseconds: number): string => new Date(now - milliseconds).toISOString()

/** After a refusal, the inviter may not invite this person into any group for a while. */
const hasRecentRefusal = async (account: string, person: string, now: number): Promise<boolean> =>
  (await GroupInvitations.exists({
    inviter_address: account,
    invitee_address: person,
    status: 'declined',
    responded_at: { $gte: since(now, peaceMilliseconds) },
  })) !== null

/**
 * Limits one inviter's invitations of a person: pending, or ended within a day of the notification. Further ones are
 * not sent. It runs after each write, so simultaneous ones count too.
 */
async function limitOfInviter(account: string, person: string, now: number): Promise<void> {
  const notified = { status: { $in: ['withdrawn', 'ended'] as const }, told_at: { $gte: since(now, dayMilliseconds) } }
  const rows = await GroupInvitations.find({
    inviter_address: account,
    invitee_address: person,
    $or: [{ status: 'pending' }, notified],
  })
    .sort({ invitation_id: 1 })
    .lean<GroupInvitationRow[]>()
  const counted = [...rows.filter(({ told_at }) => told_at), ...rows.filter(({ told_at }) => !told_at)]
  const surplus = counted.slice(budgets.groupInvitationsToOne.most).map(({ _id }) => _id)
  if (surplus.length === 0) return
  const notNotified = { _id: { $in: surplus }, status: 'pending' as const, told_at: null }
  await GroupInvitations.updateMany(notNotified, { $set: { status: 'unsent' } })
}

/**
 * Limits a person's pending invitations of all inviters. The oldest of strangers end first, so that many accounts
 * cannot displace honest ones. Unsent ones stay unsent.
 */
async function limitOfInvited(node: Node, person: string): Promise<void> {
  const most = budgets.groupInvitationsOfOne.most
  const waiting = { invitee_address: person, status: 'pending' as const }
  if ((await GroupInvitations.countDocuments(waiting)) <= most) return
  const rows = await GroupInvitations.find(waiting).sort({ invitation_id: 1 }).lean<GroupInvitationRow[]>()
  const known = await accountsSharingClosedRooms(
    person,
    rows.map(({ inviter_address }) => inviter_address),
  )
  const isKnown = ({ inviter_address }: GroupInvitationRow) => known.has(inviter_address)
  const givingWay = [...rows.filter((row) => !isKnown(row)), ...rows.filter(isKnown)]
  for (const row of givingWay.slice(0, rows.length - most))
    await endInvitation(node, row, row.told_at ? 'ended' : 'unsent')
}

/** Pending invitations for the invited person, without closed groups and inviters without the right. */
async function invitationOutputs(node: Node, rows: readonly GroupInvitationRow[]): Promise<GroupInvitation[]> {
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
