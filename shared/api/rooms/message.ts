import { z } from 'zod'
import { MessageType, Verdict } from '#shared/api/moderation/verdict'
import { isFieldName } from '#shared/kit/field-name'
import { longestMessage } from '#shared/kit/lengths'
import { canonicalAddress, count, Id, line, nameLine, Time, text } from '#shared/kit/primitives'
import { signForm } from '#shared/kit/reaction-sign'
import { LeanPerson, Person, RoomKey } from './room.ts'

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

const longestSign = 32

export const Content = text(longestMessage)
/**
 * What one reacts with, in its one form: `❤` is `❤️`. It names a count in the stored message, so that it may not be the name of something
 * else.
 */
export const Sign = z
  .string()
  .max(2 * longestSign, `Too long: at most ${longestSign} characters`)
  .overwrite(signForm)
  .pipe(
    nameLine(1, longestSign).refine((sign) => isFieldName(sign) && !(sign in Object.prototype), {
      error: 'Invalid emoji',
    }),
  )
/** What pages of a history are read on by, in every path that lists messages. */
export const cursor = {
  before_seq: count(1, Number.MAX_SAFE_INTEGER).optional(),
  after_seq: count(0, Number.MAX_SAFE_INTEGER).optional(),
}
/** What somebody may say that a message is: `image` is a photo. */
export const AnyType = z.union([MessageType, z.literal('image')])
/** Field names of other spellings of a send, folded into the first. */
const spellings = {
  text: Content.optional(),
  content: Content.optional(),
  type: AnyType.optional(),
  messageType: AnyType.optional(),
  message_type: AnyType.optional(),
  reply_to: Id.nullish(),
  replyToId: Id.nullish(),
  reply_to_id: Id.nullish(),
}
/**
 * The sender's files in the message, by the `path` of each upload. Sealed texts name them here in clear. Files are kept as long as
 * the message.
 */
export const Blobs = z.array(z.string().min(1).max(500)).max(10).optional()
/** Whom a text names, each by its place in it. */
export const Mentions = z
  .array(Mention.extend({ id: line(0, 160).transform(canonicalAddress) }))
  .max(50)
  .optional()
/** A change of a message has none, also where other unknown fields are ignored. */
export const NoAttachments = z
  .undefined('attachments: an edit keeps the files of its message')
  .optional()
  .meta({ description: 'Refused: an edit keeps the files of its message.' })
export const draft = {
  ...spellings,
  attachments: z
    .array(Attachment.extend({ name: line(1, 200).optional(), mime: line(0, 100).optional() }))
    .max(10)
    .optional(),
  mentions: Mentions,
  blobs: Blobs,
}

/** The answer to a send. */
export const sent = {
  message: Message,
  verdict: Verdict,
  duplicate: z.boolean().optional(),
  next_send_at: Time.nullable(),
}
export type Sent = z.infer<z.ZodObject<typeof sent>>

/** The same of protocol 2: what the sender does not know. `wholeSent` says what is meant by what is left out. */
export const LeanSent = z.object({
  seq: z.number().int(),
  at: z.number().int().or(Time),
  actor: LeanPerson.optional(),
  message: LeanMessage,
  verdict: Verdict.optional(),
  duplicate: z.boolean().optional(),
  next_send_at: Time.optional(),
})
export type LeanSent = z.infer<typeof LeanSent>
