import { createHash } from 'node:crypto'
import { recordOf, signed } from '#server/domains/events'
import { isLeavingAccount } from '#server/domains/people/accounts/found'
import { actingRoom } from '#server/domains/rooms/room-state/access'
import { messagesPurged } from '#server/domains/rooms/room-state/events/messages'
import { moderationApplied, roleChanged } from '#server/domains/rooms/room-state/events/people'
import { rulesUpdated, wordsUpdated } from '#server/domains/rooms/room-state/events/rooms'
import type { BanFact, ModeratorFact, MuteFact, RulesFact, WordFact } from '#server/domains/rooms/room-state/facts'
import { wordFaultOf } from '#server/domains/rooms/room-state/judge-draft'
import {
  actorOf,
  gradeOf,
  isSuspended,
  mayTouch,
  type Standing,
  standingOf,
} from '#server/domains/rooms/room-state/standing'
import { actWithSuccession } from '#server/domains/rooms/room-state/succession'
import { audiences, type Context, type Node } from '#server/kernel/context'
import { type Entry, GLOBAL, type Judgement, type RoomKey, type Row, type View } from '#server/log/types'
import type { ModerationAction } from '#shared/api/moderation/moderation-acts'
import type { LogAction, LogEntry } from '#shared/api/moderation/moderation-records'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { idIn, roomOfKey } from '#shared/kit/room-key'

/** The type of a chained row in the log of actions. */
const actionTypeOf = (row: Row): string => recordOf(row.type)?.entry?.action(row.body) ?? row.type

function metadataOf(row: Row): Record<string, unknown> {
  const { type, id } = row.room === GLOBAL ? { type: 'global', id: null } : roomOfKey(row.room)
  const place = { chat_type: type, chat_id: id, name: row.body.target_name ?? null }
  return { ...place, ...recordOf(row.type)?.entry?.metadata?.(row, signed(row)) }
}

/** A chained row as an entry of the log of actions. */
export function logEntryOf(row: Row): LogEntry {
  const room = row.room === GLOBAL ? null : roomOfKey(row.room)
  const record = recordOf(row.type)
  return {
    id: row._id,
    seq: row.seq,
    hash: row.chain,
    action_type: actionTypeOf(row),
    moderator_address: row.sender,
    target_user_address: row.target,
    target_message_id: record?.rewrites && typeof row.body.id === 'string' ? row.body.id : null,
    channel_id: room && idIn('channel_id', room),
    reason: row.reason,
    metadata: metadataOf(row),
    created_at: new Date(row.at).toISOString(),
  }
}

export interface Scene {
  view: View
  now: number
  actor: { account: string; name: string }
  mine: Standing
  /** The person acted on; the actor if there is none. */
  target: { account: string; name: string }
  theirs: Standing
  /** Is the target to be erased? */
  isLeaving: boolean
}

/** The result of an act: an entry to append, or the record that already says so. */
export type Decision = { entry: Entry; record: unknown } | { already: unknown }

export interface ModerationResult {
  row: Row | null
  record: unknown
  pendingNodes: number
  socketsHere: number
}

export interface ModerationAct {
  account: string
  target?: string | null | undefined
  cid?: string | undefined
  action: OnRecord
}

const loggedAs: { [Action in Exclude<ModerationAction, LogAction>]: LogAction } & {
  [Action in ModerationAction]?: LogAction
} = {
  ban: 'room_ban',
  unban: 'room_unban',
  promote: 'promote_mod',
  demote: 'demote_mod',
}

/** Other roles may delete and pin messages too, so other operations do that. */
type OnRecord = Exclude<ModerationAction, 'delete' | 'pin' | 'unpin'>

const eventRecords = {
  ban: moderationApplied,
  unban: moderationApplied,
  mute: moderationApplied,
  unmute: moderationApplied,
  warn: moderationApplied,
  promote: roleChanged,
  demote: roleChanged,
  rules: rulesUpdated,
  word_add: wordsUpdated,
  word_remove: wordsUpdated,
  purge: messagesPurged,
} satisfies { [Action in OnRecord]: unknown }

const isActOf = (row: Row, { action, target }: ModerationAct): boolean =>
  row.chained && actionTypeOf(row) === (loggedAs[action] ?? action) && (target == null || row.target === target)

/** Loads the room and both people, by which acts are judged. */
export async function scenesOf(
  node: Node,
  key: RoomKey,
  { account, target }: Pick<ModerationAct, 'account' | 'target'>,
): Promise<(view: View, now: number) => Scene> {
  const [actor, other, isLeaving] = await Promise.all([
    actorOf(node, account),
    actorOf(node, target ?? account),
    isLeavingAccount(target ?? account),
  ])
  return (view, now) => {
    const mine = standingOf(view, account)
    const theirs = standingOf(view, other.account)
    if (key !== GLOBAL) actingRoom(view, account, now)
    else if (isSuspended(view, account)) throw new AppError('SUSPENDED')
    return { view, now, actor, mine, target: other, theirs, isLeaving }
  }
}

/** Judges an act of a moderator on the room's state at its place in the order. */
export async function performModeration(
  { node }: Pick<Context, 'node'>,
  key: RoomKey,
  by: ModerationAct,
  decide: (scene: Scene) => Decision,
): Promise<ModerationResult> {
  const { account, target, cid, action } = by
  const sceneAt = await scenesOf(node, key, by)
  const socketsHere = target ? socketsOf(node, key, target) : 0
  let record: unknown = null
  const act = {
    sender: account,
    cid,
    makes: eventRecords[action],
    isRepeat: (row: Row) => isActOf(row, by),
    judge: (view: View, now: number): Judgement<unknown> => {
      const decision = decide(sceneAt(view, now))
      if ('already' in decision) return { already: decision.already }
      record = decision.record
      return { accept: decision.entry }
    },
  }
  const takesOut = action === 'ban' && target
  const outcome = takesOut ? await actWithSuccession(node, key, target, act) : await node.log.act(key, act)
  if (!outcome.row) return { row: null, record: outcome.already, pendingNodes: 0, socketsHere: 0 }
  return { row: outcome.row, record, pendingNodes: outcome.pendingNodes, socketsHere }
}

const socketsOf = (node: Node, key: RoomKey, account: string): number =>
  node.live
    .connectionsOf('/rooms', audiences.account(account))
    .filter((connection) => connection.has(audiences.room(key))).length

export const permissions = ['canPin', 'canDelete', 'canMute', 'canManageMods'] as const
type Permission = (typeof permissions)[number]
const missingPermissionText: Record<Permission, string> = {
  canPin: 'You may not pin messages here',
  canDelete: 'You may not delete messages here',
  canMute: 'You may not mute or ban here',
  canManageMods: 'You may not manage this room',
}

export function needPermission({ mine }: Scene, permission: Permission): void {
  if (!mine[permission]) throw new AppError('FORBIDDEN', { message: missingPermissionText[permission] })
}

/** Only super admins act on admins. Moderators act on moderators only if they may manage them. */
export function needReach({ mine, theirs, actor, target }: Scene, word: string): void {
  if (isSameAccount(actor.account, target.account))
    throw new AppError('VALIDATION_ERROR', { message: `You cannot ${word} yourself` })
  if (theirs.isAdmin && !mine.isSuperAdmin)
    throw new AppError('FORBIDDEN', { message: 'Admins cannot be moderated here' })
  if (!mayTouch(mine, theirs)) throw new AppError('FORBIDDEN', { message: `You may not ${word} someone of this rank` })
}

/** Nobody changes their own rights, or those of an equal or higher rank. */
export function needHigherRank({ view, actor, target }: Scene): void {
  if (isSameAccount(actor.account, target.account))
    throw new AppError('FORBIDDEN', { message: 'You may not change your own rights' })
  if (gradeOf(view, actor.account) <= gradeOf(view, target.account))
    throw new AppError('FORBIDDEN', { message: 'You may not change the rights of someone of this rank' })
}

/** A decision of a higher rank can be neither lifted nor replaced while that rank lasts. */
export function needNoSuperior({ view, actor }: Scene, decidedBy: string): void {
  if (gradeOf(view, actor.account) < gradeOf(view, decidedBy))
    throw new AppError('FORBIDDEN', { message: 'Somebody above you has decided this' })
}

const units: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Milliseconds of `24h` and the like; null for a permanent duration. */
export function millisecondsOf(duration: string): number | null {
  const [, count, unit = ''] = /^(\d+)([mhdw])$/.exec(duration) ?? []
  return count === undefined ? null : Number(count) * (units[unit] ?? 0)
}

export const endOfDuration = (now: number, duration: string): string | null => {
  const length = millisecondsOf(duration)
  return length === null ? null : new Date(now + length).toISOString()
}

const roomFieldsOf = (key: RoomKey) => {
  if (key === GLOBAL) return { chat_type: 'global', chat_id: null, channel_id: null }
  const room = roomOfKey(key)
  return { chat_type: room.type, chat_id: room.id, channel_id: idIn('channel_id', room) }
}

export const banRow = (key: RoomKey, { ban_id, ...ban }: BanFact) => ({
  id: ban_id,
  ...roomFieldsOf(key),
  ...ban,
  created_at: ban.banned_at,
  is_active: true,
})

export const muteRow = (key: RoomKey, { mute_id, ...mute }: MuteFact) => ({
  id: mute_id,
  channel_id: roomFieldsOf(key).channel_id,
  ...mute,
  is_active: true,
})

export const moderatorRow = (key: RoomKey, { moderator_id, ...moderator }: ModeratorFact) => ({
  id: moderator_id,
  channel_id: roomFieldsOf(key).channel_id,
  ...moderator,
})

export const wordRow = (node: Node, key: RoomKey, { word_id, cost, ...word }: WordFact) => {
  const { chat_type, chat_id } = roomFieldsOf(key)
  const scope = key === GLOBAL ? ('global' as const) : ('room' as const)
  const place = scope === 'global' ? { chat_type: null, chat_id: null } : { chat_type, chat_id }
  return {
    id: word_id,
    ...word,
    scope,
    ...place,
    is_active: true,
    cost,
    quarantined: wordFaultOf(node, word_id),
  }
}

export const rulesRow = (key: RoomKey, { rules_id, version, ...rules }: RulesFact) => {
  const { chat_type, chat_id } = roomFieldsOf(key)
  return { id: rules_id || rulesIdOf(key), chat_type, chat_id, ...rules, rules_version: version }
}

/** The id of a room's rules follows from the room, so it exists before the rules are first set. */
export function rulesIdOf(key: RoomKey): string {
  const hash = createHash('sha256').update(`rules ${key}`).digest('hex')
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

/** The record in an event, also a lifted one, so that a repeated act gets the first answer. */
const storedRecord = ({ body }: Row) =>
  body.ban ?? body.mute ?? body.moderator ?? body.rules ?? body.added ?? body.removed ?? null

/** The record of an act in its documented shape. */
export function actRecordOf(node: Node, key: RoomKey, { row, record: judged }: ModerationResult): unknown {
  const record = (row && storedRecord(row)) ?? judged
  if (typeof record !== 'object' || record === null) return null
  if ('ban_id' in record) return banRow(key, record as BanFact)
  if ('mute_id' in record) return muteRow(key, record as MuteFact)
  if ('moderator_id' in record) return moderatorRow(key, record as ModeratorFact)
  if ('word_id' in record) return wordRow(node, key, record as WordFact)
  return 'rules_id' in record ? rulesRow(key, record as RulesFact) : null
}
