import { z } from 'zod'

const text = z.string()
const number = z.number()
const flag = z.boolean()

/** A message and its poll in events and facts: plain JSON. */
export const PollFact = z.object({
  poll_id: text,
  message_id: text,
  /** The seq of its message; 0 until it has one. */
  message_seq: number,
  creator_address: text,
  question: text,
  options: z.array(text),
  allows_multiple: flag,
  ends_at: text.nullable(),
  is_anonymous: flag,
  is_closed: flag,
  created_at: text,
  version: number,
  counts: z.array(number),
  voters: number,
})
export type PollFact = z.infer<typeof PollFact>

/** The body of a message's row: its present state. */
export const MessageBody = z.object({
  actor: z.object({ name: text, role: text.nullable() }),
  text,
  type: text,
  attachments: z.array(
    z.object({ url: text, name: text.exactOptional(), mime: text.exactOptional(), size: number.exactOptional() }),
  ),
  mentions: z.array(z.object({ kind: text, id: text, start: number, len: number })),
  reply_to: z.object({ id: text, sender_address: text, content: text, message_type: text }).nullable(),
  poll_id: text.nullable(),
  /** The poll as first asked, beside its message. */
  poll: PollFact.exactOptional(),
  version: number,
  edited_at: text.nullable(),
  deleted: z.object({ by: text, at: text, reason: text.nullable() }).nullable(),
  pinned: z.object({ by: text, at: text }).nullable(),
  reactions: z.record(text, number),
  flagged: z.array(text),
  /** Keys of the sender's files that it names; absent if none. */
  media: z.array(text).exactOptional(),
  /** Seqs of the edits, whose texts are deleted with the message. */
  edits: z.array(number),
})
export type MessageBody = z.infer<typeof MessageBody>

export const MessageFact = z.object({
  id: text,
  cid: text,
  sender: text,
  seq: number,
  n: number,
  at: number,
  body: MessageBody,
})
export type MessageFact = z.infer<typeof MessageFact>
