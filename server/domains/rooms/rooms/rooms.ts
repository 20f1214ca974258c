import { recordOf } from '#server/domains/events'
import { refuseOthersFile, withCopiedPictures } from '#server/domains/media/files/copies'
import { removePicture } from '#server/domains/media/files/removal'
import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { refuseNewContact } from '#server/domains/people/accounts/found'
import { refusalOfContact } from '#server/domains/people/friends/pairs'
import { keyOf, visibleRoom } from '#server/domains/rooms/room-state/access'
import { demoChannels } from '#server/domains/rooms/room-state/demo-rooms'
import { roomArchived, roomUpdated } from '#server/domains/rooms/room-state/events/rooms'
import { type RoomFact, roomIn } from '#server/domains/rooms/room-state/facts'
import { refuseLockedIcon, refuseMuted, refuseNames } from '#server/domains/rooms/room-state/judge-draft'
import { kindOf, typesWhere } from '#server/domains/rooms/room-state/kinds'
import {
  isStaffNow,
  membershipsOf,
  updateAllStaffMemberships,
  updateStaffMemberships,
  visibleRooms,
} from '#server/domains/rooms/room-state/membership'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { ensureDm, hasMessages } from '#server/domains/rooms/room-state/records'
import {
  type Card,
  cardsOf,
  firstOpenRooms,
  roomAnswer,
  rowOfCard,
  rowsOf,
} from '#server/domains/rooms/room-state/rows'
import { containsWords, roomTerms, searchWords, termOf } from '#server/domains/rooms/room-state/search-index'
import { actorOf, entryOf, isSuspended, rankOf, ranks } from '#server/domains/rooms/room-state/standing'
import { type Action, type Context, type Node, signedIn } from '#server/kernel/context'
import { GLOBAL, type Judgement, type RoomKey, type View } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import type { Room } from '#shared/api/rooms/room'
import type { rooms as contract } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { InputOf } from '#shared/kit/contract'
import { skeletonVersion } from '#shared/kit/looks'
import { dmOf, roomKey, roomOfKey } from '#shared/kit/primitives'
import { foundedBy } from '#shared/kit/room-kinds'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { attendanceGateOf, foundAttendanceChannel } from './attendance-channels.ts'
import { foundRoom } from './founding.ts'
import { allowInvitations, notifyInvitedPeople } from './group-invitations/inviting.ts'
import { addablePeople, friendsAndStrangers } from './members.ts'
import { refuseSlug, uniqueFormOf, withReservedNames } from './names.ts'
import { withSharedKey } from './shared-key.ts'

/** Founds a staff channel and adds all staff. It reserves no name, because others must not know of it. */
async function foundStaffChannel(
  context: Context,
  about: Pick<RoomFact, 'name'> & Partial<RoomFact>,
): Promise<RoomKey> {
  const key = await foundRoom(context, 'channel', { ...about, is_official: true, access_level: 'staff' }, [])
  void loggingErrors(context.node, updateAllStaffMemberships(context.node))
  return key
}

/**
 * Adds new staff to the staff rooms, and removes former staff, on the appending node. Any node completes missed
 * changes. From the row on, only staff see such a room, whatever the records say.
 */
export function followStaff(node: Node): void {
  node.log.onRows((key, rows, isOurs) => {
    if (!isOurs || key !== GLOBAL) return
    for (const { type, target } of rows) {
      const isConcerned = recordOf(type)?.changesRights === 'of the target'
      if (isConcerned && target !== null) void loggingErrors(node, updateStaffMemberships(node, target))
    }
  })
}

const loggingErrors = (node: Node, settling: Promise<void>): Promise<void> =>
  settling.catch((error: unknown) => node.logger.warn({ error }, 'the staff was not settled'))

const listedTypes = typesWhere(({ isListed }) => isListed)

export const list: Action<typeof contract.list> = async (input, context) => {
  const { joined, search, limit, offset } = input
  const { node, caller } = context
  const words = search === undefined ? null : searchWords(search)
  if (joined || words) return { channels: await visibleChannels(context, input, words) }
  await context.charge(offset)
  const filter = {
    ...{ type: { $in: listedTypes }, is_active: true },
    ...(await visibilityFilter(node, caller.account)),
    ...(input.category && input.category !== 'all' ? { category: input.category } : {}),
    ...(node.settings.demo ? {} : { id: { $nin: demoChannels } }),
  }
  const read = (skip: number, most: number) => listedRooms(filter).select({ _id: 1 }).skip(skip).limit(most).lean()
  const readOn = async (skip: number, most: number) => {
    if (skip > 0) await context.charge(most)
    return read(skip, most)
  }
  const found = await (caller.account === null
    ? firstOpenRooms(offset + limit, readOn).then((open) => open.slice(offset))
    : read(offset, limit))
  return {
    channels: await rowsOf(
      node,
      found.map(({ _id }) => _id),
      caller.account,
    ),
  }
}

/** A page of the caller's channels, of those with these words, or both, in the order of the list. */
async function visibleChannels(
  context: Context,
  { category = 'all', joined, limit, offset }: InputOf<typeof contract.list>,
  words: readonly string[] | null,
): Promise<Room[]> {
  const { node, caller } = context
  const { account } = caller
  const mine = new Set(account === null ? [] : await membershipsOf(account))
  const isShown = ({ key, room, readAccess }: Card) =>
    room.is_active &&
    (room.access_level === 'public' || mine.has(key)) &&
    (account !== null || readAccess === 'everyone') &&
    (category === 'all' || room.category === category) &&
    (node.settings.demo || !demoChannels.includes(roomOfKey(key).id ?? '')) &&
    (words === null || (words.length > 0 && containsWords(`${room.name} ${room.description ?? ''}`, words)))
  let shown: Card[] = []
  let looked = 0
  for await (const keys of joined ? [[...mine].filter((key) => kindOf(key).isListed)] : keysWith(words ?? [])) {
    await context.charge(keys.length - looked)
    looked = keys.length
    const cards = (await cardsOf(node, keys)).filter(isShown)
    shown = (await visibleRooms(node, account ?? '', cards)).sort(inListOrder)
    if (shown.length >= offset + limit) break
  }
  return shown.slice(offset, offset + limit).map((card) => rowOfCard(card, mine.has(card.key)))
}

function inListOrder({ key, room }: Card, other: Card): number {
  return (
    Number(other.room.is_official) - Number(room.is_official) ||
    other.room.member_count - room.member_count ||
    (key < other.key ? -1 : 1)
  )
}

const rareAtMost = 200
const [firstAtMost, largestAtMost] = [100, 500]

/**
 * The channels that may contain all words. If many have the longest, the first of the list are searched: a few, and
 * then more with these.
 */
async function* keysWith(words: readonly string[]): AsyncGenerator<RoomKey[]> {
  const [longest] = [...words].sort((one, other) => other.length - one.length)
  if (longest === undefined) return
  const type = { $in: listedTypes }
  const having = { type, terms: termOf(longest) }
  if ((await Rooms.countDocuments(having, { limit: rareAtMost + 1 })) <= rareAtMost) {
    yield keysOf(await Rooms.find(having, { _id: 1 }).limit(rareAtMost).lean())
    return
  }
  const largest = { type, is_active: true, access_level: 'public' }
  for (const most of [firstAtMost, largestAtMost]) {
    const keys = keysOf(await listedRooms(largest).select({ _id: 1 }).limit(most).lean())
    yield keys
    if (keys.length < most) return
  }
}

const keysOf = (rooms: readonly { _id: RoomKey }[]): RoomKey[] => rooms.map(({ _id }) => _id)

/** Staff rooms are shown to their members only. */
async function visibilityFilter(node: Node, account: string | null) {
  if (account === null || !(await isStaffNow(node, account))) return { access_level: 'public' }
  return { $or: [{ access_level: 'public' }, { access_level: 'staff', _id: { $in: await membershipsOf(account) } }] }
}

const listedRooms = (filter: object) => Rooms.find(filter).sort({ is_official: -1, member_count: -1, _id: 1 })

/** An index finds rooms with each of these, but not with all except one. */
const otherVersions = [null, { $lt: skeletonVersion }, { $gt: skeletonVersion }] as const

/** Updates search terms and unique names of older rooms, a few at a time. */
export async function updateSearchTerms(): Promise<void> {
  for (const skeleton_version of otherVersions) {
    const older = { type: { $in: listedTypes }, skeleton_version }
    for (;;) {
      const rooms = await Rooms.find(older, { name: 1, description: 1, unique_name: 1 }).limit(100).lean()
      if (rooms.length === 0) break
      for (const room of rooms) await updateTermsOf(room)
    }
  }
}

type NamedRoom = { _id: RoomKey; name: string } & {
  [field in 'description' | 'unique_name']?: string | null | undefined
}

async function updateTermsOf({ _id, name, description, unique_name }: NamedRoom): Promise<void> {
  // A room that is being renamed is checked again.
  const unchanged = { _id, skeleton_version: { $ne: skeletonVersion }, ...(unique_name && { unique_name }) }
  const $set = { terms: roomTerms({ name, description: description ?? null }), skeleton_version: skeletonVersion }
  const own = unique_name ? { unique_name: uniqueFormOf(name) } : {}
  await Rooms.updateOne(unchanged, { $set: { ...$set, ...own } }).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
    return Rooms.updateOne(unchanged, { $set })
  })
}

export const get: Action<typeof contract.get> = async ({ room }, { node, caller }) => {
  const key = await keyOf(room)
  await node.log.ask(key, (view, now) => void visibleRoom(view, caller.account, now))
  return { room: await roomAnswer(node, key, caller.account) }
}

export const createChannel: Action<typeof contract.createChannel> = async (input, context) => {
  const { account } = signedIn(context)
  if (input.ownerAddress !== undefined && !isSameAccount(input.ownerAddress, account))
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
  const fields = { ...about, ...(slug ? { slug } : {}), is_official, unique_name: uniqueFormOf(name) }
  return foundRoom(context, 'channel', fields, [])
}

export const createGroup: Action<typeof contract.createGroup> = async ({ name, emoji, memberAddresses }, context) => {
  const { account } = signedIn(context)
  const { strangers: invited } = await friendsAndStrangers(account, await addablePeople(account, memberAddresses))
  await allowInvitations(context.node, account, invited.length)
  const key = await foundRoom(context, 'group', { name, emoji }, memberAddresses)
  await notifyInvitedPeople(context, key, invited)
  return { group: await roomAnswer(context.node, key, account), invited }
}

export const groups: Action<typeof contract.groups> = async ({ limit, offset }, context) => {
  const { account } = signedIn(context)
  const type = foundedBy('createGroup')
  const mine = (await membershipsOf(account)).filter((key) => roomOfKey(key).type === type)
  await context.charge(mine.length)
  const open = (await cardsOf(context.node, mine)).filter(({ room }) => room.is_active)
  const newest = open.sort(({ room, key }, other) =>
    room.created_at === other.room.created_at
      ? key < other.key
        ? -1
        : 1
      : room.created_at < other.room.created_at
        ? 1
        : -1,
  )
  return { groups: newest.slice(offset, offset + limit).map((card) => rowOfCard(card, true)) }
}

export const openDm: Action<typeof contract.openDm> = async ({ recipientAddress }, context) => {
  const { account } = signedIn(context)
  if (isSameAccount(recipientAddress, account))
    throw new AppError('VALIDATION_ERROR', { message: 'You cannot message yourself' })
  const room = dmOf(account, recipientAddress)
  const { node } = context
  const hasBegun = await hasMessages(node, roomKey(room))
  await refuseNewContact(recipientAddress, async () => hasBegun)
  if (await areBlocked(account, recipientAddress)) throw new AppError('BLOCKED')
  const refusal = hasBegun ? null : await refusalOfContact('messages_from', account, recipientAddress)
  if (refusal) throw refusal
  await ensureDm(roomKey(room), node.now())
  return { room: await roomAnswer(node, roomKey(room), account) }
}

export const update: Action<typeof contract.update> = async ({ room, ...input }, context) => {
  const { account } = signedIn(context)
  const { node } = context
  const key = await keyOf(room)
  const actor = await actorOf(node, account)
  const given: Partial<RoomFact> = withoutUndefined(input)
  await node.log.ask(key, (view, now) => {
    const judgement = judgeUpdate(node, actor, given)(view, now)
    if ('refuse' in judgement) throw judgement.refuse
  })
  if (given.slug && !kindOf(key).hasUniqueName)
    throw new AppError('VALIDATION_ERROR', { message: 'slug: only channels have one' })
  const before = await node.log.ask(key, roomIn)
  const isHidden = before?.access_level === 'staff'
  if (given.slug && isHidden)
    throw new AppError('VALIDATION_ERROR', { message: 'slug: a channel of the staff has none' })
  if (given.icon_url !== before?.icon_url) await refuseOthersFile(node, account, given.icon_url, 'icon_url')
  const patch = await withCopiedPictures(context, storageFolders.icon, given, ['icon_url'], before)
  const names = isHidden ? {} : patch
  const judge = judgeUpdate(node, actor, patch)
  await withReservedNames(node, key, names, () => node.log.act(key, { sender: account, makes: roomUpdated, judge }))
  if (patch.icon_url !== undefined) await removePicture(node, before?.icon_url)
  return { room: await roomAnswer(node, key, account) }
}

const judgeUpdate =
  (node: Node, actor: { account: string; name: string }, patch: Partial<RoomFact>) =>
  (view: View, now: number): Judgement<null> => {
    const { standing, room: before } = visibleRoom(view, actor.account, now)
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
      const { standing, room: before } = visibleRoom(view, account, now)
      if (isSuspended(view, account)) return { refuse: new AppError('SUSPENDED') }
      const { runBy } = kindOf(key)
      if (runBy === null || (standing?.rank ?? 0) < rankOf(runBy))
        return { refuse: new AppError('FORBIDDEN', { message: 'Only the owner may archive a room' }) }
      if (!before.is_active) return { already: null }
      return { accept: entryOf(view, actor, roomArchived, {}) }
    },
  })
  return { room: await roomAnswer(context.node, key, account) }
}
