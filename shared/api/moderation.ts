import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import {
  Address,
  CallerAddress,
  ClientId,
  count,
  Done,
  Id,
  Moment,
  pageSize,
  RoomRef,
  Time,
  text,
} from '#shared/kit/primitives'
import { roomRef } from '#shared/kit/room-key'
import { chatTypes, singleTypes } from '#shared/kit/room-kinds'
import { Message } from './message.ts'
import {
  Ban,
  BlockedWord,
  LogEntry,
  ModerationMute,
  Moderator,
  Permissions,
  QueueItem,
  RulesRecord,
  WordAction,
} from './moderation-records.ts'
import { channelRef, RoomKey } from './rooms.ts'
import { RulesPatch } from './verdict.ts'

export const moderationActions = [
  'mute',
  'unmute',
  'ban',
  'unban',
  'delete',
  'pin',
  'unpin',
  'purge',
  'warn',
  'promote',
  'demote',
  'rules',
  'word_add',
  'word_remove',
] as const
export const ModerationAction = z.enum(moderationActions)
export type ModerationAction = z.infer<typeof ModerationAction>

const ChatType = z.enum(chatTypes, { error: 'chatType required' })
const ChatId = z.string().max(200).nullish()

/** Alpha's id may be absent, empty or `null`. */
const isSingleChat = (chatType: unknown): boolean => singleTypes.some((type) => type === chatType)
const chat = { chatType: ChatType, chatId: ChatId }
const withChat = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .object({ ...chat, ...shape })
    .refine(
      ({ chatType, chatId }: { chatType?: unknown; chatId?: unknown }) =>
        isSingleChat(chatType) || (typeof chatId === 'string' && /^[A-Za-z0-9_-]{1,100}$/.test(chatId)),
      { error: 'chatId required' },
    )

/** Lengths of a ban or a mute: a number and m, h, d or w, or `permanent`. */
const MuteDuration = z.string().regex(/^([1-9][0-9]{0,3}[mhdw]|permanent)$/, { error: 'Invalid duration' })
const BanDuration = z.enum(['1h', '24h', '7d', '30d', 'permanent'], { error: 'Invalid duration' })
const Reason = text(500).nullish()
const Target = Address
const Word = z.string({ error: 'word missing' }).trim().min(1, 'word missing').max(200)
const Grants = {
  canPin: z.boolean().optional(),
  canDelete: z.boolean().optional(),
  canMute: z.boolean().optional(),
  canManageMods: z.boolean().optional(),
}

export interface Patch {
  canPin?: boolean | undefined
  canDelete?: boolean | undefined
  canMute?: boolean | undefined
  canManageMods?: boolean | undefined
  notes?: string | null | undefined
  rules?: RulesPatch | undefined
  word?: string | undefined
  word_action?: z.infer<typeof WordAction> | undefined
  is_regex?: boolean | undefined
  word_id?: string | undefined
}

/** What an act sets: permissions, settings, or a word. Settings may stand alone or under `rules`, names in either spelling. */
const Patch = z
  .strictObject({
    ...Grants,
    can_pin: z.boolean().optional(),
    can_delete: z.boolean().optional(),
    can_mute: z.boolean().optional(),
    can_manage_mods: z.boolean().optional(),
    notes: text(1_000).nullish(),
    rules: RulesPatch.optional(),
    ...RulesPatch.shape,
    word: Word.optional(),
    word_action: WordAction.optional(),
    action: WordAction.optional(),
    is_regex: z.boolean().optional(),
    isRegex: z.boolean().optional(),
    word_id: Id.optional(),
    id: Id.optional(),
  })
  .transform((given): Patch => {
    const {
      can_pin,
      can_delete,
      can_mute,
      can_manage_mods,
      notes,
      rules,
      word,
      word_action,
      is_regex,
      word_id,
      ...rest
    } = given
    const { canPin, canDelete, canMute, canManageMods, action, isRegex, id, ...settings } = rest
    return {
      canPin: canPin ?? can_pin,
      canDelete: canDelete ?? can_delete,
      canMute: canMute ?? can_mute,
      canManageMods: canManageMods ?? can_manage_mods,
      notes,
      rules: { ...settings, ...rules },
      word,
      word_action: word_action ?? action,
      is_regex: is_regex ?? isRegex,
      word_id: word_id ?? id,
    }
  })

const Act = z.object({
  /** Null: everywhere (global moderators and words). */
  room: RoomRef.nullable(),
  client_action_id: ClientId.optional(),
  action: ModerationAction,
  target: Target.nullish(),
  message_id: Id.nullish(),
  duration: MuteDuration.nullish(),
  reason: Reason,
  patch: Patch.optional(),
})
export type Act = z.output<typeof Act>

const Acted = z.object({
  entry: z.object({ id: z.string(), seq: z.number().int(), hash: z.string() }).nullable(),
  effects: z.object({
    sockets_removed: z.number().int(),
    messages_removed: z.number().int(),
    expires_at: Time.nullable(),
    pending_nodes: z.number().int(),
  }),
  /** What the act left behind: the ban, mute, moderator, word, rules or message. */
  record: z.unknown(),
})
type Acted = z.output<typeof Acted>

const recordAs = (name: string, schema: z.ZodType) => ({
  schema: z.object({ success: z.literal(true), [name]: schema }),
  of: ({ record }: Acted) => ({ success: true, [name]: record }),
})
const succeeded = { schema: Done, of: () => ({ success: true }) }

/** `channelId` of the moderation paths: a channel, or alpha where there is none. */
const placeOf = (channelId: string | null | undefined): RoomRef => channelRef(channelId || 'global')
const ChannelId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,100}$/, { error: 'Invalid channelId' })
  .nullish()
/** The key of a repeat, as `Idempotency-Key` or in the body. */
const keyed = { client_action_id: ClientId.optional() }
const byModerator = { ...keyed, moderatorAddress: CallerAddress, channelId: ChannelId }
const targetAddress = Address
/** Optional and only read where the message cannot be found without it. */
const message = {
  ...keyed,
  messageId: Id,
  messageType: z.enum(['alpha', 'channel', 'group', 'dm']).optional(),
  moderatorAddress: CallerAddress,
  channelId: ChannelId,
}

const seen = ['ROOM_NOT_FOUND', 'BANNED', 'NOT_A_MEMBER'] as const

const LegacyAction = z.discriminatedUnion(
  'action',
  [
    z.object({
      action: z.literal('promote-mod'),
      ...byModerator,
      targetAddress,
      ...Grants,
      notes: text(1_000).nullish(),
    }),
    z.object({ action: z.literal('demote-mod'), ...byModerator, targetAddress }),
    z.object({
      action: z.literal('mute-user'),
      ...byModerator,
      targetAddress,
      duration: MuteDuration.default('permanent'),
      reason: Reason,
    }),
    z.object({ action: z.literal('unmute-user'), ...byModerator, targetAddress, reason: Reason }),
    z.object({ action: z.literal('delete-message'), ...message, reason: Reason }),
    z.object({ action: z.literal('pin-message'), ...message, shouldPin: z.boolean() }),
  ],
  { error: 'Invalid action' },
)
const LegacyAct = LegacyAction.transform((act): Act => ({ client_action_id: act.client_action_id, ...actOf(act) }))

function actOf(act: z.output<typeof LegacyAction>): Act {
  switch (act.action) {
    case 'promote-mod': {
      const { canPin, canDelete, canMute, canManageMods, notes } = act
      const patch = { canPin, canDelete, canMute, canManageMods, notes }
      return {
        room: act.channelId ? placeOf(act.channelId) : null,
        action: 'promote',
        target: act.targetAddress,
        patch,
      }
    }
    case 'demote-mod':
      return { room: act.channelId ? placeOf(act.channelId) : null, action: 'demote', target: act.targetAddress }
    case 'mute-user':
      return {
        room: placeOf(act.channelId),
        action: 'mute',
        target: act.targetAddress,
        duration: act.duration,
        reason: act.reason,
      }
    case 'unmute-user':
      return { room: placeOf(act.channelId), action: 'unmute', target: act.targetAddress, reason: act.reason }
    case 'delete-message':
      return { room: placeOf(act.channelId), action: 'delete', message_id: act.messageId, reason: act.reason }
    case 'pin-message':
      return { room: placeOf(act.channelId), action: act.shouldPin ? 'pin' : 'unpin', message_id: act.messageId }
  }
}
const legacyAnswer = {
  schema: Done.and(z.record(z.string(), z.unknown())),
  of: ({ record }: Acted, { action }: Act) => {
    if (action === 'promote') return { success: true, moderator: record }
    return action === 'mute' ? { success: true, mute: record } : { success: true }
  },
}

export const moderation = {
  act: operation({
    summary: 'Act as a moderator. Answered when it holds on every node, or after a second with `pending_nodes`.',
    http: 'POST /api/moderation/act',
    socket: '/rooms mod:act',
    aliases: [
      { http: 'POST /api/moderation', input: LegacyAct, answer: legacyAnswer },
      {
        http: 'POST /api/chat-rules',
        input: withChat({ ...keyed, rules: RulesPatch }).transform(
          ({ client_action_id, chatType, chatId, rules }): Act => ({
            client_action_id,
            room: roomRef(chatType, chatId),
            action: 'rules',
            patch: { rules },
          }),
        ),
        answer: recordAs('rules', RulesRecord),
      },
      {
        http: 'POST /api/chat-rules/ban',
        input: withChat({
          ...keyed,
          action: z.enum(['ban', 'unban'], { error: 'Invalid action' }),
          targetAddress,
          reason: Reason,
          duration: BanDuration.default('permanent'),
        }).transform(
          ({ client_action_id, chatType, chatId, action, targetAddress: target, reason, duration }): Act => ({
            client_action_id,
            room: roomRef(chatType, chatId),
            action,
            target,
            reason,
            ...(action === 'ban' ? { duration } : {}),
          }),
        ),
        answer: {
          schema: z.object({ success: z.literal(true), ban: Ban.optional() }),
          of: ({ record }, { action }) => (action === 'ban' ? { success: true, ban: record } : { success: true }),
        },
      },
      {
        http: 'POST /api/channels/:id/ban',
        input: z.object({ ...keyed, id: z.string().max(100), userAddress: Address, reason: Reason }).transform(
          ({ client_action_id, id, userAddress, reason }): Act => ({
            client_action_id,
            room: channelRef(id),
            action: 'ban',
            target: userAddress,
            reason,
            duration: 'permanent',
          }),
        ),
        answer: succeeded,
      },
      {
        http: 'DELETE /api/channels/:id/ban',
        input: z.object({ ...keyed, id: z.string().max(100), userAddress: Address }).transform(
          ({ client_action_id, id, userAddress }): Act => ({
            client_action_id,
            room: channelRef(id),
            action: 'unban',
            target: userAddress,
          }),
        ),
        answer: succeeded,
      },
      {
        http: 'POST /api/blocked-words',
        input: z
          .object({
            ...keyed,
            word: Word,
            scope: z.enum(['global', 'room']).default('global'),
            chatType: z.enum(chatTypes).nullish(),
            chatId: ChatId,
            action: WordAction.default('block'),
            isRegex: z.boolean().default(false),
          })
          .refine(
            ({ scope, chatType, chatId }) => scope === 'global' || isSingleChat(chatType) || (chatType && chatId),
            {
              error: 'chatType and chatId are required for scope room',
            },
          )
          .transform(
            ({ client_action_id, word, scope, chatType, chatId, action, isRegex }): Act => ({
              client_action_id,
              room: scope === 'global' || !chatType ? null : roomRef(chatType, chatId),
              action: 'word_add',
              patch: { word, word_action: action, is_regex: isRegex },
            }),
          ),
        answer: recordAs('word', BlockedWord),
      },
    ],
    access: 'user',
    limit: 'general',
    idempotency: { key: 'client_action_id', kept: 'log' },
    audit: true,
    input: Act,
    output: Acted,
    errors: [...seen, 'ROOM_ARCHIVED', 'SUSPENDED', 'BLOCKED', 'MESSAGE_NOT_FOUND', 'NOT_FOUND'],
  }),
  removeWord: operation({
    summary: 'Take a blocked word out of use.',
    http: 'DELETE /api/blocked-words',
    access: 'user',
    limit: 'general',
    errorBody: 'text',
    audit: true,
    input: z.object({ id: Id }),
    output: Done,
    errors: ['NOT_FOUND', 'SUSPENDED', 'ROOM_NOT_FOUND', 'BANNED'],
  }),
  inspect: operation({
    summary:
      'Permissions and moderators; muted users, for moderators; one mute, also for the muted; the log of actions.',
    http: 'GET /api/moderation',
    access: 'public',
    limit: 'general',
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
    summary: 'Walk the hash chain of the moderation log of a room and name the first entry that does not fit.',
    http: 'GET /api/moderation/verify',
    access: 'user',
    limit: 'general',
    input: z.object({ channelId: ChannelId }),
    output: z.object({
      ok: z.boolean(),
      entries: z.number().int(),
      head: z.string(),
      broken_at: Time.nullable(),
    }),
    errors: ['ROOM_NOT_FOUND'],
  }),
  rules: operation({
    summary: 'The rules of a room; the defaults where none were set.',
    http: 'GET /api/chat-rules',
    access: 'public',
    limit: 'general',
    errorBody: 'text',
    input: withChat({}),
    output: z.object({ rules: RulesRecord }),
    errors: ['ROOM_NOT_FOUND', 'BANNED', 'NOT_A_MEMBER'],
  }),
  bans: operation({
    summary: 'Active bans of a room, for its moderators; or whether one person is banned, for that person as well.',
    http: 'GET /api/chat-rules/ban',
    aliases: [
      {
        http: 'GET /api/channels/:id/ban',
        input: z.object({ id: z.string().max(100) }).transform(({ id }) => ({
          chatType: id === 'global' ? ('alpha' as const) : ('channel' as const),
          chatId: id,
        })),
      },
    ],
    access: 'public',
    limit: 'general',
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
    summary: 'What a proposed word or rule would have done to the last messages of a room.',
    http: 'POST /api/moderation/simulate',
    aliases: [
      {
        http: 'POST /api/chat-rules/simulate',
        input: withChat({ rules: RulesPatch, last: count(1, 1_000).default(500) }).transform(
          ({ chatType, chatId, rules, last }) => ({
            room: roomRef(chatType, chatId),
            rules,
            last,
          }),
        ),
      },
      {
        http: 'POST /api/blocked-words/simulate',
        input: withChat({
          word: Word,
          isRegex: z.boolean().default(false),
          last: count(1, 1_000).default(500),
        }).transform(({ chatType, chatId, word, isRegex, last }) => ({
          room: roomRef(chatType, chatId),
          word,
          is_regex: isRegex,
          last,
        })),
      },
    ],
    access: 'user',
    limit: 'general',
    input: z.object({
      room: RoomRef,
      word: Word.optional(),
      is_regex: z.boolean().optional(),
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
    aliases: [
      {
        http: 'GET /api/moderation/queue',
        input: z
          .object({ channelId: ChannelId })
          .transform(({ channelId }) =>
            channelId ? { scope: 'room' as const, room: channelRef(channelId) } : { scope: 'global' as const },
          ),
      },
    ],
    socket: '/moderation mod:subscribe',
    access: 'user',
    limit: 'general',
    input: z.object({ scope: z.enum(['global', 'room']).default('global'), room: RoomRef.optional() }),
    output: z.object({
      queue: z.array(QueueItem),
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
    input: z.object({ item: Id, on: z.boolean().default(true) }),
    output: z.object({ item: QueueItem }),
    errors: ['NOT_FOUND'],
  }),
  decide: operation({
    summary: 'Close an item of the queue.',
    http: 'POST /api/moderation/queue/decide',
    socket: '/moderation queue:decide',
    access: 'user',
    limit: 'general',
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
