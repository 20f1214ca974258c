import { z } from 'zod'
import { MessageType } from '#shared/api/moderation/verdict'
import { isFieldName } from '#shared/kit/field-name'
import { longestMessage } from '#shared/kit/lengths'
import { canonicalAddress, count, Id, line, nameLine, text } from '#shared/kit/primitives'
import { signForm } from '#shared/kit/reaction-sign'
import { Attachment, Mention } from './message.ts'

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
export const draft = {
  ...spellings,
  attachments: z
    .array(Attachment.extend({ name: line(1, 200).optional(), mime: line(0, 100).optional() }))
    .max(10)
    .optional(),
  mentions: Mentions,
  blobs: Blobs,
}
