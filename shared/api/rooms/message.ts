import { z } from 'zod'
import { MessageType } from '#shared/api/moderation/verdict'
import { canonicalAddress, count, Time } from '#shared/kit/primitives'
import { Person, RoomKey } from './room.ts'

export const Mention = z.strictObject({
  kind: z.enum(['user', 'agent', 'here']),
  id: z.string().max(160).transform(canonicalAddress),
  start: count(0, 20_000),
  len: count(1, 200),
})
export type Mention = z.infer<typeof Mention>
export const Attachment = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).max(2_000),
  name: z.string().optional(),
  mime: z.string().optional(),
  size: count(0, 1_000_000_000).optional(),
})
export type Attachment = z.infer<typeof Attachment>

/** One message: the row of the channel messages, with its place in the room's order. */
export const Message = z.object({
  id: z.string(),
  room: RoomKey,
  channel_id: z.string().nullable(),
  seq: z.number().int(),
  n: z.number().int(),
  version: z.number().int(),
  client_msg_id: z.string(),
  sender_address: z.string(),
  sender: Person,
  content: z.string(),
  message_type: MessageType,
  attachments: z.array(Attachment),
  mentions: z.array(Mention),
  created_at: Time,
  reply_to_id: z.string().nullable(),
  reply_to: z
    .object({ id: z.string(), sender_address: z.string(), content: z.string(), message_type: MessageType })
    .nullable(),
  reactions: z.record(z.string(), z.number().int()),
  poll_id: z.string().nullable(),
  is_pinned: z.boolean(),
  pinned_by: z.string().nullable(),
  pinned_at: Time.nullable(),
  is_edited: z.boolean(),
  edited_at: Time.nullable(),
  is_deleted: z.boolean(),
  deleted_by: z.string().nullable(),
  deleted_at: Time.nullable(),
  delete_reason: z.string().nullable(),
})
export type Message = z.infer<typeof Message>

/** The same of protocol 2, without what `shared/api/rooms/lean.ts` names as usual. */
export const LeanMessage = Message.partial()
export type LeanMessage = z.infer<typeof LeanMessage>

export const Reaction = z.object({
  id: z.string(),
  message_id: z.string(),
  channel_id: z.string().nullable(),
  user_address: z.string(),
  emoji: z.string(),
  created_at: Time,
})
