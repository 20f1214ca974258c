import { z } from 'zod'
import {
  Address,
  CallerAddress,
  ClientId,
  count,
  Done,
  Id,
  Link,
  line,
  Moment,
  pageSize,
  type RoomRef,
  Time,
} from '#shared/kit/primitives'
import { foundedBy } from '#shared/kit/room-kinds'
import type { GateAnswer } from './gates.ts'
import { asTokenChat, listedMessage, listedMessageOf, TokenChat, tokenChatOf } from './location-chat.ts'
import { Content, cursor, type Message } from './message.ts'
import { Description, Emoji, type Member, MemberRole, Name } from './room.ts'
import { RoomId } from './room-paths.ts'

const path = '/api/token-chats/:id'
const place = { id: RoomId, userAddress: CallerAddress }
const ref = (id: string): RoomRef => ({ type: foundedBy('createTokenRoom'), id })
const only = z.object(place).transform(({ id }) => ({ room: ref(id) }))
const succeeded = { schema: Done, of: () => ({ success: true }) }

export const getTokenAliases = [
  { http: `GET ${path}`, input: only, answer: asTokenChat },
  { http: `GET ${path}/settings`, input: only, answer: asTokenChat },
] as const

export const updateTokenAliases = [
  {
    http: `PATCH ${path}/settings`,
    input: z
      .object({ ...place, name: Name.optional(), description: Description.nullish(), emoji: Emoji.optional() })
      .transform(({ id, userAddress, ...patch }) => ({ room: ref(id), ...patch })),
    answer: {
      schema: z.object({ chat: TokenChat }),
      of: ({ room }: Parameters<typeof asTokenChat.of>[0]) => ({ chat: tokenChatOf(room) }),
    },
  },
] as const

export const joinTokenAliases = [
  {
    http: `POST ${path}/join`,
    input: only,
    answer: {
      schema: z.union([
        z.object({ success: z.literal(true), alreadyMember: z.literal(true) }),
        z.object({ success: z.literal(true), walletsChecked: z.number(), totalBalance: z.string() }),
      ]),
      of: ({ already, answer }: { already: boolean; answer: GateAnswer | null }) =>
        already
          ? { success: true, alreadyMember: true }
          : {
              success: true,
              walletsChecked: answer?.details.walletsChecked ?? 0,
              totalBalance: answer?.details.actual ?? '0',
            },
    },
  },
] as const

export const leaveTokenAliases = [
  { http: `DELETE ${path}/join`, input: only, answer: succeeded },
  { http: `POST ${path}/leave`, input: only, answer: succeeded },
] as const

export const membersTokenAliases = [
  {
    http: `GET ${path}/members`,
    input: z
      .object({
        ...place,
        limit: pageSize(200, 50),
        offset: count(0, 10_000_000).default(0),
        search: line(1, 100).optional(),
      })
      .transform(({ id, userAddress, ...page }) => ({ room: ref(id), ...page })),
    answer: {
      schema: z.object({
        members: z.array(
          z.object({
            address: z.string(),
            display_name: z.string().nullable(),
            avatar_url: Link.nullable(),
            role: z.enum(['admin', 'moderator', 'member']),
            joined_at: Time,
          }),
        ),
        total: z.number().int(),
        hasMore: z.boolean(),
      }),
      of: ({ members, ...page }: { members: Member[]; total: number; hasMore: boolean }) => ({
        ...page,
        members: members.map(({ user_address: address, display_name, avatar: avatar_url, role, joined_at }) => ({
          ...{ address, display_name, avatar_url, joined_at },
          role: role === 'owner' ? 'admin' : role,
        })),
      }),
    },
  },
] as const

export const setRoleTokenAliases = [
  {
    http: `PATCH ${path}/members`,
    input: z
      .object({ ...place, targetAddress: Address, role: MemberRole })
      .transform(({ id, targetAddress, role }) => ({ room: ref(id), address: targetAddress, role })),
    answer: {
      schema: z.object({ success: z.literal(true), role: MemberRole }),
      of: (_done: unknown, { role }: { role: MemberRole }) => ({ success: true, role }),
    },
  },
] as const

export const kickTokenAliases = [
  {
    http: `DELETE ${path}/members`,
    input: z
      .object({ ...place, targetAddress: Address })
      .transform(({ id, targetAddress }) => ({ room: ref(id), address: targetAddress })),
    answer: succeeded,
  },
] as const

export const historyTokenAliases = [
  {
    http: `GET ${path}/messages`,
    input: z
      .object({ ...place, ...cursor, limit: pageSize(100, 50), before: Moment.optional() })
      .transform(({ id, userAddress, before, ...page }) => ({ room: ref(id), ...page, ...(before ? { before } : {}) })),
    answer: {
      schema: z.object({ messages: z.array(listedMessage('chat_id')), hasMore: z.boolean() }),
      of: ({ messages, has_more }: { messages: Message[]; has_more: boolean }) => ({
        messages: messages
          .filter(({ is_deleted }) => !is_deleted)
          .map((message) => listedMessageOf('chat_id', message)),
        hasMore: has_more,
      }),
    },
  },
] as const

export const sendTokenAliases = [
  {
    http: `POST ${path}/messages`,
    input: z
      .object({ ...place, content: Content, replyTo: Id.nullish(), client_msg_id: ClientId.optional() })
      .transform(({ id, userAddress, content, replyTo, ...rest }) => ({
        ...rest,
        room: ref(id),
        text: content,
        reply_to: replyTo ?? null,
      })),
    answer: {
      schema: z.object({ success: z.literal(true), message: listedMessage('chat_id') }),
      of: ({ message }: { message: Message }) => ({ success: true, message: listedMessageOf('chat_id', message) }),
    },
  },
] as const

export const removeTokenAliases = [
  {
    http: `DELETE ${path}/messages`,
    input: z
      .object({ ...place, messageId: Id, client_action_id: ClientId.optional() })
      .transform(({ id, userAddress, messageId, ...rest }) => ({ ...rest, room: ref(id), id: messageId })),
    answer: succeeded,
  },
] as const
