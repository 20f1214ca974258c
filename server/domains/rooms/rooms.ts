import { accountOf } from '#server/domains/accounts/accounts'
import { areBlocked } from '#server/domains/blocks/blocks'
import { removePicture } from '#server/domains/files/removal'
import { type Action, type Context, type Node, signedIn } from '#server/kernel/context'
import { GLOBAL, type Judgement, type View } from '#server/log/types'
import type { rooms as contract } from '#shared/api/rooms'
import type { ReadAccess } from '#shared/api/verdict'
import { AppError } from '#shared/errors'
import type { InputOf } from '#shared/kit/contract'
import { dmOf, roomKey } from '#shared/kit/primitives'
import type { FoundedType } from '#shared/kit/room-kinds'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { keyOf, seenBy } from './access.ts'
import { attendanceGateOf, foundAttendanceChannel } from './attendance-channels.ts'
import { ensureDm } from './conversations.ts'
import { demoChannels } from './demo-rooms.ts'
import { actorOf, entryOf } from './entries.ts'
import { roomArchived, roomUpdated } from './events/rooms.ts'
import { type RoomFact, roomIn } from './facts.ts'
import { refuseLocked } from './icons.ts'
import { isKnown, kindOf, kinds, typesWhere } from './kinds.ts'
import { bringIn, willing } from './members.ts'
import { becomeMember } from './membership.ts'
import { Members, RoomFacts, Rooms } from './model.ts'
import { nameTaken, uniqueName, withNames } from './names.ts'
import { roomAnswer, rowsOf } from './rows.ts'
import { withSharedKey } from './shared-key.ts'
import { isSuspended, rankOf, ranks } from './standing.ts'
import { refuseMuted, refuseNames } from './state.ts'
import { holdsAll, roomTerms, searchWords, termOf } from './terms.ts'

const listedTypes = typesWhere(({ isListed }) => isListed)

export const list: Action<typeof contract.list> = async (
  { category, joined, search, limit, offset },
  { node, caller },
) => {
  const mine = joined && caller.account !== null ? await membershipsOf(caller.account) : null
  const words = search === undefined ? null : searchWords(search)
  const filter = {
    type: { $in: listedTypes },
    is_active: true,
    access_level: 'public',
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

/** The rooms that are not shown to those who are not signed in. */
export async function closedRooms(): Promise<string[]> {
  const closed = ['signed_in', 'members'] satisfies ReadAccess[]
  const rules = await RoomFacts.find({ 'value.read_access': { $in: closed } }, { room: 1 }).lean()
  return rules.map(({ room }) => room)
}

const listed = (filter: object) => Rooms.find(filter).sort({ is_official: -1, member_count: -1, _id: 1 })

/** Adds the search terms to the rooms that an older version stored, a few at a time. */
export async function fileRooms(): Promise<void> {
  for (;;) {
    const rooms = await Rooms.find(
      { type: { $in: listedTypes }, terms: { $exists: false } },
      { name: 1, description: 1 },
    )
      .limit(100)
      .lean()
    if (rooms.length === 0) return
    const writes = rooms.map((room) => ({
      updateOne: { filter: { _id: room._id, terms: { $exists: false } }, update: { $set: { terms: roomTerms(room) } } },
    }))
    await Rooms.bulkWrite(writes)
  }
}

export async function membershipsOf(account: string): Promise<string[]> {
  const rows = await Members.find({ user_address: account, is_active: true }, { room: 1 }).lean()
  return rows.map(({ room }) => room).filter(isKnown)
}

/** Which of these accounts is in which room. */
export async function membershipsAmong(accounts: readonly string[]): Promise<{ account: string; room: string }[]> {
  const filter = { user_address: { $in: [...accounts] }, is_active: true }
  const rows = await Members.find(filter, { user_address: 1, room: 1 }).lean()
  return rows.filter(({ room }) => isKnown(room)).map(({ user_address, room }) => ({ account: user_address, room }))
}

export const get: Action<typeof contract.get> = async ({ room }, { node, caller }) => {
  const key = await keyOf(room)
  await node.log.ask(key, (view, now) => void seenBy(view, caller.account, now))
  return { room: await roomAnswer(node, key, caller.account) }
}

export const createChannel: Action<typeof contract.createChannel> = async (input, context) => {
  const { account } = signedIn(context)
  const gate = attendanceGateOf(input)
  const key = gate ? await foundAttendanceChannel(context, gate, input, found) : await foundChannel(context, input)
  const { node } = context
  return { channel: { ...(await roomAnswer(node, key, account)), ...(await withSharedKey(node, key)) } }
}

function foundChannel(context: Context, input: InputOf<typeof contract.createChannel>): Promise<string> {
  const { name = '', description = null, emoji = '💬', category = 'general', slug = null } = input
  const fields = { name, description, emoji, category, ...(slug ? { slug } : {}), unique_name: uniqueName(name) }
  return found(context, 'channel', fields, [])
}

export const createGroup: Action<typeof contract.createGroup> = async ({ name, emoji, memberAddresses }, context) => {
  const { account } = signedIn(context)
  await willing(account, memberAddresses)
  const key = await found(context, 'group', { name, emoji }, memberAddresses)
  return { group: await roomAnswer(context.node, key, account) }
}

/** Creates a room and its first members. The record is one write, and lists who must still be let in. */
export async function found(
  context: Context,
  type: FoundedType | 'stream',
  fields: Pick<RoomFact, 'name'> & Partial<RoomFact>,
  members: readonly string[],
  id = context.creationId,
) {
  const { node } = context
  const { account } = signedIn(context)
  await refuseFounding(node, account, fields)
  const key = roomKey({ type, id })
  const now = new Date(node.now()).toISOString()
  await Rooms.create({
    _id: key,
    type,
    id,
    creator_address: account,
    owner_address: account,
    created_at: now,
    updated_at: now,
    founding: { members: [...members] },
    ...(fields.gate ? { gate_checked_at: now } : {}),
    ...kinds[type].founded.fields,
    ...fields,
  }).catch(async (error: unknown) => {
    if (!(await Rooms.exists({ _id: key, creator_address: account }))) nameTaken(error)
  })
  await finishFounding(node, key)
  return key
}

/** Refuses what an account may not call a room, before there is one. */
export const refuseFounding = (node: Node, account: string, fields: Partial<RoomFact>): Promise<void> =>
  node.log.ask(GLOBAL, (view) => {
    if (isSuspended(view, account)) throw new AppError('SUSPENDED')
    refuseNames(node, view, account, { ...fields.gate, ...fields })
  })

/** Lets the founder and the first members into a room, each once, whichever node created it. */
async function finishFounding(node: Node, key: string): Promise<void> {
  const room = await Rooms.findOne({ _id: key }, { founding: 1, creator_address: 1 }).lean()
  if (!room?.founding || !room.creator_address) return
  const account = room.creator_address
  const actor = await actorOf(node, account)
  const { founded } = kindOf(key)
  const role = founded.by === 'its founder' ? founded.role : 'member'
  const finished = () => Rooms.updateOne({ _id: key }, { $unset: { founding: '' } })
  await node.log
    .act<null>(key, {
      sender: account,
      judge: (view, at) => becomeMember(view, at, actor, { role, invited: true }),
    })
    .catch(async (error: unknown) => {
      passOverRefusal(error)
      await archiveUnfounded(node, key, actor)
      await finished()
      throw error
    })
  // Who has left, or has blocked the founder, since the room was created stays out.
  for (const member of room.founding.members) await bringIn(node, key, account, [member]).catch(passOverRefusal)
  await finished()
}

/** A room whose founder may not join is archived and not retried. */
async function archiveUnfounded(node: Node, key: string, actor: { account: string; name: string }): Promise<void> {
  await node.log.act<null>(key, {
    sender: actor.account,
    judge: (view) => (roomIn(view)?.is_active ? { accept: entryOf(view, actor, roomArchived, {}) } : { already: null }),
  })
}

/** A refusal is final; any other error is thrown, so that the work is tried again. */
function passOverRefusal(error: unknown): void {
  if (!(error instanceof AppError) || error.status >= 500) throw error
}

const foundingMilliseconds = 30_000

/** Finishes the rooms whose process died while it created them. */
export async function finishRooms(node: Node): Promise<void> {
  const before = new Date(node.now() - (node.alone ? 0 : foundingMilliseconds)).toISOString()
  const unfinished = { founding: { $exists: true }, created_at: { $lte: before } }
  for (const { _id } of await Rooms.find(unfinished, { _id: 1 }).sort({ created_at: 1 }).lean())
    if (isKnown(_id))
      await finishFounding(node, _id).catch((error: unknown) => node.logger.warn({ error }, 'a room was not finished'))
}

const refuseSuspended = (node: Node, account: string): Promise<void> =>
  node.log.ask(GLOBAL, (view) => {
    if (isSuspended(view, account)) throw new AppError('SUSPENDED')
  })

export const openDm: Action<typeof contract.openDm> = async ({ recipientAddress }, context) => {
  const { account } = signedIn(context)
  if (recipientAddress === account) throw new AppError('VALIDATION_ERROR', { message: 'You cannot message yourself' })
  if (!(await accountOf(recipientAddress))) throw new AppError('USER_NOT_FOUND')
  if (await areBlocked(account, recipientAddress)) throw new AppError('BLOCKED')
  await refuseSuspended(context.node, account)
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
  const before = await node.log.ask(key, (view) => roomIn(view)?.icon_url)
  await withNames(node, key, patch, () => node.log.act<null>(key, { sender: account, judge }))
  if (patch.icon_url !== undefined) await removePicture(node, before)
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
    if (patch.icon_url !== undefined && patch.icon_url !== before.icon_url) refuseLocked(before)
    refuseMuted(view, actor.account, now)
    refuseNames(node, view, actor.account, patch)
    return {
      accept: entryOf(view, actor, roomUpdated, { patch: { ...patch, updated_at: new Date(now).toISOString() } }),
    }
  }

export const archive: Action<typeof contract.archive> = async ({ room }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const actor = await actorOf(context.node, account)
  await context.node.log.act<null>(key, {
    sender: account,
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
