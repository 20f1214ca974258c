import { createHash } from 'node:crypto'
import { checkGate } from '#server/domains/gates'
import { refuseOthersFile, withCopiedPictures } from '#server/domains/media/files/copies'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { actingRoom, isPublic, keyOf, readRoom, visibleRoom } from '#server/domains/rooms/room-state/access'
import { roomTopicChanged } from '#server/domains/rooms/room-state/events/rooms'
import { memberIn } from '#server/domains/rooms/room-state/facts'
import { refuseMuted, refuseNames, refuseRemark } from '#server/domains/rooms/room-state/judge-draft'
import {
  adminRoles,
  gateFor,
  membershipsOf,
  updateAllStaffMemberships,
} from '#server/domains/rooms/room-state/membership'
import { Members, Moderators, Rooms } from '#server/domains/rooms/room-state/model'
import { answerOnline } from '#server/domains/rooms/room-state/online'
import { firstOpenRooms, roomAnswer, rowsOf } from '#server/domains/rooms/room-state/rows'
import { containsWords, searchWords, termOf } from '#server/domains/rooms/room-state/search-index'
import { actorOf, entryOf, standingOf } from '#server/domains/rooms/room-state/standing'
import { appointMissingManagers, followSuspensions } from '#server/domains/rooms/room-state/succession'
import { tokenAt } from '#server/domains/rooms/tokens/index'
import { type Action, type Actions, type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { every, retryOnStart, startInBackground } from '#server/kernel/work/every'
import { GLOBAL } from '#server/log/types'
import { tokenChatOf } from '#shared/api/rooms/location-chat'
import type { MemberRole, Room } from '#shared/api/rooms/room'
import { channelRef } from '#shared/api/rooms/room-paths'
import { rooms as contract } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'
import { type RoomRef, roomKey } from '#shared/kit/primitives'
import { foundedBy } from '#shared/kit/room-kinds'
import { ensureAlpha, ensureOfficial } from './alpha.ts'
import { finishRooms, foundRoom } from './founding.ts'
import { createLocationRoom, listLocationRooms, locationRoom, storePlaceCells } from './location-rooms.ts'
import { addMembers, handOver, join, kick, leave, memberOutputs, members, setRole } from './members.ts'
import { uniqueFormOf } from './names.ts'
import { startRechecks } from './rechecks.ts'
import {
  archive,
  createChannel,
  createGroup,
  followStaff,
  get,
  groups,
  list,
  openDm,
  update,
  updateSearchTerms,
} from './rooms.ts'
import { roomSettings } from './settings.ts'
import { sharedKey } from './shared-key.ts'

const recheck = { most: 1, seconds: 60 }

const gate: Action<typeof contract.gate> = async ({ room }, context) => {
  const { shown, asked } = await gatesOf(room, context)
  return { gate: shown, answer: asked && (await checkGate({ ...asked, fresh: false })) }
}

const recheckGate: Action<typeof contract.recheckGate> = async ({ room }, context) => {
  const { key, account, shown, asked } = await gatesOf(room, context)
  if (!asked) return { gate: shown, answer: null }
  const { limits } = context.node
  if (!(await limits.throttle('gate', `${account} ${key}`, recheck.most, recheck.seconds)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: recheck.seconds })
  return { gate: shown, answer: await checkGate({ ...asked, fresh: true }) }
}

/** The displayed gate of a room, and the caller's check. */
async function gatesOf(ref: RoomRef, context: Context) {
  const { account } = signedIn(context)
  const { node } = context
  const key = await keyOf(ref)
  const room = await node.log.ask(key, (view, now) => visibleRoom(view, account, now).room)
  const asked = gateFor(room, account)
  return { key, account, shown: room.gate, asked: asked && { node, account, gate: asked } }
}

type Channel = readonly [name: string, emoji: string, category: string, description: string]

const channels: readonly Channel[] = [
  ['General', '💬', 'general', 'Whatever has no place of its own.'],
  ['Introductions', '👋', 'community', 'Say who you are and what brings you here.'],
  ['Questions', '🛟', 'community', 'Ask how things work here, and answer those who do.'],
  ['Technology', '💻', 'tech', 'What people build, and what they build it with.'],
  ['Science', '🔬', 'science', 'What was found out, and how.'],
  ['Crypto', '⛓️', 'crypto', 'Chains and what is made on them. Nobody here asks for your keys.'],
  ['Finance', '📈', 'finance', 'Money, and what becomes of it. No advice is given here.'],
  ['Art', '🎨', 'art', 'Show what you made.'],
  ['Music', '🎵', 'music', 'What you hear, play and sing.'],
  ['Film and books', '🎬', 'entertainment', 'What you watch and read, without the end of it.'],
  ['Games', '🎮', 'gaming', 'What you play, and with whom.'],
  ['Sports', '⚽', 'sports', 'On the field and beside it.'],
  ['Food and travel', '🌍', 'lifestyle', 'Where you were, and what you ate there.'],
  ['Languages', '🗣️', 'languages', 'Learn one from another.'],
  ['Cities', '🏙️', 'cities', 'Where you live, and what goes on there.'],
  ['Events', '🎟️', 'events', 'What happens when, and who comes along.'],
]

const officialType = foundedBy('createChannel')

/** An id that no clock gives before the year 9000. */
const idOf = (place: number) => `df000000-0000-7000-8000-${String(place).padStart(12, '0')}`

const officialChannels = channels.map(([name, emoji, category, description], place) => ({
  ...{ type: officialType, id: idOf(place + 1) },
  ...{ name, emoji, category, description, slug: name.toLowerCase().replaceAll(' ', '-') },
  unique_name: uniqueFormOf(name),
}))

/** The room of admins and global moderators. It reserves no name or slug, because others must not know of it. */
const staffChannel = {
  ...{
    type: officialType,
    id: idOf(1_000),
    name: 'Team',
    emoji: '🛡️',
    category: 'general',
    access_level: 'staff' as const,
  },
  description: 'For admins and those who moderate everywhere. Nobody else sees it.',
}

/** Creates the staff channel once; an archived one stays archived. */
export const ensureStaffChannel = (node: Node): Promise<void> =>
  ensureOfficial(node, roomKey(staffChannel), staffChannel)

/** Creates the official channels of a new installation, if nobody has founded one. Existing channels stay unchanged. */
export async function ensureOfficialChannels(node: Node): Promise<void> {
  const isBegun = await Rooms.exists({
    type: officialType,
    id: { $nin: [staffChannel, ...officialChannels].map(({ id }) => id) },
  })
  if (!isBegun) for (const channel of officialChannels) await ensureOfficial(node, roomKey(channel), channel)
}

const publicChannel: Action<typeof contract.publicChannel> = async ({ id }, { node }) => {
  const channel = await cardOf(node, channelRef(id))
  const { attendance_event_id: poap_event_id, attendance_event_name: poap_event_name } = channel
  return { channel: { ...channel, poap_event_id, poap_event_name } }
}

const publicTokenRoom: Action<typeof contract.publicTokenRoom> = async ({ id }, { node }) => {
  const { is_member: _, ...chat } = tokenChatOf(await cardOf(node, { type: foundedBy('createTokenRoom'), id }))
  return { chat }
}

/** The room for an anonymous reader. */
async function cardOf(node: Node, room: RoomRef): Promise<Room> {
  const key = await keyOf(room)
  if (!(await node.log.ask(key, isPublic))) throw new AppError('ROOM_NOT_FOUND')
  return roomAnswer(node, key, null)
}

const namedAtMost = 200

/** The managers of a room. The records list candidates; the log decides on role and right. */
const staff: Action<typeof contract.staff> = async ({ room }, { node, caller }) => {
  const { key } = await readRoom(node, caller, room, () => null)
  const held = { room: key, is_active: true, role: { $in: [...adminRoles, 'moderator' as const] } }
  const granted = { room: { $in: [key, GLOBAL] }, is_active: true }
  const [members, grants] = await Promise.all([
    Members.find(held).limit(namedAtMost).lean(),
    Moderators.find(granted).sort({ granted_at: -1 }).limit(namedAtMost).lean(),
  ])
  const since = new Map([...grants, ...members].map((one) => [one.user_address, sinceOf(one)]))
  const rows = await node.log.ask(key, (view) =>
    [...since].flatMap(([user_address, joined_at]) => {
      const { rank, role, isModerator } = standingOf(view, user_address)
      if (!isModerator || role === null) return []
      const member = memberIn(view, user_address)
      return [{ user_address, joined_at: member?.joined_at ?? joined_at, role: asMember[role] ?? 'moderator', rank }]
    }),
  )
  const byRank = rows.toSorted((one, other) => other.rank - one.rank || (one.joined_at < other.joined_at ? -1 : 1))
  return { staff: await memberOutputs(node, byRank, caller.account) }
}

const sinceOf = (one: { joined_at: string } | { granted_at: string }): string =>
  'joined_at' in one ? one.joined_at : one.granted_at

/** The roles above moderator, by their names in a standing. */
const asMember: Readonly<Record<string, MemberRole>> = { owner: 'owner', admin: 'admin', super_admin: 'admin' }

const listedAtMost = 50
const lookedAtMost = 1_000
const tokenType = foundedBy('createTokenRoom')

const createTokenRoom: Action<typeof contract.createTokenRoom> = async (input, context) => {
  const { account } = signedIn(context)
  const { node, creationId } = context
  const { name, description = null, emoji, tokenAddress, tokenChainId, minBalance, tokenImage = null } = input
  const is_official = input.isOfficial === true
  if (is_official && !(await node.log.ask(GLOBAL, (view) => standingOf(view, account).isAdmin)))
    throw new AppError('FORBIDDEN', { message: 'Only admins may found official rooms' })
  await refuseOthersFile(node, account, tokenImage, 'tokenImage')
  const { tokenImage: icon_url } = await withCopiedPictures(context, storageFolders.icon, { tokenImage }, [
    'tokenImage',
  ])
  const token = await tokenAt(node, tokenChainId, tokenAddress)
  const gate = {
    ...{ by: 'balance' as const, chain_id: tokenChainId, token_address: tokenAddress, token_name: token.name },
    ...{ token_symbol: token.symbol, token_decimals: token.decimals, min_balance: String(BigInt(minBalance)) },
  }
  const id = `tc_${createHash('sha256').update(creationId).digest('hex').slice(0, 16)}`
  const key = await foundRoom(context, tokenType, { name, description, emoji, icon_url, is_official, gate }, [], id)
  return { room: await roomAnswer(node, key, account) }
}

const listTokenRooms: Action<typeof contract.listTokenRooms> = async (
  { tokenAddress, chainId, search, mode },
  { node, caller },
) => {
  const { account } = caller
  if (mode === 'my' && account === null) throw new AppError('UNAUTHORIZED')
  const words = search === undefined ? [] : searchWords(search)
  if (search !== undefined && words.length === 0) return { chats: [] }
  const filter = {
    ...{ type: tokenType, is_active: true, access_level: 'public' },
    ...(mode === 'my' && account !== null ? { _id: { $in: await membershipsOf(account) } } : {}),
    ...(tokenAddress ? { 'gate.token_address': tokenAddress } : {}),
    ...(chainId ? { 'gate.chain_id': chainId } : {}),
    ...(words.length > 0 ? { $and: words.map((word) => ({ terms: termOf(word) })) } : {}),
  }
  const read = (skip: number, most: number) =>
    Rooms.find(filter).sort({ member_count: -1, _id: 1 }).skip(skip).limit(most).lean()
  const most = words.length > 0 ? lookedAtMost : listedAtMost
  const matching = await (account === null ? firstOpenRooms(most, read, lookedAtMost) : read(0, most))
  const found = matching.filter(({ name, description }) => containsWords(`${name} ${description ?? ''}`, words))
  const keys = found.slice(0, listedAtMost).map(({ _id }) => _id)
  return { chats: (await rowsOf(node, keys, account)).map(tokenChatOf) }
}

const setTopic: Action<typeof contract.setTopic> = async ({ room, topic, client_action_id }, context) => {
  const { account } = signedIn(context)
  const { node } = context
  const key = await keyOf(room)
  const actor = await actorOf(node, account)
  await node.log.act(key, {
    sender: account,
    cid: client_action_id,
    makes: roomTopicChanged,
    isRepeat: (_row, before) => before.topic === topic,
    judge(view, now) {
      const { room: before, standing } = actingRoom(view, account, now)
      if (!standing.isModerator)
        throw new AppError('FORBIDDEN', { message: 'Only the owner and moderators may set the topic' })
      refuseMuted(view, account, now)
      if (!before.is_active) throw new AppError('ROOM_ARCHIVED')
      if (before.topic === topic) return { already: null }
      if (topic !== null) {
        refuseNames(node, view, account, { topic })
        refuseRemark(view, topic, { node, account, now, standing })
      }
      return { accept: entryOf(view, actor, roomTopicChanged, { topic }) }
    },
  })
  return { room: await roomAnswer(node, key, account) }
}

const actions: Actions<typeof contract> = {
  list,
  get,
  createChannel,
  createGroup,
  groups,
  createTokenRoom,
  listTokenRooms,
  publicChannel,
  publicTokenRoom,
  createLocationRoom,
  listLocationRooms,
  locationRoom,
  openDm,
  update,
  setTopic,
  archive,
  join,
  sharedKey,
  gate,
  recheckGate,
  leave,
  members,
  addMembers,
  setRole,
  handOver,
  kick,
  staff,
}

const finishMilliseconds = 30_000
const settleMilliseconds = 30_000

export const rooms = defineDomain(contract, actions, {
  settings: roomSettings,
  async shows(urls) {
    const found = await Rooms.find({ icon_url: { $in: [...urls] } }, { icon_url: 1 }).lean()
    return found.map(({ icon_url }) => icon_url)
  },
  async start(node) {
    const stopAnswering = answerOnline(node)
    followStaff(node)
    followSuspensions(node)
    await retryOnStart(() => ensureAlpha(node))
    // The demo has its own channels.
    if (roomSettings.of(node).beginsWithChannels && !node.settings.demo) {
      await retryOnStart(() => ensureOfficialChannels(node))
      await retryOnStart(() => ensureStaffChannel(node))
    }
    await retryOnStart(() => finishRooms(node))
    const stopFinishing = every(node, finishMilliseconds, () => finishRooms(node), 'rooms were not finished')
    const stopSettling = every(
      node,
      settleMilliseconds,
      () => updateAllStaffMemberships(node),
      'the staff was not settled',
    )
    const stopFiling = startInBackground(node, updateSearchTerms, 'older rooms were not filed for the search')
    const stopPlacing = startInBackground(node, storePlaceCells, 'older rooms of places were not filed by cell')
    const stopHealing = startInBackground(
      node,
      () => appointMissingManagers(node),
      'rooms that nobody runs were not looked for',
    )
    return [stopAnswering, stopFinishing, stopSettling, stopFiling, stopPlacing, stopHealing, startRechecks(node)]
  },
})
