import { z } from 'zod'
import { Verdict } from '#shared/api/moderation/verdict'
import { Time } from '#shared/kit/primitives'
import { LeanMessage, Message } from './message.ts'
import { LeanPerson } from './room.ts'

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
