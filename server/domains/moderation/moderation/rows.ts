import { createHash } from 'node:crypto'
import { wordFaultOf } from '#server/domains/rooms/room-state/blocked-words'
import type { BanFact, ModeratorFact, MuteFact, RulesFact, WordFact } from '#server/domains/rooms/room-state/facts'
import type { Node } from '#server/kernel/context'
import { GLOBAL, type RoomKey, type Row } from '#server/log/types'
import { idIn, roomOfKey } from '#shared/kit/room-key'
import type { ModerationResult } from './moderate.ts'

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
