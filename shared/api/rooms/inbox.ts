import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import { atMost, CallerAddress, Cursor, Time } from '#shared/kit/primitives'
import { LocationChat } from './location-chat.ts'
import { LastMessage, Room, RoomKey, RoomSummary } from './room.ts'

const Unread = z.object({
  room: RoomKey,
  head_seq: z.number().int(),
  read_seq: z.number().int(),
  unread: z.number().int(),
  mentions: z.number().int(),
  muted_until: Time.nullable(),
  silent: z.boolean(),
})

export const inbox = {
  list: operation({
    summary:
      'The rooms of the caller with unread counts, newest activity first. Every 50 of them cost as much as a call, and all of them no more than 25. `known` is the `version` (over REST the `ETag`), with or without its quotes, of the list that the caller has: where it is still so, nothing else is answered (304 to `If-None-Match`). `archived` lists the archived ones instead.',
    http: 'GET /api/user/rooms',
    socket: '/rooms room:list',
    access: 'user',
    limit: 'general',
    cost: { rooms: 50 },
    headers: { 'if-none-match': 'known' },
    input: z.object({
      /** A page of so many; left out, all of them. */
      limit: atMost(100).optional(),
      /** The `next_cursor` of the page before. */
      cursor: Cursor.optional(),
      known: z.string().max(1_000).optional(),
      archived: z.boolean().optional(),
    }),
    output: z.object({
      rooms: z.array(RoomSummary),
      /** Of a page; null where it is the last. */
      next_cursor: z.string().nullable().optional(),
      /** Where `known` is given, or is empty. */
      version: z.string().optional(),
      unchanged: z.boolean().optional(),
    }),
  }),
  directPreviews: operation({
    summary:
      'The newest message of each direct conversation of the caller, newest first, without its words, which are sealed, but for those of the types `system` and `welcome`. Every 50 conversations cost as much as a call, and all of them no more than 25.',
    http: 'GET /api/dm/previews',
    access: 'user',
    limit: 'general',
    cost: { rooms: 50 },
    errorBody: 'text',
    input: z.object({ userAddress: CallerAddress }),
    output: z.object({
      previews: z.array(
        z.object({
          /** `/plaza/1/dm/<one account>-<the other>/proto`, in the order of their ids. */
          conversation_id: z.string(),
          sender_address: z.string(),
          /** Null of everything that people write to one another. */
          content: z.string().nullable(),
          /** As in the rows of messages. */
          message_type: z.string(),
          sent_at: Time,
          peer_address: z.string(),
        }),
      ),
    }),
  }),
  alphaMembership: operation({
    summary:
      'How the caller stands in alpha, where everybody is from their first sign-in on; whoever leaves it is in again with the next one.',
    http: 'GET /api/alpha/membership',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ userAddress: CallerAddress }),
    output: z.object({
      /** Null for accounts that never were members. */
      membership: z
        .object({
          user_address: z.string(),
          notifications_muted: z.boolean(),
          /** When the last message that they have read was sent; null where they have read none. */
          last_read_at: Time.nullable(),
          joined_at: Time,
          /** Null for current members. */
          left_at: Time.nullable(),
        })
        .nullable(),
    }),
  }),
  openAgain: operation({
    summary:
      'The rooms that a ban took the caller out of and that are open to them again, as it was lifted or has run out. Not those that they came back to, or left since.',
    http: 'GET /api/user/rooms/open-again',
    socket: '/rooms room:open-again',
    access: 'user',
    limit: 'general',
    cost: { rooms: 50 },
    input: z.object({}),
    output: z.object({ rooms: z.array(Room) }),
  }),
  locationChats: operation({
    summary: 'The rooms of places that the caller is in, newest activity first.',
    http: 'GET /api/location-chats/joined',
    socket: '/rooms location-room:joined',
    access: 'user',
    limit: 'general',
    cost: { rooms: 50 },
    errorBody: 'text',
    input: z.object({ userAddress: CallerAddress }),
    output: z.object({
      chats: z.array(
        LocationChat.extend({
          joined_at: Time,
          last_message_at: Time.nullable(),
          last_message_preview: z.string().nullable(),
        }),
      ),
    }),
  }),
}

export const unreadSnapshot = event('/notifications unread:snapshot', {
  summary:
    'On connect, and when you have left a room or were taken out of one: the unread counts of every room of yours.',
  audience: 'account',
  payload: z.object({ rooms: z.array(Unread), total: z.number().int() }),
})
export const unreadChanged = event('/notifications unread:changed', {
  summary:
    'The unread count of one room, as a full value, and its newest message as it is now, to every device of yours: within a second of what is said, edited or deleted there.',
  audience: 'account',
  payload: Unread.extend({ total: z.number().int(), last_message: LastMessage.nullable() }),
})
export const inboxEvents = { unreadSnapshot, unreadChanged }
