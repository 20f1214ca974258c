import { z } from 'zod'
import { channelRef } from '#shared/api/rooms/room-paths'
import type { Alias } from '#shared/kit/contract'
import {
  Address,
  CallerAddress,
  ClientId,
  Cursor,
  count,
  Done,
  Id,
  maybe,
  pageSize,
  type RoomRef,
  text,
} from '#shared/kit/primitives'
import { roomRef } from '#shared/kit/room-key'
import { chatTypes, roomKinds, singleTypes } from '#shared/kit/room-kinds'
import { type Act, type Acted, Grants, MuteDuration, Reason, Word } from './moderation-acts.ts'
import { Ban, BlockedWord, RulesRecord, WordAction } from './moderation-records.ts'
import { RulesPatch } from './verdict.ts'

export const ChatType = z.enum(chatTypes, { error: 'chatType required' })
export const ChatId = z.string().max(200).nullish()

/** Alpha's id may be absent, empty or `null`. */
export const isSingleChat = (chatType: unknown): boolean => singleTypes.some((type) => type === chatType)
const chat = { chatType: ChatType, chatId: ChatId }
export const withChat = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z
    .object({ ...chat, ...shape })
    .refine(
      ({ chatType, chatId }: { chatType?: unknown; chatId?: unknown }) =>
        isSingleChat(chatType) || (typeof chatId === 'string' && /^[A-Za-z0-9_-]{1,100}$/.test(chatId)),
      { error: 'chatId required' },
    )

const BanDuration = z.enum(['1h', '24h', '7d', '30d', 'permanent'], { error: 'Invalid duration' })

const recordAs = (name: string, schema: z.ZodType) => ({
  schema: z.object({ success: z.literal(true), [name]: schema }),
  of: ({ record }: Acted) => ({ success: true, [name]: record }),
})
const succeeded = { schema: Done, of: () => ({ success: true }) }

interface Place {
  chatType?: z.output<typeof ChatType> | undefined
  channelId?: string | null | undefined
}
/** The room of `channelId` in moderation paths. The default kind is a channel; without an id it is alpha. */
export const placeOf = ({ chatType, channelId }: Place): RoomRef =>
  chatType && roomKinds[chatType].idField !== 'channel_id'
    ? roomRef(chatType, channelId)
    : channelRef(channelId || 'global')
/** Is a room named at all, or is it about everywhere? */
export const isPlaced = ({ chatType, channelId }: Place): boolean => Boolean(channelId) || isSingleChat(chatType)
export const ChannelId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,100}$/, { error: 'Invalid channelId' })
  .nullish()
/** The key of a repeat, as `Idempotency-Key` or in the body. */
const keyed = { client_action_id: ClientId.optional() }
const byModerator = {
  ...keyed,
  moderatorAddress: CallerAddress,
  /** What `channelId` names, where that is no channel. */
  chatType: maybe(ChatType),
  channelId: ChannelId,
}
const targetAddress = Address
/** Optional and only read where the message cannot be found without it. */
const message = { ...byModerator, messageId: Id, messageType: maybe(z.enum([...chatTypes, 'dm'])) }

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
const LegacyAct = LegacyAction.refine(
  ({ chatType, channelId }) => !chatType || isSingleChat(chatType) || Boolean(channelId),
  { error: 'channelId required' },
).transform((act): Act => ({ client_action_id: act.client_action_id, ...actOf(act) }))

function actOf(act: z.output<typeof LegacyAction>): Act {
  switch (act.action) {
    case 'promote-mod': {
      const { canPin, canDelete, canMute, canManageMods, notes } = act
      const patch = { canPin, canDelete, canMute, canManageMods, notes }
      return {
        room: isPlaced(act) ? placeOf(act) : null,
        action: 'promote',
        target: act.targetAddress,
        patch,
      }
    }
    case 'demote-mod':
      return { room: isPlaced(act) ? placeOf(act) : null, action: 'demote', target: act.targetAddress }
    case 'mute-user':
      return {
        room: placeOf(act),
        action: 'mute',
        target: act.targetAddress,
        duration: act.duration,
        reason: act.reason,
      }
    case 'unmute-user':
      return { room: placeOf(act), action: 'unmute', target: act.targetAddress, reason: act.reason }
    case 'delete-message':
      return { room: placeOf(act), action: 'delete', message_id: act.messageId, reason: act.reason }
    case 'pin-message':
      return { room: placeOf(act), action: act.shouldPin ? 'pin' : 'unpin', message_id: act.messageId }
  }
}
const legacyAnswer = {
  schema: Done.and(z.record(z.string(), z.unknown())),
  of: ({ record }: Acted, { action }: Act) => {
    if (action === 'promote') return { success: true, moderator: record }
    return action === 'mute' ? { success: true, mute: record } : { success: true }
  },
}

/** Acts at the documented paths. */
export const actAliases: readonly Alias<Act, Acted>[] = [
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
        asWritten: z.boolean().default(false),
      })
      .refine(({ scope, chatType, chatId }) => scope === 'global' || isSingleChat(chatType) || (chatType && chatId), {
        error: 'chatType and chatId are required for scope room',
      })
      .transform(
        ({ client_action_id, word, scope, chatType, chatId, action, isRegex, asWritten }): Act => ({
          client_action_id,
          room: scope === 'global' || !chatType ? null : roomRef(chatType, chatId),
          action: 'word_add',
          patch: { word, word_action: action, is_regex: isRegex, as_written: asWritten },
        }),
      ),
    answer: recordAs('word', BlockedWord),
  },
]

export const banAliases = [
  {
    http: 'GET /api/channels/:id/ban',
    input: z.object({ id: z.string().max(100) }).transform(({ id }) => ({
      chatType: id === 'global' ? ('alpha' as const) : ('channel' as const),
      chatId: id,
    })),
  },
] as const

export const simulateAliases = [
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
      asWritten: z.boolean().default(false),
      last: count(1, 1_000).default(500),
    }).transform(({ chatType, chatId, word, isRegex, asWritten, last }) => ({
      room: roomRef(chatType, chatId),
      word,
      is_regex: isRegex,
      as_written: asWritten,
      last,
    })),
  },
] as const

/** A page of the queue: how many, after the one whose `next_cursor` this is. */
export const paged = { cursor: Cursor.nullish(), limit: pageSize(100) }

export const queueAliases = [
  {
    http: 'GET /api/moderation/queue',
    input: z
      .object({ channelId: ChannelId, ...paged })
      .transform(({ channelId, ...page }) =>
        channelId
          ? { scope: 'room' as const, room: channelRef(channelId), ...page }
          : { scope: 'global' as const, ...page },
      ),
  },
] as const
