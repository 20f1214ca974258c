import { z } from 'zod'
import { absolute } from '#server/domains/events/changes'
import { defineEvent } from '#server/domains/events/define'
import { keys, PollFact } from '../facts.ts'
import { pollOf } from '../shown.ts'
import { ofMessage, patchMessage, takenBack, unpin } from './changes.ts'

export const pollChanged = defineEvent('poll.changed', {
  body: z.object({
    poll: PollFact,
    vote: z.object({ account: z.string(), options: z.array(z.number()), removed: z.boolean() }).optional(),
  }),
  changes: (_row, { poll, vote }) => [
    absolute(keys.poll(poll.poll_id), poll),
    ...(vote ? [absolute(keys.vote(poll.poll_id, vote.account), { options: vote.options })] : []),
  ],
  data: (_row, { poll }, room) => ({ poll: pollOf(room, poll) }),
  isUnsigned: ({ poll, vote }) => poll.is_anonymous && vote !== undefined,
})

export const pollDeleted = defineEvent('poll.deleted', {
  body: z.object({ id: z.string(), message_id: z.string(), at: z.string() }),
  changes: (row, { id, message_id, at }) => [
    absolute(keys.poll(id), null),
    patchMessage(message_id, takenBack(row, at)),
    unpin([message_id]),
  ],
  rewrites: (row, { message_id, at }) => ({ ...ofMessage(message_id), ...takenBack(row, at) }),
  data: (_row, { id, message_id }) => ({ id, message_id }),
  hidden: {},
})
