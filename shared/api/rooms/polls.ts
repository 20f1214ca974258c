import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { ClientId, count, Done, Id, line, Moment, maybe, RoomRef, Time, text } from '#shared/kit/primitives'
import { Message } from './message.ts'
import { pathOf, roomPaths, seen } from './room-paths.ts'

const Option = z.object({ id: z.number().int(), text: z.string(), vote_count: z.number().int() })

export const Poll = z.object({
  id: z.string(),
  message_id: z.string(),
  channel_id: z.string().nullable(),
  group_id: z.string().nullable(),
  creator_address: z.string(),
  question: z.string(),
  options: z.array(z.string()),
  /** The options as objects; `id` is what a vote names as `option_id`. */
  options_detail: z.array(Option),
  allows_multiple: z.boolean(),
  ends_at: Time.nullable(),
  is_anonymous: z.boolean(),
  is_closed: z.boolean(),
  /** Neither closed nor ended. */
  is_active: z.boolean(),
  created_at: Time,
  version: z.number().int(),
  votes: z.array(z.object({ option_index: z.number().int(), count: z.number().int(), voters: z.array(z.string()) })),
  user_votes: z.array(z.number().int()),
  total_votes: z.number().int(),
})
export type Poll = z.infer<typeof Poll>

/** A poll on the older paths: clients of the older SDK, which send `X-API-Key`, read its options as objects. */
const OlderPoll = Poll.extend({ options: z.union([z.array(z.string()), z.array(Option)]) })
const olderPoll = (poll: Poll, { api_key }: { api_key?: string | undefined }): z.infer<typeof OlderPoll> =>
  api_key === undefined ? poll : { ...poll, options: poll.options_detail }

const Options = z.array(line(1, 200)).min(2, 'A poll has at least 2 options').max(10, 'A poll has at most 10 options')
const fields = {
  question: line(1, 500, 'question is required'),
  options: Options,
  allowsMultiple: z.boolean().default(false),
  endsAt: Moment.nullish(),
  ends_at: Moment.nullish(),
  isAnonymous: z.boolean().default(false),
}
/** A poll as it is asked, its end under one name. */
export type Asked = Omit<z.output<z.ZodObject<typeof fields>>, 'ends_at'>
const changes = {
  question: line(1, 500).optional(),
  options: maybe(Options),
  allowsMultiple: maybe(z.boolean()),
  endsAt: Moment.nullish(),
  ends_at: Moment.nullish(),
  isAnonymous: maybe(z.boolean()),
  isClosed: z.boolean().optional(),
}

const voteFields = {
  optionIndex: count(0, 9).optional(),
  option_id: z.union([count(0, 9), z.string().max(200)]).optional(),
  /** What the voter has read. A poll that asks something else by now refuses the vote. */
  as_read: maybe(z.object({ question: text(500), option: text(200), is_anonymous: maybe(z.boolean()) })),
  client_action_id: ClientId.optional(),
}

/** What tells clients of the older SDK from others. */
const api_key = z.string().max(1_000).optional()
type Keyed = { api_key?: string | undefined }
const headers = { 'x-api-key': 'api_key' } as const

const written = [...seen, 'ROOM_ARCHIVED'] as const
const touched = [...written, 'NOT_FOUND'] as const
const judged = [
  'MUTED',
  'READ_ONLY',
  'CONTENT_NOT_ALLOWED',
  'BLOCKED_WORD',
  'TEXT_TOO_COMPLEX',
  'MESSAGE_REJECTED',
  'LINKS_NOT_ALLOWED',
  'MESSAGE_TOO_LONG',
] as const

export const polls = {
  list: operation({
    summary: 'The polls of a room, newest first.',
    http: 'GET /api/rooms/{room}/polls',
    aliases: roomPaths.map(({ path, ref, fields: where }) => ({
      http: `GET ${path}/polls` as const,
      input: z.object({ ...pathOf(where), api_key }).transform(({ id, api_key }) => ({ room: ref(id ?? ''), api_key })),
      answer: {
        schema: z.object({ polls: z.array(OlderPoll), canCreatePoll: z.boolean() }),
        of: ({ polls, canCreatePoll }: { polls: Poll[]; canCreatePoll: boolean }, input: Keyed) => ({
          polls: polls.map((poll) => olderPoll(poll, input)),
          canCreatePoll,
        }),
      },
    })),
    headers,
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ room: RoomRef, api_key }),
    output: z.object({ polls: z.array(Poll), canCreatePoll: z.boolean() }),
    errors: seen,
  }),
  voters: operation({
    summary:
      'Who voted in a poll, and for what: at most 100 people; its counts say how many they are. Of an anonymous poll nobody is named.',
    http: 'GET /api/rooms/{room}/polls/:pollId/voters',
    socket: '/rooms poll:voters',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ room: RoomRef, pollId: Id }),
    output: z.object({
      voters: z.array(
        z.object({ user_address: z.string(), user_name: z.string(), options: z.array(z.number().int()) }),
      ),
    }),
    errors: [...seen, 'NOT_FOUND'],
  }),
  create: operation({
    summary: 'Ask the room. The poll is a message of type poll, judged like any other.',
    http: 'POST /api/rooms/{room}/polls',
    socket: '/rooms poll:create',
    aliases: roomPaths.map(({ path, ref, fields: where }) => ({
      http: `POST ${path}/polls` as const,
      input: z
        .object({ ...pathOf(where), ...fields, client_msg_id: ClientId.optional(), api_key })
        .transform(({ id, userAddress, ...rest }) => ({ room: ref(id ?? ''), ...rest })),
      answer: {
        schema: z.object({ poll: OlderPoll }).and(OlderPoll),
        of: ({ poll: made }: { poll: Poll }, input: Keyed) => {
          const poll = olderPoll(made, input)
          return { ...poll, poll }
        },
      },
    })),
    headers,
    access: 'user',
    limit: 'messaging',
    cost: 'judged',
    idempotency: { key: 'client_msg_id', kept: 'log' },
    whileSuspended: 'judged',
    input: z.object({ room: RoomRef, ...fields, client_msg_id: ClientId.optional(), api_key }),
    output: z.object({ poll: Poll, message: Message }),
    errors: [...written, ...judged, 'SLOW_MODE'],
  }),
  update: operation({
    summary:
      'Change or close a poll. Its author, and whoever may pin. What it asks anew is judged like a message. While somebody has voted, `options`, `allowsMultiple` and `isAnonymous` stay as they are.',
    http: 'PATCH /api/rooms/{room}/polls/:pollId',
    aliases: roomPaths.map(({ path, ref, fields: where }) => ({
      http: `PATCH ${path}/polls/:pollId` as const,
      input: z
        .object({ ...pathOf(where), pollId: Id, ...changes, api_key })
        .transform(({ id, userAddress, ...rest }) => ({ room: ref(id ?? ''), ...rest })),
      answer: {
        schema: z.object({ poll: OlderPoll }),
        of: ({ poll }: { poll: Poll }, input: Keyed) => ({ poll: olderPoll(poll, input) }),
      },
    })),
    headers,
    access: 'user',
    limit: 'general',
    cost: 'judged',
    input: z.object({ room: RoomRef, pollId: Id, ...changes, api_key }),
    output: z.object({ poll: Poll }),
    errors: [...touched, ...judged],
  }),
  remove: operation({
    summary: 'Delete a poll with its message.',
    http: 'DELETE /api/rooms/{room}/polls/:pollId',
    aliases: roomPaths.map(({ path, ref, fields: where }) => ({
      http: `DELETE ${path}/polls/:pollId` as const,
      input: z
        .object({ ...pathOf(where), pollId: Id })
        .transform(({ id, pollId }) => ({ room: ref(id ?? ''), pollId })),
    })),
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ room: RoomRef, pollId: Id }),
    output: Done,
    errors: touched,
  }),
  vote: operation({
    summary:
      'Vote for an option, or take the vote back. With `as_read`, what the voter has read, a poll that asks something else by now is 409 `CONFLICT`.',
    http: 'POST /api/rooms/{room}/polls/:pollId/vote',
    socket: '/rooms poll:vote',
    aliases: roomPaths.map(({ path, ref, fields: where }) => ({
      http: `POST ${path}/polls/:pollId/vote` as const,
      input: z
        .object({
          ...pathOf(where),
          pollId: Id,
          ...voteFields,
        })
        .transform(({ id, userAddress, ...rest }) => ({ room: ref(id ?? ''), ...rest })),
      answer: {
        schema: z.object({ success: z.literal(true), action: z.enum(['added', 'removed']) }),
        of: ({ action }: { action: string }) => ({ success: true, action }),
      },
    })),
    access: 'user',
    limit: 'messaging',
    cost: 'cheap',
    idempotency: { key: 'client_action_id', kept: 'log' },
    whileSuspended: 'judged',
    input: z.object({
      room: RoomRef,
      pollId: Id,
      ...voteFields,
    }),
    output: z.object({ action: z.enum(['added', 'removed']), poll: Poll }),
    errors: [...touched, 'MUTED'],
  }),
}
