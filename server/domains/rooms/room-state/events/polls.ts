import { z } from 'zod'
import { defineEvent, type Rewrite, setFact } from '#server/domains/rooms/events/define'
import type { Row } from '#server/log/types'
import { keys, MessageFact, PollFact } from '../facts.ts'
import { messageOf, pollOf } from '../rendered.ts'
import { deletionRewrite, editRewrite, flagOf, messageRewrite, patchMessage, unpinMessages } from './changes.ts'

/** The message with its poll's new question, from this row on. */
function questionRewrite(row: Row, asked: PollFact, message: MessageFact): Pick<Rewrite, 'next'> {
  const { next } = editRewrite(row, message)
  const { question, options, allows_multiple, is_anonymous } = asked
  const anew = { question, options, counts: options.map(() => 0), allows_multiple, is_anonymous }
  return {
    next(before) {
      const { poll, ...body } = next(before)
      return { ...body, ...(poll && { poll: body.deleted ? poll : { ...poll, ...anew } }) }
    },
  }
}

export const pollChanged = defineEvent('poll.changed', {
  body: z.object({
    poll: PollFact,
    /** The edited message of a poll whose question changed. */
    message: MessageFact.exactOptional(),
    vote: z.object({ account: z.string(), options: z.array(z.number()), removed: z.boolean() }).optional(),
  }),
  changes: (row, { poll, message, vote }) => [
    ...(message ? [patchMessage(message.id, questionRewrite(row, poll, message)), ...flagOf(message)] : []),
    setFact(keys.poll(poll.poll_id), poll),
    ...(vote ? [setFact(keys.vote(poll.poll_id, vote.account), { options: vote.options })] : []),
  ],
  rewrites: (row, { poll, message }) =>
    message ? { covers: messageRewrite(message.id).covers, ...questionRewrite(row, poll, message) } : null,
  message: (_row, { message }) => message ?? null,
  data: (_row, { poll, message }, room) => ({
    poll: pollOf(room, poll),
    ...(message && { message: messageOf(room, message) }),
  }),
  isUnsigned: ({ poll, vote }) => poll.is_anonymous && vote !== undefined,
})

export const pollDeleted = defineEvent('poll.deleted', {
  body: z.object({ id: z.string(), message_id: z.string(), at: z.string() }),
  changes: (row, { id, message_id, at }) => [
    setFact(keys.poll(id), null),
    patchMessage(message_id, deletionRewrite(row, at)),
    unpinMessages([message_id]),
  ],
  rewrites: (row, { message_id, at }) => ({ ...messageRewrite(message_id), ...deletionRewrite(row, at) }),
  data: (_row, { id, message_id }) => ({ id, message_id }),
  hidden: {},
  recounts: true,
})
