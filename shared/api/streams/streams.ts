import { z } from 'zod'
import { Rules } from '#shared/api/moderation/verdict'
import { cursor } from '#shared/api/rooms/message'
import { RoomEvent } from '#shared/api/rooms/room-events'
import { seen } from '#shared/api/rooms/room-paths'
import { Capabilities } from '#shared/api/rooms/rooms'
import { operation } from '#shared/kit/contract'
import { cut } from '#shared/kit/cut'
import {
  Address,
  afterCursor,
  CallerAddress,
  count,
  Done,
  Id,
  Moment,
  maybe,
  nameLine,
  nextCursor,
  pageSize,
  RoomRef,
  Time,
  text,
} from '#shared/kit/primitives'
import { roomKinds } from '#shared/kit/room-kinds'
import {
  PublicStream,
  Stream,
  StreamAsset,
  StreamChatMessage,
  StreamCounts,
  StreamState,
  streamStatuses,
} from './stream-records.ts'

const Title = nameLine(1, 100)
const Description = text(500)
const stream = { id: Id }
const own = { ...stream, userAddress: CallerAddress }
const notFound = ['STREAM_NOT_FOUND'] as const
const owned = ['STREAM_NOT_FOUND', 'ACCESS_DENIED'] as const
const longest = roomKinds.stream.longestMessage
/** A query says `true`, JSON may say it without quotes. */
const Flag = z.union([z.boolean(), z.enum(['true', 'false']).transform((value) => value === 'true')])
/** The chat in `stream:watch`; null if the caller may not read it, or did not want it. */
const chatWatched = {
  /** Events after `from_seq`, at most 200: `complete` says whether up to the head. `reset`: the seq that was asked after is not in this log. */
  chat: z
    .object({
      epoch: z.string(),
      head_seq: z.number().int(),
      from_seq: z.number().int(),
      events: z.array(RoomEvent),
      complete: z.boolean(),
      reset: z.boolean().optional(),
    })
    .nullable(),
  rules: Rules.nullable(),
  /** What the caller may send now. */
  capabilities: Capabilities.nullable(),
  next_send_at: Time.nullable(),
}
const Leaving = z.object({ ...stream, action: z.enum(['join', 'leave']).default('join') })
const open = { access: 'public', limit: 'general', cost: 'cheap', errorBody: 'text' } as const

/** Livestreams: going live, who watches, and what is kept (document 2). Messages of a stream are those of its room of type `stream`. */
export const streams = {
  create: operation({
    summary: 'A stream to publish to. Who has an open one is given that; one that is stale is ended.',
    http: 'POST /api/streams',
    socket: '/streams stream:create',
    access: 'user',
    limit: 'strict',
    cost: 'judged',
    errorBody: 'text',
    repeat: 'harmless',
    input: z.object({
      userAddress: CallerAddress,
      title: maybe(Title),
      description: Description.nullish(),
      /** For accounts with beta access. */
      record: Flag.default(false),
    }),
    output: z.object({ stream: Stream, existing: z.literal(true).optional() }),
    errors: ['LIVEPEER_ERROR', 'BETA_ACCESS_REQUIRED', 'BLOCKED_WORD', 'TEXT_TOO_COMPLEX', 'MESSAGE_REJECTED'],
    audit: true,
  }),
  list: operation({
    summary:
      'Streams, newest first: of one account, those that are shown as live (`is_live`), those that are not, or those of one `status`. A page with few streams may have a next one.',
    http: 'GET /api/streams',
    access: 'user',
    limit: 'strict',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({
      userAddress: Address.optional(),
      live: Flag.optional(),
      status: z.enum(streamStatuses, { error: `status: one of ${streamStatuses.join(', ')}` }).optional(),
      limit: pageSize(100, 20),
      ...afterCursor,
    }),
    output: z.object({ streams: z.array(Stream), ...nextCursor }),
  }),
  get: operation({
    summary: 'One stream; with the key for its owner.',
    http: 'GET /api/streams/:id',
    socket: '/streams stream:get',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object(own),
    output: z.object({ stream: Stream }),
    errors: notFound,
  }),
  change: operation({
    summary: 'Say that a stream is live or has ended, or call it otherwise.',
    http: 'PATCH /api/streams/:id',
    socket: '/streams stream:change',
    access: 'user',
    limit: 'general',
    cost: 'judged',
    errorBody: 'text',
    input: z
      .object({
        ...own,
        action: z.enum(['go_live', 'end']).optional(),
        title: maybe(Title),
        description: Description.nullish(),
      })
      .refine(({ action, title, description }) => [action, title, description].some((value) => value !== undefined), {
        error: 'Nothing to change',
      }),
    output: z.object({ stream: Stream }),
    errors: [
      ...owned,
      'STREAM_ENDED',
      'ROOM_ARCHIVED',
      'MUTED',
      'BLOCKED_WORD',
      'TEXT_TOO_COMPLEX',
      'MESSAGE_REJECTED',
    ],
    audit: true,
  }),
  end: operation({
    summary:
      'End a stream. One that has ended stays as it is, so that a page may say it as it is left. Who moderates everywhere may end any.',
    http: 'POST /api/streams/:id/end',
    socket: '/streams stream:end',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    repeat: 'harmless',
    whileSuspended: 'withdraws',
    input: z.object(own),
    output: Done,
    errors: owned,
    audit: true,
  }),
  remove: operation({
    summary: 'Delete a stream with its recordings. Who moderates everywhere may delete any.',
    http: 'DELETE /api/streams/:id',
    socket: '/streams stream:remove',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    whileSuspended: 'withdraws',
    input: z.object(own),
    output: Done,
    errors: owned,
    audit: true,
  }),
  assets: operation({
    summary: 'The recordings of a stream, oldest first; `refresh` asks the provider first.',
    http: 'GET /api/streams/:id/assets',
    socket: '/streams stream:assets',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ ...own, refresh: Flag.default(false) }),
    output: z.object({ assets: z.array(StreamAsset) }),
    errors: notFound,
  }),
  refreshAssets: operation({
    summary: 'Ask the provider for the recordings of a stream.',
    http: 'POST /api/streams/:id/assets',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    repeat: 'harmless',
    whileSuspended: 'reads',
    input: z.object(own),
    output: z.object({ assets: z.array(StreamAsset) }),
    errors: notFound,
  }),
  chat: operation({
    summary: 'Messages of a stream, oldest first: those since a time, or the newest. Deleted ones are not listed.',
    http: 'GET /api/streams/:id/chat',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ ...own, ...cursor, since: Moment.optional(), limit: pageSize(100, 50) }),
    output: z.object({ messages: z.array(StreamChatMessage), has_more: z.boolean() }),
    errors: [...notFound, 'BANNED', 'NOT_A_MEMBER'],
  }),
  say: operation({
    summary:
      'Write in the chat of a stream. Longer texts are cut to 500 characters, which other doors refuse; a `reaction` is one emoji.',
    http: 'POST /api/streams/:id/chat',
    access: 'user',
    limit: 'messaging',
    cost: 'judged',
    errorBody: 'text',
    idempotency: { key: 'client_msg_id', kept: 'log' },
    whileSuspended: 'judged',
    input: z.object({
      ...own,
      message: z
        .string()
        .max(10_000)
        .overwrite((given) => cut(given.trim(), longest))
        .pipe(text(longest).min(1, { error: 'Message is required' })),
      type: z.enum(['message', 'reaction']).default('message'),
      client_msg_id: z
        .string()
        .regex(/^[A-Za-z0-9_.:-]{1,128}$/, { error: 'Invalid client id' })
        .optional(),
    }),
    output: z.object({ message: StreamChatMessage }),
    errors: [
      ...notFound,
      'BANNED',
      'MUTED',
      'READ_ONLY',
      'ROOM_ARCHIVED',
      'CONTENT_NOT_ALLOWED',
      'BLOCKED_WORD',
      'TEXT_TOO_COMPLEX',
      'MESSAGE_REJECTED',
      'LINKS_NOT_ALLOWED',
      'MESSAGE_TOO_LONG',
      'SLOW_MODE',
    ],
  }),
  publicStream: operation({
    ...open,
    anyOrigin: true,
    summary: 'A stream as everybody sees it.',
    http: 'GET /api/public/streams/:id',
    socket: '/streams stream:public',
    input: z.object(stream),
    output: z.object({ stream: PublicStream }),
    errors: notFound,
  }),
  view: operation({
    ...open,
    summary: 'Count the caller as a viewer for five minutes, or with `action=leave` no more.',
    http: 'POST /api/public/streams/:id',
    aliases: [{ http: 'POST /api/streams/:id/viewers' }],
    repeat: 'harmless',
    whileSuspended: 'reads',
    input: Leaving,
    output: z.object({ success: z.literal(true), viewer_count: z.number().int() }),
    errors: notFound,
  }),
  leave: operation({
    ...open,
    summary: 'Count the caller as a viewer no more.',
    http: 'DELETE /api/public/streams/:id',
    aliases: [{ http: 'DELETE /api/streams/:id/viewers' }],
    whileSuspended: 'reads',
    input: z.object(stream),
    output: z.object({ success: z.literal(true), viewer_count: z.number().int() }),
    errors: notFound,
  }),
  recordings: operation({
    ...open,
    anyOrigin: true,
    summary: 'The recordings of a stream that can be played, oldest first, for everybody.',
    http: 'GET /api/public/streams/:id/recordings',
    input: z.object(stream),
    output: z.object({ assets: z.array(StreamAsset) }),
    errors: notFound,
  }),
  watch: operation({
    summary:
      'Watch a stream over this connection: counted while it is open, and told of its state, counts and recordings, and of its chat as by `stream:listen`. `viewer_key` is the one an earlier call gave, for those who are not signed in; `chat_after_seq` the last of the chat that is known.',
    socket: '/streams stream:watch',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'reads',
    input: z.object({
      stream_id: Id,
      viewer_key: z.string().max(200).optional(),
      chat_after_seq: count(0, Number.MAX_SAFE_INTEGER).optional(),
      /** False: nothing of its chat is wanted. */
      chat: z.boolean().default(true),
    }),
    output: z.object({
      stream: PublicStream,
      state: StreamState,
      counts: StreamCounts,
      /** The key by which guests are counted once, to be sent again; null with a session. */
      viewer_key: z.string().nullable(),
      assets: z.array(StreamAsset),
      /** Of its messages. */
      room: RoomRef,
      ...chatWatched,
    }),
    errors: notFound,
  }),
  unwatch: operation({
    summary: 'Watch a stream no more over this connection.',
    socket: '/streams stream:unwatch',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'reads',
    input: z.object({ stream_id: Id }),
    output: z.object({ counts: StreamCounts }),
    errors: notFound,
  }),
  listen: operation({
    summary:
      'Be told over this connection what happens in the chat of a stream, as those outside its room are: `room:event` of a seq above `head_seq`, until `stream:unlisten`, `stream:unwatch` or `stream:chat_closed`.',
    socket: '/streams stream:listen',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'reads',
    input: z.object({ stream_id: Id }),
    output: z.object({ room: RoomRef, epoch: z.string(), head_seq: z.number().int() }),
    errors: ['STREAM_NOT_FOUND', ...seen],
  }),
  unlisten: operation({
    summary: 'Be told no more over this connection what happens in the chat of a stream.',
    socket: '/streams stream:unlisten',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'reads',
    input: z.object({ stream_id: Id }),
    output: z.object({}),
  }),
  publishState: operation({
    summary:
      'Say what your own program does with the picture: a hint, after which the provider is asked. `starting` shows the stream as live, for 60 seconds without proof.',
    socket: '/streams stream:publish_state',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      stream_id: Id,
      state: z.enum(['starting', 'live', 'stopping']),
    }),
    output: z.object({ state: StreamState }),
    errors: [...owned, 'STREAM_ENDED'],
  }),
  directory: operation({
    summary: 'Who is live, by viewers; the connection is told of changes from then on.',
    http: 'GET /api/public/streams',
    socket: '/streams stream:list',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    /** `live` changes nothing: no others are listed. */
    input: z.object({
      live: z.union([z.literal(true), z.literal('true')]).optional(),
      limit: pageSize(100, 50),
      ...afterCursor,
    }),
    output: z.object({ streams: z.array(PublicStream), ...nextCursor }),
  }),
}
