import { remarkFault, type SenderFacts } from '#server/domains/moderation/verdict/verdict'
import type { MessageBody, MessageFact } from '#server/domains/rooms/room-state/facts'
import { quoteText } from '#shared/kit/quotes'

type Quote = MessageBody['reply_to']

/** A quote repeats its text, so the present rules judge it again. */
export const quoteOf = ({ id, sender, body: { text, type } }: MessageFact, facts: SenderFacts): Quote => ({
  id,
  sender_address: sender,
  content: remarkFault(text, facts) === null ? quoteText(text) : '',
  message_type: type,
})

/** A reply's quote in its present state: none if deleted, the new text if edited. */
export function quoteNow({ seq, body: { reply_to } }: MessageFact, answered: MessageFact | null | undefined): Quote {
  if (!reply_to || !answered) return reply_to
  const { text, deleted, edits } = answered.body
  if (deleted) return null
  return (edits.at(-1) ?? 0) > seq ? { ...reply_to, content: quoteText(text) } : reply_to
}
