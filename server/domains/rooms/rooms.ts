import { accountOf } from '#server/domains/accounts/accounts'
import { areBlocked } from '#server/domains/blocks/blocks'
import { refuseOthersFile } from '#server/domains/files/others'
import { removePicture } from '#server/domains/files/removal'
import { keyOf, seenBy } from '#server/domains/room-state/access'
import { ensureDm } from '#server/domains/room-state/conversations'
import { demoChannels } from '#server/domains/room-state/demo-rooms'
import { actorOf, entryOf } from '#server/domains/room-state/entries'
import { roomArchived, roomUpdated } from '#server/domains/room-state/events/rooms'
import { type RoomFact, roomIn } from '#server/domains/room-state/facts'
import { kindOf, typesWhere } from '#server/domains/room-state/kinds'
import { membershipsOf } from '#server/domains/room-state/membership'
import { RoomFacts, Rooms } from '#server/domains/room-state/model'
import { roomAnswer, rowsOf } from '#server/domains/room-state/rows'
import { isOfStaff } from '#server/domains/room-state/staff-rooms'
import { isSuspended, rankOf, ranks } from '#server/domains/room-state/standing'
import { refuseLockedIcon, refuseMuted, refuseNames } from '#server/domains/room-state/state'
import { holdsAll, roomTerms, searchWords, termOf } from '#server/domains/room-state/terms'
import { type Action, type Context, type Node, signedIn } from '#server/kernel/context'
import type { Judgement, View } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import type { rooms as contract } from '#shared/api/rooms'
import type { ReadAccess } from '#shared/api/verdict'
import { AppError } from '#shared/errors'
import type { InputOf } from '#shared/kit/contract'
import { skeletonVersion } from '#shared/kit/looks'
import { dmOf, roomKey } from '#shared/kit/primitives'
import { foundedBy } from '#shared/kit/room-kinds'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { attendanceGateOf, foundAttendanceChannel } from './attendance-channels.ts'
import { found } from './founding.ts'
import { allowAsking, tellAsked } from './group-invitations/asking.ts'
import { sorted, willing } from './members.ts'
import { refuseSlug, uniqueName, withNames } from './names.ts'
import { withSharedKey } from './shared-key.ts'
import { foundStaffChannel } from './staff-channels.ts'

const listedTypes = typesWhere(({ isListed }) => isListed)

export const list: Action<typeof contract.list> = async (
  { category, joined, search, limit, offset },
  { node, caller },
) => {
  if (joined && caller.account === null) return { channels: [] }
  const mine = joined && caller.account !== null ? await membershipsOf(caller.account) : null
  const words = search === undefined ? null : searchWords(search)
  const filter = {
    type: { $in: listedTypes },
    is_active: true,
    ...(await shownTo(node, caller.account)),
    ...(category && category !== 'all' ? { category } : {}),
    ...(mine ? { _id: { $in: mine } } : {}),
    ...(node.settings.demo ? {} : { id: { $nin: demoChannels } }),
    ...(caller.account === null ? { _id: { $nin: await closedRooms() } } : {}),
    ...(words ? { $and: words.map((word) => ({ terms: termOf(word) })) } : {}),
  }
  if (!words)
    return { channels: await rowsOf(node, await listed(filter).skip(offset).limit(limit).lean(), caller.account) }
  if (words.length === 0) return { channels: [] }
  const matching = (await listed(filter).lean()).filter(({ name, description }) =>
    holdsAll(`${name} ${description ?? ''}`, words),
  )
  return { channels: await rowsOf(node, matching.slice(offset, offset + limit), caller.account) }
}

/** Rooms of the staff are shown to their members alone. */
async function shownTo(node: Node, account: string | null) {
  if (account === null || !(await isOfStaff(node, account))) return { access_level: 'public' }
  return { $or: [{ access_level: 'public' }, { access_level: 'staff', _id: { $in: await membershipsOf(account) } }] }
}

/** The rooms that are not shown to those who are not signed in. */
export async function closedRooms(): Promise<string[]> {
  const closed = ['signed_in', 'members'] satisfies ReadAccess[]
  const rules = await RoomFacts.find({ 'value.read_access': { $in: closed } }, { room: 1 }).lean()
  return rules.map(({ room }) => room)
}

const listed = (filter: object) => Rooms.find(filter).sort({ is_official: -1, member_count: -1, _id: 1 })

/** Brings the search terms and unique names of rooms that an older version stored up to date, a few at a time. */
export async function fileRooms(): Promise<void> {
  const older = { type: { $in: listedTypes }, skeleton_version: { $ne: skeletonVersion } }
  for (;;) {
    const rooms = await Rooms.find(older, { name: 1, description: 1, unique_name: 1 }).limit(100).lean()
    if (rooms.length === 0) return
    for (const { _id, name, description, unique_name } of rooms) {
      // A room that is being renamed is looked at again.
      const unchanged = { _id, skeleton_version: older.skeleton_version, ...(unique_name && { unique_name }) }
      const $set = { terms: roomTerms({ name, description: description ?? null }), skeleton_version: skeletonVersion }
      const own = unique_name ? { unique_name: uniqueName(name) } : {}
      await Rooms.updateOne(unchanged, { $set: { ...$set, ...own } }).catch((error: unknown) => {
        if (!isDuplicate(error)) throw error
        return Rooms.updateOne(unchanged, { $set })
      })
    }
  }
}

export const get: Action<typeof contract.get> = async ({ room }, { node, caller }) => {
  const key = await keyOf(room)
  await node.log.ask(key, (view, now) => void seenBy(view, caller.account, now))
  return { room: await roomAnswer(node, key, caller.account) }
}

export const createChannel: Action<typeof contract.createChannel> = async (input, context) => {
  const { account } = signedIn(context)
  if (input.ownerAddress !== undefined && input.ownerAddress !== account)
    throw new AppError('VALIDATION_ERROR', {
      message: 'ownerAddress: a channel is owned by who founds it; make the other an admin of it when they have joined',
    })
  const gate = attendanceGateOf(input)
  const key = gate ? await foundAttendanceChannel(context, gate, input) : await foundChannel(context, input)
  const { node } = context
  return { channel: { ...(await roomAnswer(node, key, account)), ...(await withSharedKey(node, key)) } }
}

function foundChannel(context: Context, input: InputOf<typeof contract.createChannel>): Promise<string> {
  const { name = '', description = null, emoji = '💬', category = 'general', slug = null } = input
  const { isOfficial: is_official = false } = input
  const about = { name, description, emoji, category }
  if (input.accessLevel === 'staff') return foundStaffChannel(context, about)
  const fields = { ...about, ...(slug ? { slug } : {}), is_official, unique_name: uniqueName(name) }
  return found(context, 'channel', fields, [])
}

export const createGroup: Action<typeof contract.createGroup> = async ({ name, emoji, memberAddresses }, context) => {
  const { account } = signedIn(context)
  const { strangers: invited } = await sorted(account, await willing(account, memberAddresses))
  await allowAsking(context.node, account, invited.length)
  const key = await found(context, 'group', { name, emoji }, memberAddresses)
  await tellAsked(context, key, invited)
  return { group: await roomAnswer(context.node, key, account), invited }
}

export const groups: Action<typeof contract.groups> = async ({ limit, offset }, context) => {
  const { account } = signedIn(context)
  const mine = { _id: { $in: await membershipsOf(account) }, type: foundedBy('createGroup'), is_active: true }
  const newest = Rooms.find(mine).sort({ created_at: -1, _id: 1 })
  return { groups: await rowsOf(context.node, await newest.skip(offset).limit(limit).lean(), account) }
}

export const openDm: Action<typeof contract.openDm> = async ({ recipientAddress }, context) => {
  const { account } = signedIn(context)
  if (recipientAddress === account) throw new AppError('VALIDATION_ERROR', { message: 'You cannot message yourself' })
  if (!(await accountOf(recipientAddress))) throw new AppError('USER_NOT_FOUND')
  if (await areBlocked(account, recipientAddress)) throw new AppError('BLOCKED')
  const room = dmOf(account, recipientAddress)
  await ensureDm(roomKey(room), context.node.now())
  return { room: await roomAnswer(context.node, roomKey(room), account) }
}

export const update: Action<typeof contract.update> = async ({ room, ...input }, context) => {
  const { account } = signedIn(context)
  const { node } = context
  const key = await keyOf(room)
  const actor = await actorOf(node, account)
  const patch: Partial<RoomFact> = withoutUndefined(input)
  const judge = judgeUpdate(node, actor, patch)
  await node.log.ask(key, (view, now) => {
    const judgement = judge(view, now)
    if ('refuse' in judgement) throw judgement.refuse
  })
  if (patch.slug && !kindOf(key).hasUniqueName)
    throw new AppError('VALIDATION_ERROR', { message: 'slug: only channels have one' })
  const before = await node.log.ask(key, roomIn)
  const isHidden = before?.access_level === 'staff'
  if (patch.slug && isHidden)
    throw new AppError('VALIDATION_ERROR', { message: 'slug: a channel of the staff has none' })
  if (patch.icon_url !== before?.icon_url) await refuseOthersFile(node, account, patch.icon_url, 'icon_url')
  const names = isHidden ? {} : patch
  await withNames(node, key, names, () => node.log.act(key, { sender: account, makes: roomUpdated, judge }))
  if (patch.icon_url !== undefined) await removePicture(node, before?.icon_url)
  return { room: await roomAnswer(node, key, account) }
}

const judgeUpdate =
  (node: Node, actor: { account: string; name: string }, patch: Partial<RoomFact>) =>
  (view: View, now: number): Judgement<null> => {
    const { standing, room: before } = seenBy(view, actor.account, now)
    if (isSuspended(view, actor.account)) return { refuse: new AppError('SUSPENDED') }
    if ((standing?.rank ?? 0) < ranks.admin)
      return { refuse: new AppError('FORBIDDEN', { message: 'Only the owner and admins may change a room' }) }
    if (!before.is_active) return { refuse: new AppError('ROOM_ARCHIVED') }
    const changed = Object.entries(patch).some(([name, value]) => before[name as keyof RoomFact] !== value)
    if (!changed) return { already: null }
    if (patch.icon_url !== undefined && patch.icon_url !== before.icon_url) refuseLockedIcon(before)
    refuseMuted(view, actor.account, now)
    refuseNames(node, view, actor.account, patch)
    refuseSlug(node, view, actor.account, patch.slug)
    return {
      accept: entryOf(view, actor, roomUpdated, { patch: { ...patch, updated_at: new Date(now).toISOString() } }),
    }
  }

export const archive: Action<typeof contract.archive> = async ({ room }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const actor = await actorOf(context.node, account)
  await context.node.log.act(key, {
    sender: account,
    makes: roomArchived,
    judge(view, now) {
      const { standing, room: before } = seenBy(view, account, now)
      if (isSuspended(view, account)) return { refuse: new AppError('SUSPENDED') }
      const { founded } = kindOf(key)
      if (founded.by !== 'its founder' || (standing?.rank ?? 0) < rankOf(founded.role))
        return { refuse: new AppError('FORBIDDEN', { message: 'Only the owner may archive a room' }) }
      if (!before.is_active) return { already: null }
      return { accept: entryOf(view, actor, roomArchived, {}) }
    },
  })
  return { room: await roomAnswer(context.node, key, account) }
}
