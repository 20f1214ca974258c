import { z } from 'zod'
import { RoomKey } from '#shared/api/rooms/room'
import { Time } from '#shared/kit/primitives'
import { Rules } from './verdict.ts'

export const RulesRecord = Rules.and(
  z.object({
    id: z.string(),
    chat_type: z.string(),
    chat_id: z.string().nullable(),
    rules_text: z.string().nullable(),
    rules_version: z.number().int(),
    updated_by: z.string().nullable(),
    updated_at: Time.nullable(),
  }),
)
export const Ban = z.object({
  id: z.string(),
  chat_type: z.string(),
  chat_id: z.string().nullable(),
  channel_id: z.string().nullable(),
  user_address: z.string(),
  banned_by: z.string(),
  reason: z.string().nullable(),
  banned_at: Time,
  banned_until: Time.nullable(),
  created_at: Time,
  is_active: z.boolean(),
})
export const ModerationMute = z.object({
  id: z.string(),
  user_address: z.string(),
  channel_id: z.string().nullable(),
  muted_by: z.string(),
  muted_at: Time,
  muted_until: Time.nullable(),
  reason: z.string().nullable(),
  is_active: z.boolean(),
})
export const Moderator = z.object({
  id: z.string(),
  user_address: z.string(),
  channel_id: z.string().nullable(),
  granted_by: z.string(),
  granted_at: Time,
  can_pin: z.boolean(),
  can_delete: z.boolean(),
  can_mute: z.boolean(),
  can_manage_mods: z.boolean(),
  notes: z.string().nullable(),
})
export const WordAction = z.enum(['block', 'flag', 'mute'])
export const BlockedWord = z.object({
  id: z.string(),
  word: z.string(),
  scope: z.enum(['global', 'room']),
  chat_type: z.string().nullable(),
  chat_id: z.string().nullable(),
  action: WordAction,
  is_regex: z.boolean(),
  /** A plain word whose accents and signs count; absent in words of older versions, whose accents do not. */
  as_written: z.boolean().optional(),
  added_by: z.string(),
  added_at: Time,
  is_active: z.boolean(),
  quarantined: z.string().nullable().optional(),
  cost: z.number().int().optional(),
})
export type BlockedWord = z.infer<typeof BlockedWord>

/** What the moderation log calls its entries. A newer server may have others, so that `action_type` is any text. */
export type LogAction =
  | 'admin_role'
  | 'archive'
  | 'delete'
  | 'demote_mod'
  | 'invite'
  | 'kick'
  | 'mute'
  | 'pin'
  | 'promote_mod'
  | 'purge'
  | 'room_ban'
  | 'room_unban'
  | 'rules'
  | 'set_role'
  | 'suspend'
  | 'uninvite'
  | 'unmute'
  | 'unpin'
  | 'unsuspend'
  | 'warn'
  | 'word_add'
  | 'word_remove'

export const LogEntry = z.object({
  id: z.string(),
  seq: z.number().int(),
  hash: z.string(),
  action_type: z.string(),
  moderator_address: z.string(),
  target_user_address: z.string().nullable(),
  target_message_id: z.string().nullable(),
  channel_id: z.string().nullable(),
  reason: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  created_at: Time,
})
export type LogEntry = z.infer<typeof LogEntry>

export const Permissions = z.object({
  isAdmin: z.boolean(),
  isSuperAdmin: z.boolean(),
  isModerator: z.boolean(),
  canPin: z.boolean(),
  canDelete: z.boolean(),
  canMute: z.boolean(),
  canManageMods: z.boolean(),
})

const QueueState = z.enum(['pending', 'reviewed', 'action_taken', 'dismissed'])
export const QueueItem = z.object({
  id: z.string(),
  kind: z.enum(['report', 'flag']),
  state: QueueState,
  /** What the moderators of its room have decided of a report, which waits on for those who moderate everywhere. */
  room_state: QueueState.nullable(),
  room: RoomKey.nullable(),
  reporter_address: z.string().nullable(),
  reported_address: z.string(),
  report_type: z.string(),
  description: z.string().nullable(),
  message_id: z.string().nullable(),
  message_content: z.string().nullable(),
  /** Whose copy of the text it is: the server's own, or what the reporter says the message said. */
  message_content_by: z.enum(['server', 'reporter']).nullable(),
  /** Media of the message that its reporter has handed in: whether its sender has committed to them. */
  evidence: z.object({ type: z.string(), is_as_sent: z.boolean() }).nullable(),
  claimed_by: z.string().nullable(),
  created_at: Time,
})
export type QueueItem = z.infer<typeof QueueItem>
