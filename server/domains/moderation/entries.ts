import { bodyOf } from '#server/domains/rooms/projection'
import { GLOBAL, type Row } from '#server/log/types'
import type { LogEntry } from '#shared/api/moderation-records'
import { roomOfKey } from '#shared/kit/primitives'

/** The kind of entry a row of the chain is, as the log of actions names it. */
export function actionTypeOf(row: Row): string {
  switch (row.type) {
    case 'role.changed': {
      const { moderator } = bodyOf(row, 'role.changed')
      if (moderator === undefined) return 'set_role'
      return moderator ? 'promote_mod' : 'demote_mod'
    }
    case 'moderation.applied': {
      const { action } = bodyOf(row, 'moderation.applied')
      return action === 'ban' || action === 'unban' ? `room_${action}` : action
    }
    case 'words.updated':
      return bodyOf(row, 'words.updated').added ? 'word_add' : 'word_remove'
    default:
      return named[row.type] ?? row.type
  }
}

const named: Record<string, string> = {
  'message.deleted': 'delete',
  'messages.purged': 'purge',
  'message.pinned': 'pin',
  'message.unpinned': 'unpin',
  'member.removed': 'kick',
  'invitation.created': 'invite',
  'invitation.revoked': 'uninvite',
  'rules.updated': 'rules',
  'room.archived': 'archive',
  'account.suspended': 'suspend',
  'account.unsuspended': 'unsuspend',
  'account.role_changed': 'admin_role',
}

function metadataOf(row: Row): Record<string, unknown> {
  const { type, id } = row.room === GLOBAL ? { type: 'global', id: null } : roomOfKey(row.room)
  const place = { chat_type: type, chat_id: id, name: row.body.target_name ?? null }
  const until = row.until === null ? null : new Date(row.until).toISOString()
  switch (row.type) {
    case 'moderation.applied': {
      const { action, duration } = bodyOf(row, 'moderation.applied')
      return {
        ...place,
        ...(action === 'mute' ? { duration, muted_until: until } : {}),
        ...(action === 'ban' ? { duration, banned_until: until } : {}),
      }
    }
    case 'rules.updated':
      return { ...place, diff: bodyOf(row, 'rules.updated').diff }
    case 'messages.purged': {
      const { from_seq, to_seq, count } = bodyOf(row, 'messages.purged')
      return { ...place, from_seq, to_seq, count }
    }
    case 'role.changed': {
      const { role, permissions } = bodyOf(row, 'role.changed')
      return { ...place, role: role ?? null, permissions }
    }
    case 'invitation.created': {
      const { invitation_id, expires_at, max_uses } = bodyOf(row, 'invitation.created').invitation
      return { ...place, invitation_id, expires_at, max_uses }
    }
    case 'invitation.revoked':
      return { ...place, invitation_id: bodyOf(row, 'invitation.revoked').id }
    case 'words.updated': {
      const { added, removed } = bodyOf(row, 'words.updated')
      const { word, action, is_regex } = added ?? removed ?? {}
      return { ...place, word, action, is_regex }
    }
    case 'account.role_changed':
      return { ...place, role: row.body.role ?? null }
    default:
      return place
  }
}

/** A row of the chain as the log of actions shows it. */
export function logEntryOf(row: Row): LogEntry {
  const room = row.room === GLOBAL ? null : roomOfKey(row.room)
  return {
    id: row._id,
    seq: row.seq,
    hash: row.chain,
    action_type: actionTypeOf(row),
    moderator_address: row.sender,
    target_user_address: row.target,
    target_message_id: row.type.startsWith('message.') ? String(row.body.id) : null,
    channel_id: room?.type === 'channel' ? room.id : null,
    reason: row.reason,
    metadata: metadataOf(row),
    created_at: new Date(row.at).toISOString(),
  }
}
