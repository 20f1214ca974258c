import { z } from 'zod'
import { Rules } from '#shared/api/moderation/verdict'
import { operation, stream } from '#shared/kit/contract'
import { CallerAddress, canonicalAddress, count, Done, Id, pageSize, RoomRef, Time } from '#shared/kit/primitives'
import { alpha } from '#shared/kit/room-key'
import { Message } from './message.ts'
import { RoomKey } from './room.ts'
import { RoomEvent } from './room-events.ts'
import { RoomId, seen } from './room-paths.ts'
import { Capabilities } from './rooms.ts'

const room = RoomRef
/** Where nothing more is said, all of alpha is read. */
const readAliases = [
  {
    http: 'POST /api/alpha/read',
    input: z
      .object({ userAddress: CallerAddress, seq: count(0, Number.MAX_SAFE_INTEGER).default(Number.MAX_SAFE_INTEGER) })
      .transform(({ seq }) => ({ room: alpha, seq })),
  },
] as const

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
    /** The first message after what the caller has read, or was there to read; null where there is nothing unread. */
    first_unread: z.object({ seq: z.number().int(), created_at: Time }).nullable(),
  }),
  pins: z.array(Message),
  members_count: z.number().int(),
  online: z.number().int(),
})
export type Snapshot = z.infer<typeof Snapshot>

/** Of `messages`: to hear what a room tells. */
export const listening = {
  join: operation({
    summary: 'Listen to a room: its events from now on, the state it is in, and what was missed since `after_seq`.',
    socket: '/rooms room:join',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'reads',
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
    cost: 'cheap',
    whileSuspended: 'reads',
    input: z.object({ room }),
    output: z.object({}),
    errors: ['ROOM_NOT_FOUND'],
  }),
  sync: operation({
    summary:
      'The events after a seq, in order, without a gap. With `wait` the answer comes when there is something new. `follow=true` is deprecated, and answers the items of `…/events/stream` in lines of JSON (`application/x-ndjson`).',
    http: 'GET /api/rooms/{room}/events',
    socket: '/rooms room:sync',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
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
  follow: stream({
    summary:
      'The events after a seq, in order, without a gap, and from then on every new one as it comes. Ends with the session, and with the right to read.',
    http: 'GET /api/rooms/{room}/events/stream',
    aliases: [{ http: 'GET /api/rooms/{room}/events?follow=true', errorBody: 'coded' }],
    serverSent: true,
    socket: '/rooms room:follow',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      room,
      epoch: z.string().max(64).optional(),
      after_seq: count(0, Number.MAX_SAFE_INTEGER).optional(),
      after: count(0, Number.MAX_SAFE_INTEGER).optional(),
      /** The last event that was received: what a browser tells when it connects again. It counts rather than `after_seq`. */
      last_event_id: count(0, Number.MAX_SAFE_INTEGER).optional(),
    }),
    headers: { 'last-event-id': 'last_event_id' },
    output: RoomEvent,
    errors: [...seen, 'SUSPENDED'],
  }),
}

/** Of `messages`: to tell that one reads, writes or is there. */
export const presence = {
  read: operation({
    summary: 'Mark a room as read up to a seq. It never goes back.',
    http: 'POST /api/rooms/{room}/read',
    aliases: readAliases,
    socket: '/rooms read:mark',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    whileSuspended: 'protects',
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
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ room, on: z.boolean() }),
    output: z.object({}),
    errors: [...seen, 'MUTED', 'BLOCKED'],
  }),
  presence: operation({
    summary: 'Say whether this connection is active. An account is as present as its best connection.',
    socket: '/rooms presence:set',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'protects',
    input: z.object({ state: z.enum(['active', 'idle']) }),
    output: z.object({}),
  }),
  presenceOf: operation({
    summary: 'Which of these people are online.',
    http: 'POST /api/presence/status',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    errorBody: 'text',
    whileSuspended: 'reads',
    input: z.object({ addresses: z.array(z.string().max(160).transform(canonicalAddress)).max(200) }),
    output: z.record(z.string(), z.boolean()),
  }),
}

/** Of `messages`: how far the members of a group have read. */
export const readReceipts = {
  receipts: operation({
    summary:
      'The last message that each member of a group has read, of the 200 members who came last. Who has read none is left out. For its members. Every 50 different messages cost as much as a call.',
    http: 'GET /api/groups/:id/read',
    access: 'user',
    limit: 'general',
    cost: { messages: 50 },
    errorBody: 'text',
    input: z.object({ id: RoomId, userAddress: CallerAddress }),
    output: z.object({
      receipts: z.array(z.object({ userAddress: z.string(), lastReadMessageId: z.string() })),
    }),
    errors: ['ROOM_NOT_FOUND', 'BANNED'],
  }),
  readMessage: operation({
    summary: 'Mark a group as read up to a message. It never goes back.',
    http: 'POST /api/groups/:id/read',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    whileSuspended: 'protects',
    errorBody: 'text',
    input: z.object({ id: RoomId, userAddress: CallerAddress, messageId: Id }),
    output: Done,
    errors: ['ROOM_NOT_FOUND', 'BANNED', 'MESSAGE_NOT_FOUND'],
  }),
}
