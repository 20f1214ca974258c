import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Address, Done, Id, line, onceByKey, repeatable, Time, text } from '#shared/kit/primitives'

/** The widgets that visitors write in. */
export const boardTypes = ['guestbook', 'poll', 'reaction_wall', 'visitor_counter'] as const

const GuestbookEntry = z.object({
  id: z.string(),
  author_address: z.string(),
  author_name: z.string(),
  text: z.string(),
  created_at: Time,
})

const Board = z.object({
  /** Of a guestbook, newest first. */
  entries: z.array(GuestbookEntry),
  /** Of a poll by the ids of its options, of reactions by their signs: how many have chosen each. */
  counts: z.record(z.string(), z.number().int()),
  /** What the caller has chosen of these. */
  own: z.array(z.string()),
  /** How many accounts have visited the profile. */
  visitors: z.number().int(),
})
export type Board = z.infer<typeof Board>

const ofWidget = { owner: Address, widget_id: Id }
const visiting = { access: 'user', limit: 'general', cost: 'cheap', errorBody: 'text' } as const
const seen = ['NOT_FOUND', 'BLOCKED'] as const

/** Of `profiles`: what visitors write in widgets of others. */
export const profileBoard = {
  board: operation({
    summary: 'What visitors have written in a guestbook, a poll, reactions or a visitor counter of a profile.',
    http: 'GET /api/profile/board',
    socket: '/notifications profile:board',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object(ofWidget),
    output: z.object({ board: Board }),
    errors: ['NOT_FOUND'],
  }),
  sign: operation({
    ...visiting,
    cost: 'judged',
    summary: 'Write in a guestbook: up to five entries of a person. They are judged as messages in alpha.',
    http: 'POST /api/profile/guestbook',
    socket: '/notifications profile:sign',
    idempotency: onceByKey,
    input: z.object({
      ...ofWidget,
      text: text(300, 'text is required').refine((value) => value.trim() !== '', { error: 'text is required' }),
      ...repeatable,
    }),
    output: z.object({ entry: GuestbookEntry }),
    errors: [...seen, 'BANNED', 'MUTED', 'BLOCKED_WORD'],
  }),
  removeEntry: operation({
    ...visiting,
    summary: 'Delete an entry of a guestbook: the own one, or any in the own guestbook.',
    http: 'DELETE /api/profile/guestbook',
    socket: '/notifications profile:remove-entry',
    whileSuspended: 'withdraws',
    input: z.object({ id: Id }),
    output: Done,
    errors: ['NOT_FOUND'],
  }),
  choose: operation({
    ...visiting,
    summary:
      'Choose an option of a poll or a reaction, or take that back. A poll with one answer drops the choice before.',
    http: 'POST /api/profile/choices',
    socket: '/notifications profile:choose',
    repeat: 'harmless',
    input: z.object({ ...ofWidget, choice: line(1, 64), is_on: z.boolean() }),
    output: z.object({ board: Board }),
    errors: seen,
  }),
  visit: operation({
    ...visiting,
    summary: 'Count as a visitor of a profile, once.',
    http: 'POST /api/profile/visits',
    socket: '/notifications profile:visit',
    repeat: 'harmless',
    input: z.object({ owner: Address }),
    output: Done,
    errors: seen,
  }),
}
