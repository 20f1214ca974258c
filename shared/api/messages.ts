import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { isFieldName } from '#shared/kit/field-name'
import {
  CallerAddress,
  ClientId,
  canonicalAddress,
  count,
  Done,
  Id,
  line,
  Moment,
  nameLine,
  pageSize,
  RoomRef,
  Time,
  text,
} from '#shared/kit/primitives'
import { Attachment, Mention, Message, Reaction } from './message.ts'
import { RoomEvent } from './room-events.ts'
import { pathOf, RoomId, roomPaths } from './room-paths.ts'
import { Capabilities, channelRef, RoomKey } from './rooms.ts'
import { MessageType, Rules, Verdict } from './verdict.ts'

const room = RoomRef
const Content = text(10_000)
/** What one reacts with. It names a count in the stored message, so that it may not be the name of something else. */
const Sign = nameLine(1, 32).refine((sign) => isFieldName(sign) && !(sign in Object.prototype), {
  error: 'Invalid emoji',
})
/** Field names of other spellings of a send, folded into the first. */
const spellings = {
  text: Content.optional(),
  content: Content.optional(),
  type: z.union([MessageType, z.literal('image')]).optional(),
  messageType: z.union([MessageType, z.literal('image')]).optional(),
  message_type: z.union([MessageType, z.literal('image')]).optional(),
  reply_to: Id.nullish(),
  replyToId: Id.nullish(),
  reply_to_id: Id.nullish(),
}
const draft = {
  ...spellings,
  attachments: z.array(Attachment).max(10).optional(),
  mentions: z.array(Mention).max(50).optional(),
}
const Draft = z.object({ room, ...draft, senderAddress: CallerAddress })

const judged = [
  'SUSPENDED',
  'BANNED',
  'BLOCKED',
  'NOT_A_MEMBER',
  'ROOM_NOT_FOUND',
  'ROOM_ARCHIVED',
  'MUTED',
  'READ_ONLY',
  'CONTENT_NOT_ALLOWED',
  'BLOCKED_WORD',
  'MESSAGE_REJECTED',
  'LINKS_NOT_ALLOWED',
  'MESSAGE_TOO_LONG',
] as const
const touched = [
  'SUSPENDED',
  'BANNED',
  'BLOCKED',
  'NOT_A_MEMBER',
  'ROOM_NOT_FOUND',
  'ROOM_ARCHIVED',
  'MESSAGE_NOT_FOUND',
] as const
/** Words beside a message, such as a reaction, are judged as its text is. */
const remarked = ['BLOCKED_WORD', 'MESSAGE_REJECTED', 'LINKS_NOT_ALLOWED'] as const
const seen = ['ROOM_NOT_FOUND', 'BANNED', 'NOT_A_MEMBER'] as const

const Sent = z.object({
  message: Message,
  verdict: Verdict,
  duplicate: z.boolean().optional(),
  next_send_at: Time.nullable(),
})
/** Clients of the documented paths read the message at top level as well. */
const asMessage = {
  schema: z.object({ message: Message, verdict: Verdict }).and(Message),
  of: (sent: { message: Message }) => ({ ...sent.message, ...sent }),
}
const succeeded = { schema: Done, of: () => ({ success: true }) }

const Snapshot = z.object({
  room: RoomKey,
  epoch: z.string(),
  head_seq: z.number().int(),
  from_seq: z.number().int(),
  events: z.array(RoomEvent),
  complete: z.boolean(),
  reset: z.boolean().optional(),
  rules: Rules,
  rules_version: z.number().int(),
  me: z.object({
    role: z.string().nullable(),
    permissions: z.record(z.string(), z.boolean()),
    capabilities: Capabilities,
    next_send_at: Time.nullable(),
    muted_until: Time.nullable(),
    is_muted: z.boolean(),
    read_seq: z.number().int(),
    unread: z.number().int(),
  }),
  pins: z.array(Message),
  members_count: z.number().int(),
  online: z.number().int(),
})
export type Snapshot = z.infer<typeof Snapshot>

export const messages = {
  join: operation({
    summary: 'Listen to a room: its events from now on, the state it is in, and what was missed since `after_seq`.',
    socket: '/rooms room:join',
    access: 'user',
    limit: 'general',
    input: z.object({
      room,
      after_seq: count(0, Number.MAX_SAFE_INTEGER).optional(),
      epoch: z.string().max(64).optional(),
      backlog: count(0, 100).optional(),
    }),
    output: Snapshot,
    errors: seen,
  }),
  leave: operation({
    summary: 'Stop listening to a room. Membership stays.',
    socket: '/rooms room:leave',
    access: 'user',
    limit: 'general',
    input: z.object({ room }),
    output: z.object({}),
    errors: ['ROOM_NOT_FOUND'],
  }),
  sync: operation({
    summary:
      'The events after a seq, in order, without a gap. With `wait` the answer comes when there is something new.',
    http: 'GET /api/rooms/{room}/events',
    socket: '/rooms room:sync',
    access: 'public',
    limit: 'general',
    input: z.object({
      room,
      epoch: z.string().max(64).optional(),
      after_seq: count(0, Number.MAX_SAFE_INTEGER).optional(),
      after: count(0, Number.MAX_SAFE_INTEGER).optional(),
      limit: pageSize(200),
      wait: count(0, 25).optional(),
      allow_reset: z.boolean().optional(),
    }),
    output: z.object({
      events: z.array(RoomEvent),
      next_after_seq: z.number().int(),
      head_seq: z.number().int(),
      complete: z.boolean(),
      epoch: z.string(),
      reset: z.boolean().optional(),
    }),
    errors: seen,
  }),
  history: operation({
    summary: 'A page of messages, oldest first: before a seq, after one, around one, or the newest.',
    http: 'GET /api/rooms/{room}/messages',
    socket: '/rooms room:history',
    aliases: roomPaths.map(({ path, ref, fields }) => ({
      http: `GET ${path}/messages` as const,
      input: z
        .object({
          ...pathOf(fields),
          limit: pageSize(100),
          before: Moment.optional(),
          after: Moment.optional(),
          since: Moment.optional(),
        })
        .transform(({ id, limit, before, after, since }) => ({
          room: ref(id ?? ''),
          limit,
          ...(before ? { before } : {}),
          ...((after ?? since) ? { after: after ?? since } : {}),
        })),
      answer: {
        schema: z.object({ messages: z.array(Message), reactions: z.array(Reaction) }),
        of: ({ messages, reactions }: { messages: Message[]; reactions: unknown[] }) => ({ messages, reactions }),
      },
    })),
    access: 'public',
    limit: 'general',
    input: z.object({
      room,
      before_seq: count(1, Number.MAX_SAFE_INTEGER).optional(),
      after_seq: count(0, Number.MAX_SAFE_INTEGER).optional(),
      around_seq: count(1, Number.MAX_SAFE_INTEGER).optional(),
      before: Moment.optional(),
      after: Moment.optional(),
      limit: pageSize(100, 50),
    }),
    output: z.object({ messages: z.array(Message), reactions: z.array(Reaction), has_more: z.boolean() }),
    errors: seen,
  }),
  search: operation({
    summary: 'Messages of a room with all of these words or words that begin so, newest first; it may end early.',
    http: 'GET /api/rooms/{room}/search',
    socket: '/rooms message:search',
    access: 'user',
    limit: 'search',
    input: z.object({
      room,
      query: line(2, 200),
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
    aliases: roomPaths.map(({ path, ref, fields }) => ({
      http: `POST ${path}/messages` as const,
      input: z
        .object({ ...pathOf(fields), ...draft, client_msg_id: ClientId.optional(), senderAddress: CallerAddress })
        .transform(({ id, userAddress, ...rest }) => ({ room: ref(id ?? ''), ...rest })),
      answer: asMessage,
    })),
    access: 'user',
    limit: 'messaging',
    idempotency: { key: 'client_msg_id', kept: 'log' },
    input: Draft.extend({ client_msg_id: ClientId.optional() }),
    output: Sent,
    errors: [...judged, 'SLOW_MODE'],
  }),
  check: operation({
    summary: 'The verdict a send would get now. Nothing is stored and no slow mode starts.',
    http: 'POST /api/rooms/{room}/messages/check',
    socket: '/rooms message:check',
    access: 'user',
    limit: 'general',
    input: Draft,
    output: z.object({ verdict: Verdict, retryAfter: z.number().int().optional() }),
    errors: ['ROOM_NOT_FOUND'],
  }),
  edit: operation({
    summary: 'Change the text of a message of your own, within 15 minutes. It is judged again.',
    http: 'PATCH /api/rooms/{room}/messages/:id',
    socket: '/rooms message:edit',
    aliases: roomPaths.map(({ path, ref }) => ({
      http: `PATCH ${path}/messages/:messageId` as const,
      input: z
        .object({
          id: RoomId.optional(),
          messageId: Id,
          content: Content,
          version: count(1, 1_000_000).optional(),
          client_action_id: ClientId.optional(),
          userAddress: CallerAddress,
        })
        .transform(({ id, messageId, content, userAddress, ...rest }) => ({
          room: ref(id ?? ''),
          id: messageId,
          text: content,
          ...rest,
        })),
      answer: asMessage,
    })),
    access: 'user',
    limit: 'messaging',
    idempotency: { key: 'client_action_id', kept: 'log' },
    input: z.object({
      room,
      id: Id,
      version: count(1, 1_000_000).optional(),
      text: Content,
      client_action_id: ClientId.optional(),
    }),
    output: z.object({ message: Message, verdict: Verdict }),
    errors: [...judged, 'MESSAGE_NOT_FOUND', 'EDIT_WINDOW_CLOSED'],
  }),
  remove: operation({
    summary: 'Delete a message: your own, or with can_delete any. A tombstone keeps its place.',
    http: 'DELETE /api/rooms/{room}/messages/:id',
    socket: '/rooms message:delete',
    aliases: roomPaths.map(({ path, ref }) => ({
      http: `DELETE ${path}/messages/:messageId` as const,
      input: z
        .object({
          id: RoomId.optional(),
          messageId: Id,
          reason: text(500).optional(),
          client_action_id: ClientId.optional(),
          userAddress: CallerAddress,
        })
        .transform(({ id, messageId, userAddress, ...rest }) => ({ room: ref(id ?? ''), id: messageId, ...rest })),
      answer: succeeded,
    })),
    access: 'user',
    limit: 'messaging',
    idempotency: { key: 'client_action_id', kept: 'log' },
    input: z.object({ room, id: Id, reason: text(500).optional(), client_action_id: ClientId.optional() }),
    output: z.object({ seq: z.number().int() }),
    errors: [...touched, ...remarked],
  }),
  react: operation({
    summary: 'Put a reaction on a message, or take it off. Counts are absolute.',
    http: 'POST /api/rooms/{room}/messages/:id/reactions',
    socket: '/rooms message:react',
    aliases: roomPaths.map(({ path, ref, fields }) => ({
      http: `PATCH ${path}/messages` as const,
      input: z
        .object({
          ...pathOf(fields),
          messageId: Id,
          emoji: Sign,
          client_action_id: ClientId.optional(),
        })
        .transform(({ id, messageId, userAddress, ...rest }) => ({ room: ref(id ?? ''), id: messageId, ...rest })),
      answer: {
        schema: z.object({ action: z.enum(['added', 'removed']) }),
        of: ({ on }: { on: boolean }) => ({ action: on ? 'added' : 'removed' }),
      },
    })),
    access: 'user',
    limit: 'messaging',
    idempotency: { key: 'client_action_id', kept: 'log' },
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
    summary: 'Who reacted to these messages, oldest first.',
    http: 'GET /api/rooms/{room}/reactions',
    aliases: [
      {
        http: 'GET /api/channels/:id/reactions',
        input: z
          .object({
            id: RoomId,
            messageIds: z.string().max(4_000).optional(),
            message_id: Id.optional(),
            userAddress: CallerAddress,
          })
          .transform(({ id, messageIds, message_id }) => ({
            room: channelRef(id),
            messageIds: messageIds ?? message_id ?? '',
          })),
      },
    ],
    access: 'public',
    limit: 'general',
    input: z.object({ room, messageIds: z.string().max(4_000) }),
    output: z.object({ reactions: z.array(Reaction) }),
    errors: seen,
  }),
  pin: operation({
    summary: 'Pin a message, or unpin it. Needs can_pin.',
    http: 'POST /api/rooms/{room}/pins',
    socket: '/rooms message:pin',
    aliases: [
      ...roomPaths.map(({ path, ref, fields }) => ({
        http: (path === '/api/groups/:id'
          ? `POST ${path}/pin`
          : `POST ${path}/messages/pin`) as `POST ${string}` as `POST /${string}`,
        input: z
          .object({
            ...pathOf(fields),
            messageId: Id,
            pin: z.boolean(),
            client_action_id: ClientId.optional(),
          })
          .transform(({ id, messageId, pin, userAddress, ...rest }) => ({
            room: ref(id ?? ''),
            id: messageId,
            pinned: pin,
            ...rest,
          })),
        answer: {
          schema: z.object({
            success: z.literal(true),
            messageId: z.string(),
            isPinned: z.boolean(),
            pinnedBy: z.string().nullable(),
          }),
          of: ({ message }: { message: Message }) => ({
            success: true,
            messageId: message.id,
            isPinned: message.is_pinned,
            pinnedBy: message.pinned_by,
          }),
        },
      })),
    ],
    access: 'user',
    limit: 'general',
    idempotency: { key: 'client_action_id', kept: 'log' },
    input: z.object({ room, id: Id, pinned: z.boolean(), client_action_id: ClientId.optional() }),
    output: z.object({ seq: z.number().int(), message: Message }),
    errors: touched,
  }),
  pins: operation({
    summary: 'The pinned messages, newest pin first.',
    http: 'GET /api/rooms/{room}/pins',
    aliases: roomPaths.map(({ path, ref, fields }) => ({
      http: (path === '/api/groups/:id'
        ? `GET ${path}/pin`
        : `GET ${path}/messages/pin`) as `GET ${string}` as `GET /${string}`,
      input: z.object(pathOf(fields)).transform(({ id }) => ({ room: ref(id ?? '') })),
    })),
    access: 'public',
    limit: 'general',
    input: z.object({ room }),
    output: z.object({ pinnedMessages: z.array(Message) }),
    errors: seen,
  }),
  read: operation({
    summary: 'Mark a room as read up to a seq. It never goes back.',
    http: 'POST /api/rooms/{room}/read',
    socket: '/rooms read:mark',
    access: 'user',
    limit: 'general',
    input: z.object({ room, seq: count(0, Number.MAX_SAFE_INTEGER) }),
    output: z.object({ read_seq: z.number().int(), unread: z.number().int(), mentions: z.number().int() }),
    errors: seen,
  }),
  typing: operation({
    summary: 'Say that you are typing, or not any more. Forgotten after 6 seconds.',
    http: 'POST /api/rooms/{room}/typing',
    socket: '/rooms typing:set',
    access: 'user',
    limit: 'general',
    input: z.object({ room, on: z.boolean() }),
    output: z.object({}),
    errors: [...seen, 'SUSPENDED', 'MUTED', 'BLOCKED'],
  }),
  presence: operation({
    summary: 'Say whether this connection is active. An account is as present as its best connection.',
    socket: '/rooms presence:set',
    access: 'user',
    limit: 'general',
    input: z.object({ state: z.enum(['active', 'idle']) }),
    output: z.object({}),
  }),
  presenceOf: operation({
    summary: 'Which of these people are online.',
    http: 'POST /api/presence/status',
    access: 'user',
    limit: 'general',
    errorBody: 'text',
    input: z.object({ addresses: z.array(z.string().max(160).transform(canonicalAddress)).max(200) }),
    output: z.record(z.string(), z.boolean()),
  }),
}
