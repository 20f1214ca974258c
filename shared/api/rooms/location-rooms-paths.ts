import { z } from 'zod'
import { CallerAddress, ClientId, count, Done, Id, Moment, pageSize, type RoomRef } from '#shared/kit/primitives'
import { foundedBy } from '#shared/kit/room-kinds'
import { listedMessage, listedMessageOf } from './location-chat.ts'
import { Content, cursor, draft, type Message } from './message.ts'
import { Latitude, Longitude } from './places.ts'
import { RoomId } from './room-paths.ts'

const path = '/api/location-chats/:id'
const chat = { id: RoomId, userAddress: CallerAddress }
const ref = (id: string): RoomRef => ({ type: foundedBy('createLocationRoom'), id })
const succeeded = { schema: Done, of: () => ({ success: true }) }
const rowOf = (message: Message) => listedMessageOf('location_chat_id', message)

export const joinLocationAliases = [
  {
    http: `POST ${path}/join`,
    input: z
      .object({ ...chat, userLat: Latitude.optional(), userLng: Longitude.optional() })
      .refine(({ userLat, userLng }) => (userLat === undefined) === (userLng === undefined), {
        error: 'userLat and userLng: both of them or none',
        path: ['userLat'],
      })
      .transform(({ id, userLat, userLng }) => ({
        room: ref(id),
        ...(userLat === undefined || userLng === undefined
          ? {}
          : { position: { latitude: userLat, longitude: userLng } }),
      })),
    answer: {
      schema: z.object({
        success: z.literal(true),
        alreadyMember: z.boolean(),
        p2p_symmetric_key: z.null(),
        p2p_content_topic: z.null(),
      }),
      of: ({ already }: { already: boolean }) => ({
        ...{ success: true, alreadyMember: already, p2p_symmetric_key: null, p2p_content_topic: null },
      }),
    },
  },
] as const

export const leaveLocationAliases = [
  { http: `DELETE ${path}/join`, input: z.object(chat).transform(({ id }) => ({ room: ref(id) })), answer: succeeded },
] as const

export const membersLocationAliases = [
  {
    http: `GET ${path}/members`,
    input: z
      .object({ ...chat, limit: pageSize(200, 100), offset: count(0, 10_000_000).default(0) })
      .transform(({ id, limit, offset }) => ({ room: ref(id), limit, offset })),
  },
] as const

export const historyLocationAliases = [
  {
    http: `GET ${path}/messages`,
    input: z
      .object({ ...chat, ...cursor, limit: pageSize(100, 50), before: Moment.optional() })
      .transform(({ id, userAddress, before, ...page }) => ({ room: ref(id), ...page, ...(before ? { before } : {}) })),
    answer: {
      schema: z.object({
        messages: z.array(listedMessage('location_chat_id')),
        count: z.number().int(),
        has_more: z.boolean(),
      }),
      of: ({ messages, has_more }: { messages: Message[]; has_more: boolean }) => {
        const left = messages.filter(({ is_deleted }) => !is_deleted).map(rowOf)
        return { messages: left, count: left.length, has_more }
      },
    },
  },
] as const

export const sendLocationAliases = [
  {
    http: `POST ${path}/messages`,
    input: z
      .object({
        ...chat,
        content: Content,
        messageType: draft.messageType,
        replyToId: Id.nullish(),
        client_msg_id: ClientId.optional(),
        /** The same, as the documented path calls it. */
        wakuMessageId: ClientId.optional(),
      })
      .transform(({ id, content, messageType, replyToId, client_msg_id, wakuMessageId }) => {
        const own = client_msg_id ?? wakuMessageId
        return {
          ...{ room: ref(id), text: content, reply_to: replyToId ?? null },
          ...(messageType === undefined ? {} : { type: messageType }),
          ...(own === undefined ? {} : { client_msg_id: own }),
        }
      }),
    answer: {
      schema: z.union([
        z.object({ success: z.literal(true), duplicate: z.literal(true), messageId: z.string() }),
        z.object({ success: z.literal(true), message: listedMessage('location_chat_id') }),
      ]),
      of: ({ message, duplicate }: { message: Message; duplicate?: boolean | undefined }) =>
        duplicate
          ? { success: true, duplicate: true, messageId: message.id }
          : { success: true, message: rowOf(message) },
    },
  },
] as const

export const removeLocationAliases = [
  {
    http: `DELETE ${path}/messages`,
    input: z
      .object({ ...chat, messageId: Id, client_action_id: ClientId.optional() })
      .transform(({ id, userAddress, messageId, ...rest }) => ({ ...rest, room: ref(id), id: messageId })),
    answer: succeeded,
  },
] as const
