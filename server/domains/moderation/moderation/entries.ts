import { recordOf, signed } from '#server/domains/events'
import { GLOBAL, type Row } from '#server/log/types'
import type { LogEntry } from '#shared/api/moderation/moderation-records'
import { idIn, roomOfKey } from '#shared/kit/room-key'

/** The type of a chained row in the log of actions. */
export const actionTypeOf = (row: Row): string => recordOf(row.type)?.entry?.action(row.body) ?? row.type

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
