import { z } from 'zod'
import { Message } from '#shared/api/rooms/message'
import { RoomKey } from '#shared/api/rooms/room'
import { seen } from '#shared/api/rooms/room-paths'
import { event, operation } from '#shared/kit/contract'
import { Address, CallerAddress, count, Done, Id, Moment, pageSize, RoomRef, Time, text } from '#shared/kit/primitives'
import { chatTypes } from '#shared/kit/room-kinds'
import { Act, Acted, Word } from './moderation-acts.ts'
import {
  actAliases,
  banAliases,
  ChannelId,
  ChatId,
  ChatType,
  isSingleChat,
  paged,
  queueAliases,
  simulateAliases,
  withChat,
} from './moderation-paths.ts'
import {
  Ban,
  BlockedWord,
  LogEntry,
  ModerationMute,
  Moderator,
  Permissions,
  QueueItem,
  RulesRecord,
} from './moderation-records.ts'
import { RulesPatch } from './verdict.ts'

export const moderation = {
  act: operation({
    summary: 'Act as a moderator. Answered when it holds on every node, or after a second with `pending_nodes`.',
    http: 'POST /api/moderation/act',
    socket: '/rooms mod:act',
    aliases: actAliases,
    access: 'user',
    limit: 'general',
    cost: 'judged',
    idempotency: { key: 'client_action_id', kept: 'answer' },
    audit: 'target',
    input: Act,
    output: Acted,
    errors: [...seen, 'ROOM_ARCHIVED', 'BLOCKED', 'MESSAGE_NOT_FOUND', 'NOT_FOUND'],
  }),
  removeWord: operation({
    summary: 'Take a blocked word out of use.',
    http: 'DELETE /api/blocked-words',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    audit: true,
    input: z.object({ id: Id }),
    output: Done,
    errors: ['NOT_FOUND', 'ROOM_NOT_FOUND', 'BANNED'],
  }),
  inspect: operation({
    summary:
      'Permissions and moderators; muted users, for moderators; one mute, also for the muted; the log of actions.',
    http: 'GET /api/moderation',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({
      action: z.enum(['permissions', 'moderators', 'muted', 'check-muted', 'mod-log'], { error: 'Invalid action' }),
      userAddress: Address.optional(),
      requestingUser: CallerAddress,
      /** What `channelId` names, where that is no channel. */
      chatType: ChatType.optional(),
      channelId: ChannelId,
      actor: Address.optional(),
      target: Address.optional(),
      actionType: z.string().max(40).optional(),
      since: Moment.optional(),
      until: Moment.optional(),
      limit: pageSize(100),
    }),
    output: z.union([
      z.object({ permissions: Permissions }),
      z.object({ moderators: z.array(Moderator) }),
      z.object({ mutedUsers: z.array(ModerationMute) }),
      z.object({ isMuted: z.boolean() }),
      z.object({ logs: z.array(LogEntry) }),
    ]),
    errors: ['ROOM_NOT_FOUND', 'BANNED', 'NOT_A_MEMBER'],
  }),
  verify: operation({
    summary:
      'Walk the hash chain of the moderation log of a room and name the first entry that does not fit. At most 5,000 entries a call: `next` continues as `after`; it is null at the end.',
    http: 'GET /api/moderation/verify',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ channelId: ChannelId, after: count(0, Number.MAX_SAFE_INTEGER).optional() }),
    output: z.object({
      ok: z.boolean(),
      entries: z.number().int(),
      head: z.string(),
      broken_at: Time.nullable(),
      next: z.number().int().nullable(),
    }),
    errors: ['ROOM_NOT_FOUND'],
  }),
  rules: operation({
    summary: 'The rules of a room; the defaults where none were set.',
    http: 'GET /api/chat-rules',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: withChat({}),
    output: z.object({ rules: RulesRecord }),
    errors: ['ROOM_NOT_FOUND', 'BANNED', 'NOT_A_MEMBER'],
  }),
  bans: operation({
    summary: 'Active bans of a room, for its moderators; or whether one person is banned, for that person as well.',
    http: 'GET /api/chat-rules/ban',
    aliases: banAliases,
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: withChat({
      action: z.literal('check', { error: 'Invalid action' }).optional(),
      userAddress: Address.optional(),
    }),
    output: z.union([z.object({ bans: z.array(Ban) }), z.object({ isBanned: z.boolean() })]),
    errors: ['ROOM_NOT_FOUND'],
  }),
  words: operation({
    summary: 'Active blocked words, for those who may edit that scope; an empty list for everybody else.',
    http: 'GET /api/blocked-words',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z
      .object({
        scope: z.enum(['global', 'room', 'all']).default('global'),
        chatType: z.enum(chatTypes).nullish(),
        chatId: ChatId,
      })
      .refine(({ scope, chatType }) => scope === 'global' || chatType, { error: 'chatType required' })
      .refine(({ scope, chatType, chatId }) => scope !== 'room' || isSingleChat(chatType) || chatId, {
        error: 'chatId required',
      }),
    output: z.object({ words: z.array(BlockedWord) }),
  }),
  simulate: operation({
    summary:
      'What a proposed word or rule would have done to the last messages of a room. Every 50 of them cost as much as a call.',
    http: 'POST /api/moderation/simulate',
    aliases: simulateAliases,
    access: 'user',
    limit: 'general',
    cost: { messages: 50 },
    repeat: 'harmless',
    whileSuspended: 'reads',
    input: z.object({
      room: RoomRef,
      word: Word.optional(),
      is_regex: z.boolean().optional(),
      as_written: z.boolean().optional(),
      rules: RulesPatch.optional(),
      last: count(1, 1_000).default(500),
    }),
    output: z.object({
      tested: z.number().int(),
      hits: z.number().int(),
      authors: z.number().int(),
      sample: z.array(Message),
      milliseconds: z.number(),
    }),
    errors: [...seen],
  }),
  queue: operation({
    summary:
      'What waits for a decision by you, newest first: about people of lower rank, and never about yourself. Admins see who reported.',
    aliases: queueAliases,
    socket: '/moderation mod:subscribe',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      scope: z.enum(['global', 'room']).default('global'),
      room: RoomRef.optional(),
      ...paged,
    }),
    output: z.object({
      queue: z.array(QueueItem),
      /** Where the next page of the queue begins; null after the last. A page may be short, or empty, before that. */
      next_cursor: z.string().nullable(),
      logs: z.array(LogEntry),
      log_head: z.number().int(),
      moderators_online: z.array(z.string()),
    }),
    errors: ['ROOM_NOT_FOUND'],
  }),
  claim: operation({
    summary: 'Tell the other moderators that you look at this.',
    http: 'POST /api/moderation/queue/claim',
    socket: '/moderation queue:claim',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ item: Id, on: z.boolean().default(true) }),
    output: z.object({ item: QueueItem }),
    errors: ['NOT_FOUND'],
  }),
  evidence: operation({
    summary: 'The media that were handed in with a report, for who may decide it, until it is decided.',
    http: 'GET /api/moderation/queue/evidence',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    audit: true,
    input: z.object({ item: Id }),
    output: z.object({
      type: z.string(),
      is_as_sent: z.boolean(),
      /** In base64. */
      data: z.string(),
    }),
    errors: ['NOT_FOUND', 'UPSTREAM_ERROR', 'TIMEOUT'],
  }),
  decide: operation({
    summary: 'Close an item of the queue.',
    http: 'POST /api/moderation/queue/decide',
    socket: '/moderation queue:decide',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    audit: true,
    input: z.object({
      item: Id,
      decision: z.enum(['action_taken', 'dismissed', 'reviewed']),
      note: text(1_000).optional(),
    }),
    output: z.object({ item: QueueItem }),
    errors: ['NOT_FOUND'],
  }),
}

export const logged = event('/moderation modlog:event', {
  summary: 'A new entry of the log of actions.',
  audience: 'moderators',
  payload: z.object({ room: RoomKey.nullable(), entry: LogEntry }),
})
export const queued = event('/moderation queue:event', {
  summary: 'An item of the queue came, was claimed, or was decided.',
  audience: 'moderators',
  payload: z.object({ item: QueueItem }),
})
export const moderationEvents = { logged, queued }
