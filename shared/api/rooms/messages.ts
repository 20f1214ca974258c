import { z } from 'zod'
import { Verdict } from '#shared/api/moderation/verdict'
import { operation } from '#shared/kit/contract'
import { CallerAddress, ClientId, count, Done, Id, line, Moment, pageSize, RoomRef, text } from '#shared/kit/primitives'
import { directMessages } from './direct-messages.ts'
import { leanSent } from './lean.ts'
import { listening, presence, readReceipts } from './listening.ts'
import { historyLocationAliases, removeLocationAliases, sendLocationAliases } from './location-rooms.ts'
import {
  Blobs,
  Content,
  cursor,
  draft,
  LeanSent,
  Mentions,
  Message,
  NoAttachments,
  Reaction,
  Sign,
  sent,
} from './message.ts'
import {
  editAliases,
  historyAliases,
  pinAliases,
  pinsAliases,
  reactAliases,
  reactionsAliases,
  removeAliases,
  sendAliases,
  sendSharedKeyAliases,
  sharedKeyMessages,
} from './messages-paths.ts'
import { seen } from './room-paths.ts'
import { historyTokenAliases, removeTokenAliases, sendTokenAliases } from './token-rooms-paths.ts'

const room = RoomRef
const Draft = z.object({ room, ...draft, senderAddress: CallerAddress })

const judged = [
  'BANNED',
  'BLOCKED',
  'NOT_A_MEMBER',
  'ROOM_NOT_FOUND',
  'ROOM_ARCHIVED',
  'MUTED',
  'READ_ONLY',
  'CONTENT_NOT_ALLOWED',
  'BLOCKED_WORD',
  'TEXT_TOO_COMPLEX',
  'MESSAGE_REJECTED',
  'LINKS_NOT_ALLOWED',
  'MESSAGE_TOO_LONG',
] as const
const touched = ['BANNED', 'BLOCKED', 'NOT_A_MEMBER', 'ROOM_NOT_FOUND', 'ROOM_ARCHIVED', 'MESSAGE_NOT_FOUND'] as const
/** Words beside a message, such as a reaction, are judged as its text is. */
const remarked = ['BLOCKED_WORD', 'TEXT_TOO_COMPLEX', 'MESSAGE_REJECTED', 'LINKS_NOT_ALLOWED'] as const

export const messages = {
  ...listening,
  history: operation({
    summary:
      'A page of messages, oldest first: before a seq, after one, around one, or the newest. Bounds may be given together, except around one; a page is read on by its `seq`. Every 50 messages cost a call.',
    http: 'GET /api/rooms/{room}/messages',
    socket: '/rooms room:history',
    aliases: [...historyAliases, ...historyTokenAliases, ...historyLocationAliases],
    access: 'public',
    limit: 'general',
    cost: { messages: 50 },
    input: z.object({
      room,
      ...cursor,
      /** Alone: together with another bound it is refused. */
      around_seq: count(1, Number.MAX_SAFE_INTEGER).optional(),
      /** Messages earlier than this. Many are sent in one millisecond: what a page left out is before the `seq` of its first message. */
      before: Moment.optional(),
      /** Messages of this time and later. What a page left out is after the `seq` of its last message. */
      after: Moment.optional(),
      limit: pageSize(100, 50),
    }),
    output: z.object({
      messages: z.array(Message),
      reactions: z.array(Reaction),
      /** What the caller has put on messages of the page, by their ids. */
      reacted: z.record(z.string(), z.array(z.string())),
      /** Whether there are more: after a page with a lower bound, otherwise before it; around a seq on either side. */
      has_more: z.boolean(),
      /** Whether the room has messages before the page. */
      has_older: z.boolean(),
      /** Whether the room has messages after the page. */
      has_newer: z.boolean(),
    }),
    errors: seen,
  }),
  search: operation({
    summary:
      'Messages of a room with all of these words or words that begin so, newest first; it may end early. Every 256 messages that are read cost as much as a call, and it ends where these are spent.',
    http: 'GET /api/rooms/{room}/search',
    socket: '/rooms message:search',
    access: 'user',
    limit: 'search',
    cost: { messages: 256 },
    input: z.object({
      room,
      query: line(1, 200),
      limit: pageSize(50, 20),
      before_seq: count(1, Number.MAX_SAFE_INTEGER).optional(),
    }),
    output: z.object({
      messages: z.array(Message),
      has_more: z.boolean(),
      /** The `before_seq` to go on from, where there is more to look through. */
      next_before_seq: z.number().int().nullable(),
      /** How many messages were looked through. */
      searched: z.number().int(),
    }),
    errors: seen,
  }),
  send: operation({
    summary: 'Send a message. The verdict says which step decided, and why.',
    http: 'POST /api/rooms/{room}/messages',
    socket: '/rooms message:send',
    alsoOn: ['/streams'],
    aliases: [...sendAliases, ...sendTokenAliases, ...sendLocationAliases, ...sendSharedKeyAliases],
    access: 'user',
    limit: 'messaging',
    cost: 'judged',
    idempotency: { key: 'client_msg_id', kept: 'log' },
    whileSuspended: 'judged',
    input: Draft.extend({
      client_msg_id: ClientId.optional(),
      /** Refused with 400 where messages of the room are not sealed so. */
      sealed_by: z.literal('shared-key').optional(),
    }),
    output: z.object(sent),
    lean: { output: LeanSent, of: leanSent },
    errors: [...judged, 'SLOW_MODE', 'USER_NOT_FOUND'],
  }),
  check: operation({
    summary: 'The verdict a send would get now. Nothing is stored and no slow mode starts.',
    http: 'POST /api/rooms/{room}/messages/check',
    socket: '/rooms message:check',
    access: 'user',
    limit: 'general',
    cost: 'judged',
    repeat: 'harmless',
    whileSuspended: 'reads',
    input: Draft,
    output: z.object({ verdict: Verdict, retryAfter: z.number().int().optional() }),
    errors: ['ROOM_NOT_FOUND', 'USER_NOT_FOUND'],
  }),
  edit: operation({
    summary: 'Change the text of a message of your own, within 15 minutes. It is judged again.',
    http: 'PATCH /api/rooms/{room}/messages/:id',
    socket: '/rooms message:edit',
    aliases: editAliases,
    access: 'user',
    limit: 'messaging',
    cost: 'judged',
    idempotency: { key: 'client_action_id', kept: 'log' },
    whileSuspended: 'judged',
    input: z.object({
      room,
      id: Id,
      version: count(1, 1_000_000).optional(),
      text: Content,
      /** The mentions from now on. If omitted, earlier ones stay while the text has their words. */
      mentions: Mentions,
      blobs: Blobs,
      attachments: NoAttachments,
      client_action_id: ClientId.optional(),
    }),
    output: z.object({ message: Message, verdict: Verdict }),
    errors: [...judged, 'MESSAGE_NOT_FOUND', 'EDIT_WINDOW_CLOSED'],
  }),
  remove: operation({
    summary: 'Delete a message: your own, or with can_delete any. A tombstone keeps its place.',
    http: 'DELETE /api/rooms/{room}/messages/:id',
    socket: '/rooms message:delete',
    aliases: [...removeAliases, ...removeTokenAliases, ...removeLocationAliases],
    access: 'user',
    limit: 'messaging',
    cost: 'judged',
    idempotency: { key: 'client_action_id', kept: 'log' },
    whileSuspended: 'judged',
    input: z.object({ room, id: Id, reason: text(500).optional(), client_action_id: ClientId.optional() }),
    output: z.object({ seq: z.number().int() }),
    errors: [...touched, ...remarked],
  }),
  removeById: operation({
    summary: 'Delete a message that is named without its room, as `remove` does; one that is deleted stays so.',
    http: 'POST /api/messages/delete',
    access: 'user',
    limit: 'messaging',
    cost: 'cheap',
    repeat: 'harmless',
    errorBody: 'text',
    input: z.object({ messageId: Id, userAddress: CallerAddress }),
    output: Done,
    errors: ['BANNED', 'BLOCKED', 'NOT_A_MEMBER', 'ROOM_ARCHIVED', 'MESSAGE_NOT_FOUND'],
  }),
  react: operation({
    summary: 'Put a reaction on a message, or take it off. Counts are absolute.',
    http: 'POST /api/rooms/{room}/messages/:id/reactions',
    socket: '/rooms message:react',
    aliases: reactAliases,
    access: 'user',
    limit: 'messaging',
    cost: 'judged',
    idempotency: { key: 'client_action_id', kept: 'log' },
    whileSuspended: 'judged',
    input: z.object({
      room,
      id: Id,
      emoji: Sign,
      on: z.boolean().optional(),
      client_action_id: ClientId.optional(),
    }),
    output: z.object({ counts: z.record(z.string(), z.number().int()), on: z.boolean(), seq: z.number().int() }),
    errors: [...touched, ...remarked, 'MUTED'],
  }),
  reactions: operation({
    summary:
      'Who reacted to these messages, oldest first: at most 100 people a message, whose own counts say how many they are. Of deleted messages nobody.',
    http: 'GET /api/rooms/{room}/reactions',
    socket: '/rooms message:reactions',
    aliases: reactionsAliases,
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ room, messageIds: z.string().max(4_000) }),
    output: z.object({ reactions: z.array(Reaction.extend({ user_name: z.string() })) }),
    errors: seen,
  }),
  pin: operation({
    summary: 'Pin a message, or unpin it. Needs can_pin.',
    http: 'POST /api/rooms/{room}/pins',
    socket: '/rooms message:pin',
    aliases: pinAliases,
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    idempotency: { key: 'client_action_id', kept: 'log' },
    whileSuspended: 'judged',
    input: z.object({ room, id: Id, pinned: z.boolean(), client_action_id: ClientId.optional() }),
    output: z.object({ seq: z.number().int(), message: Message }),
    errors: touched,
  }),
  pins: operation({
    summary: 'The pinned messages, newest pin first.',
    http: 'GET /api/rooms/{room}/pins',
    aliases: pinsAliases,
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ room }),
    output: z.object({ pinnedMessages: z.array(Message) }),
    errors: seen,
  }),
  ...directMessages,
  ...sharedKeyMessages,
  ...presence,
  ...readReceipts,
}
