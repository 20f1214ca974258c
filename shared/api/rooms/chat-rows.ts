import { z } from 'zod'
import { Time } from '#shared/kit/primitives'
import type { Message } from './message.ts'

const Reply = z.object({ id: z.string(), sender_address: z.string(), content: z.string() })

/** A message as the documented paths of rooms with a gate list it; the field names its room. Deleted ones are not listed. */
export const listedMessage = <Field extends string>(field: Field) =>
  z
    .object({
      id: z.string(),
      /** What a page is read on by: `before_seq`, `after_seq`. */
      seq: z.number().int(),
      sender_address: z.string(),
      content: z.string(),
      message_type: z.string(),
      reply_to: z.string().nullable(),
      reply_to_message: Reply.nullable(),
      edited_at: Time.nullable(),
      created_at: Time,
    })
    .and(z.object({ [field]: z.string() } as { [Name in Field]: z.ZodString }))

export const listedMessageOf = (field: string, message: Message) => {
  const { id, seq, sender_address, content, message_type, reply_to, edited_at, created_at } = message
  return {
    ...{ id, seq, sender_address, content, message_type, edited_at, created_at },
    ...{ [field]: message.room.id ?? '', reply_to: reply_to?.id ?? null },
    reply_to_message: reply_to && {
      id: reply_to.id,
      sender_address: reply_to.sender_address,
      content: reply_to.content,
    },
  }
}
