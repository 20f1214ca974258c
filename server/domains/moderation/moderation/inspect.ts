import { z } from 'zod'
import { keyOf, readableRoomOf, readRoom, visibleRoom } from '#server/domains/rooms/room-state/access'
import {
  type BanFact,
  banIn,
  type ModeratorFact,
  type MuteFact,
  moderatorIn,
  muteIn,
  roomIn,
  roomRefOf,
  rulesIn,
  type WordFact,
} from '#server/domains/rooms/room-state/facts'
import { wordListsOf } from '#server/domains/rooms/room-state/judge-draft'
import { isKnownRoom, kindOf, kinds, typesWhere } from '#server/domains/rooms/room-state/kinds'
import { Bans, Moderators, Mutes, Words } from '#server/domains/rooms/room-state/model'
import { rightsIn, type Standing } from '#server/domains/rooms/room-state/standing'
import { type Action, audiences, type Connection, type Context, type Node } from '#server/kernel/context'
import { chainedRows } from '#server/log/store'
import { GLOBAL, type RoomKey, type Row, type View } from '#server/log/types'
import { verifyChain } from '#server/log/view'
import type { moderation as contract } from '#shared/api/moderation/moderation'
import { isPlaced, placeOf } from '#shared/api/moderation/moderation-paths'
import { type LogEntry, Permissions } from '#shared/api/moderation/moderation-records'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomType } from '#shared/kit/primitives'
import { roomRef } from '#shared/kit/room-key'
import { banRow, logEntryOf, moderatorRow, muteRow, rulesRow, wordRow } from './moderate.ts'

/**
 * Does this account receive the moderation of this room? Direct conversations have no receivers. Admins receive all
 * other rooms, global moderators the public rooms from which they are not banned.
 */
export function receivesModeration(view: View, account: string, now: number): boolean {
  const mine = rightsIn(view, account, now)
  const everywhere = rightsIn(view.global, account, now)
  const kind = kinds[roomRefOf(view).type]
  if (!kind.hasModerators) return false
  if (mine.isAdmin) return true
  if (kind.readers === 'members' || banIn(view, account, now) !== null) return false
  const isOpen = rulesIn(view).read_access !== 'members' && roomIn(view)?.access_level !== 'staff'
  return mine.isModerator || (everywhere.isModerator && isOpen)
}

/** Has the room no moderators, so that only its members are notified? */
export const hasNoModerators = (key: RoomKey): boolean =>
  !isKnownRoom(key) || (key !== GLOBAL && !kindOf(key).hasModerators)

const scannedAtMost = 1_000

/** The newest moderation entries of all rooms that this moderator receives; an admin receives more rooms. */
export async function entriesFor(
  node: Node,
  { account, isAdmin }: { account: string; isAdmin: boolean },
  filter: object,
  limit: number,
): Promise<Row[]> {
  const hidden = typesWhere((kind) => !kind.hasModerators || (!isAdmin && kind.readers === 'members'))
  const most = isAdmin ? limit : scannedAtMost
  const stored = await chainedRows(null, { ...filter, $and: hidden.map(outside) }, most)
  const rows = stored.filter(({ room }) => isKnownRoom(room))
  if (isAdmin) return rows
  const rooms = [...new Set(rows.map(({ room }) => room))]
  const received = await Promise.all(
    rooms.map((room) => room === GLOBAL || node.log.ask(room, (view, now) => receivesModeration(view, account, now))),
  )
  const those = new Set(rooms.filter((_, at) => received[at]))
  return rows.filter(({ room }) => those.has(room)).slice(0, limit)
}

/** Excludes the rooms of a kind: their keys lie between `type:` and the character after the colon. */
const outside = (type: RoomType) => ({ $or: [{ room: { $lt: `${type}:` } }, { room: { $gte: `${type};` } }] })

/** Is this account a moderator here, neither banned nor suspended? */
const isActiveModerator = (view: View, account: string, now = view.at): boolean =>
  rightsIn(view, account, now).isModerator

/** Subscribes a moderator from the row at which the right was checked. The room stays open meanwhile. */
export async function subscribeModerator({ node, caller, connection }: Context, key: RoomKey): Promise<Standing> {
  const account = caller.account ?? ''
  const isFirst = connection !== null && !scopesOf(connection).includes(key)
  const rights = await node.log.ask(
    key,
    (view, now) => rightsIn(view, account, now),
    ({ isModerator }) => isModerator && connection && listen(connection, key),
  )
  if (!rights.isModerator) throw new AppError('FORBIDDEN', { message: 'Only moderators may see this' })
  if (isFirst) connection.onClose(await node.log.hold(key))
  return rights
}

const listened = 'moderates '
const scopesOf = ({ memory }: Connection): RoomKey[] =>
  [...memory.keys()].filter((name) => name.startsWith(listened)).map((name) => name.slice(listened.length))

function listen(connection: Connection, key: RoomKey): void {
  if (!connection.isOpen) return
  connection.memory.set(listened + key, true)
  connection.join(audiences.moderators(key))
}

/** A lost right ends the subscription at once: before the next row, and before the act is answered. */
export function unsubscribeModerator(node: Node, key: RoomKey, account: string): void {
  for (const connection of node.live.connectionsOf('/moderation', audiences.account(account)))
    for (const scope of scopesOf(connection))
      if (scope === key || key === GLOBAL) unsubscribeConnection(node, connection, scope, account)
}

function unsubscribeConnection(node: Node, connection: Connection, scope: RoomKey, account: string): void {
  const question = (view: View) => isActiveModerator(view, account)
  const does = node.log.answerHere(scope, question)
  if (does) return
  connection.leave(audiences.moderators(scope))
  if (does === null) node.log.ask(scope, question, (still) => still && listen(connection, scope)).catch(() => {})
}

const moderatorsTopic = 'moderators'

export async function moderatorsOnline(node: Node, key: RoomKey): Promise<string[]> {
  const elsewhere = await node.peers.ask(moderatorsTopic, key)
  return [...new Set([moderatorsHere(node, key), ...elsewhere.map(accountsIn)].flat())]
}

const accountsIn = (answer: unknown) => z.array(z.string()).safeParse(answer).data ?? []

const moderatorsHere = (node: Node, key: RoomKey): string[] =>
  node.live.connectionsOf('/moderation', audiences.moderators(key)).flatMap(({ account }) => account ?? [])

/** Answers other nodes with the moderators connected here. */
export const answerModerators = (node: Node): (() => void) =>
  node.peers.answer(moderatorsTopic, (key) => (typeof key === 'string' ? moderatorsHere(node, key) : []))

type InspectInput = Parameters<Action<typeof contract.inspect>>[0]

/**
 * The rights of an account in a room that the caller can read. For the caller it suffices to see the room. Without a
 * room, the rights in official rooms.
 */
const rightsOf = ({ node, caller }: Context, key: RoomKey, account: string): Promise<Standing> =>
  node.log.ask(key, (view, now) => {
    if (key !== GLOBAL)
      (isSameAccount(account, caller.account) ? visibleRoom : readableRoomOf)(view, caller.account, now)
    return rightsIn(view, account, now)
  })

export const inspect: Action<typeof contract.inspect> = async (input, context) => {
  switch (input.action) {
    case 'permissions':
      return { permissions: await permissions(context, input) }
    case 'moderators':
      return { moderators: await moderators(context, input) }
    case 'muted':
      return { mutedUsers: await muted(context, input) }
    case 'check-muted':
      return { isMuted: await isMuted(context, input) }
    case 'mod-log':
      return { logs: await log(context, input) }
  }
}

const needUser = ({ userAddress }: InspectInput): string => {
  if (!userAddress) throw new AppError('VALIDATION_ERROR', { message: 'userAddress required' })
  return userAddress
}

async function permissions(context: Context, input: InspectInput) {
  const key = isPlaced(input) ? await keyOf(placeOf(input)) : GLOBAL
  return Permissions.parse(await rightsOf(context, key, needUser(input)))
}

/** Every reader of a room sees its moderators. Notes are shown to moderators only. */
async function moderators({ node, caller }: Context, input: InspectInput) {
  const key = isPlaced(input) ? await keyOf(placeOf(input)) : GLOBAL
  const isOfficial =
    key !== GLOBAL &&
    (await node.log.ask(key, (view, now) => readableRoomOf(view, caller.account, now).room.is_official))
  const stored = await Moderators.find({ room: key, is_active: true }).sort({ granted_at: -1 }).lean()
  const { here, isAmong } = await node.log.ask(key, (view, now) => ({
    here: stored.filter((row) => moderatorIn(view, row.user_address) !== null),
    isAmong: caller.account !== null && isActiveModerator(view, caller.account, now),
  }))
  const all = isOfficial ? await Moderators.find({ room: GLOBAL, is_active: true }).sort({ granted_at: -1 }).lean() : []
  const known = new Set(here.map(({ user_address }) => user_address))
  const rows = [...here, ...all.filter(({ user_address }) => !known.has(user_address))]
  return rows.map((row) => moderatorRow(row.room, { ...(row as ModeratorFact), ...(isAmong ? {} : { notes: null }) }))
}

async function muted({ node, caller }: Context, input: InspectInput) {
  const key = await keyOf(placeOf(input))
  const now = await node.log.ask(key, (view, at) => needModerator(view, caller.account, at))
  const rows = await Mutes.find({ room: key, is_active: true }).sort({ muted_at: -1 }).lean()
  return rows
    .filter(({ muted_until }) => muted_until === null || Date.parse(muted_until) > now)
    .map((row) => muteRow(key, row as MuteFact))
}

async function isMuted({ node, caller }: Context, input: InspectInput) {
  const account = needUser(input)
  const key = await keyOf(placeOf(input))
  return node.log.ask(key, (view, now) => {
    needSelfOrModerator(view, caller.account, account, now)
    return muteIn(view, account, now) !== null
  })
}

/** Refuses everybody except moderators, who alone see bans and mutes. Returns the time of the check. */
function needModerator(view: View, account: string | null, now: number): number {
  if (account === null) throw new AppError('UNAUTHORIZED')
  visibleRoom(view, account, now)
  if (!isActiveModerator(view, account, now))
    throw new AppError('FORBIDDEN', { message: 'Only moderators may see this' })
  return now
}

/** Callers may ask about themselves, even if they are banned. */
function needSelfOrModerator(view: View, caller: string | null, about: string, now: number): void {
  if (caller === about) banIn(view, about, now) ?? visibleRoom(view, caller, now)
  else needModerator(view, caller, now)
}

async function log(
  context: Context,
  { chatType, channelId, actor, target, actionType, since, until, limit }: InspectInput,
): Promise<LogEntry[]> {
  const { account } = context.caller
  if (account === null) throw new AppError('UNAUTHORIZED')
  const key = channelId ? await keyOf(placeOf({ chatType, channelId })) : GLOBAL
  const { isAdmin, canManageMods } = await rightsOf(context, key, account)
  if (!isAdmin && !canManageMods) throw new AppError('FORBIDDEN', { message: 'Not authorized' })
  const filter = {
    ...(actor ? { sender: actor } : {}),
    ...(target ? { target } : {}),
    at: { $gte: since ? Date.parse(since) : 0, $lte: until ? Date.parse(until) : Number.MAX_SAFE_INTEGER },
  }
  const most = actionType ? 1_000 : limit
  const rows = await (channelId
    ? chainedRows(key, filter, most)
    : entriesFor(context.node, { account, isAdmin }, filter, most))
  const entries = rows.map(logEntryOf)
  return (actionType ? entries.filter(({ action_type }) => action_type === actionType) : entries).slice(0, limit)
}

const verifiedPage = 500
const verifiedAtMost = 5_000

export const verify: Action<typeof contract.verify> = async ({ channelId, after: from = 0 }, context) => {
  const key = channelId ? await keyOf(placeOf({ channelId })) : GLOBAL
  if (!(await rightsOf(context, key, context.caller.account ?? '')).isModerator) throw new AppError('FORBIDDEN')
  const [before] = from > 0 ? await chainedRows(key, { seq: { $gte: 1, $lte: from } }, 1) : []
  let previous = before?.chain ?? ''
  let entries = 0
  for (let after = from; ; ) {
    if (entries >= verifiedAtMost) return { ok: true, entries, head: previous, broken_at: null, next: after }
    const rows = await chainedRows(key, { seq: { $gt: after, $lte: Number.MAX_SAFE_INTEGER } }, verifiedPage, 1)
    const broken = verifyChain(rows, previous)
    entries += rows.length
    if (broken) return { ok: false, entries, head: previous, broken_at: broken._id, next: null }
    const last = rows.at(-1)
    if (!last) return { ok: true, entries, head: previous, broken_at: null, next: null }
    previous = last.chain
    after = last.seq
  }
}

export const rulesOf: Action<typeof contract.rules> = async ({ chatType, chatId }, { node, caller }) => {
  const { key, also } = await readRoom(node, caller, roomRef(chatType, chatId), rulesIn)
  return { rules: rulesRow(key, also) }
}

export const bans: Action<typeof contract.bans> = async (
  { chatType, chatId, action, userAddress },
  { node, caller },
) => {
  if (action === 'check' && !userAddress) throw new AppError('VALIDATION_ERROR', { message: 'userAddress required' })
  const key = await keyOf(roomRef(chatType, chatId))
  if (action === 'check' && userAddress)
    return node.log.ask(key, (view, at) => {
      needSelfOrModerator(view, caller.account, userAddress, at)
      return { isBanned: banIn(view, userAddress, at) !== null }
    })
  const now = await node.log.ask(key, (view, at) => needModerator(view, caller.account, at))
  const rows = await Bans.find({ room: key, is_active: true }).sort({ banned_at: -1 }).limit(1_000).lean()
  return {
    bans: rows
      .filter(({ banned_until }) => banned_until === null || Date.parse(banned_until) > now)
      .map((row) => banRow(key, row as BanFact)),
  }
}

export const words: Action<typeof contract.words> = async ({ scope, chatType, chatId }, context) => {
  const { account } = context.caller
  if (account === null) return { words: [] }
  const room = chatType ? await keyOf(roomRef(chatType, chatId)).catch(() => null) : null
  const keys = [...(scope === 'room' ? [] : [GLOBAL]), ...(scope === 'global' || room === null ? [] : [room])]
  const lists = await Promise.all(keys.map((key) => wordsFor(context, key, account)))
  return { words: lists.flat() }
}

/** The list for its editors; empty for others. */
async function wordsFor(context: Context, key: RoomKey, account: string) {
  const { isModerator, canManageMods } = await rightsOf(context, key, account).catch(() => ({
    isModerator: false,
    canManageMods: false,
  }))
  if (key === GLOBAL ? !isModerator : !canManageMods) return []
  // Reading the list tells the node which patterns it cannot use.
  await context.node.log.ask(key, (view) => wordListsOf(context.node, view))
  const rows = await Words.find({ room: key, is_active: true }).sort({ added_at: -1 }).lean()
  return rows.map((row) => wordRow(context.node, key, row as WordFact))
}
