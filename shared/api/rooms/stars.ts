import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import {
  Address,
  CallerAddress,
  clearable,
  Done,
  Id,
  maybe,
  pageSize,
  RoomType,
  Time,
  text,
} from '#shared/kit/primitives'
import { RoomKey } from './room.ts'
import { RoomId, seen } from './room-paths.ts'

/** Stars that an account has. */
export const starsAtMost = 500

const Starred = z.object({
  id: z.string(),
  user_address: z.string(),
  message_id: z.string(),
  message_type: RoomType,
  room: RoomKey,
  channel_id: z.string().nullable(),
  group_id: z.string().nullable(),
  /** The other person of a direct conversation. */
  peer_address: z.string().nullable(),
  sender_address: z.string(),
  sender_name: z.string(),
  /** As the message says now; of a direct message what was sent, sealed. */
  content: z.string(),
  original_created_at: Time,
  notes: z.string().nullable(),
  created_at: Time,
})
export type Starred = z.infer<typeof Starred>

export const stars = {
  list: operation({
    summary:
      'The messages the caller has starred, the newest star first, as they are now; without those that were deleted or that the caller may not read now. `next` is the `before` of the next page. Every 50 rooms that they are in cost as much as a call.',
    http: 'GET /api/messages/starred',
    socket: '/notifications star:list',
    access: 'user',
    limit: 'messaging',
    cost: { rooms: 50 },
    errorBody: 'text',
    input: z.object({
      userAddress: CallerAddress,
      type: maybe(RoomType),
      limit: pageSize(100, 50),
      before: maybe(Id),
    }),
    output: z.object({ messages: z.array(Starred), next: z.string().nullable() }),
  }),
  add: operation({
    summary:
      'Star a message that the caller may read, for the caller alone. The room is named by its kind and by `channelId`, `groupId` or `peerAddress`; everything else about the message the server knows. Once more changes the notes, or clears them where they are null or empty. Who has 500 pays as for a list of these, which are looked through for what may be read no more.',
    http: 'POST /api/messages/starred',
    socket: '/notifications star:add',
    access: 'user',
    limit: 'messaging',
    cost: { rooms: 50 },
    repeat: 'harmless',
    errorBody: 'text',
    input: z.object({
      userAddress: CallerAddress,
      messageId: Id,
      messageType: RoomType,
      channelId: maybe(RoomId),
      groupId: maybe(RoomId),
      peerAddress: maybe(Address),
      notes: clearable(text(500)).optional(),
    }),
    output: z.object({ success: z.literal(true), starred: Starred }),
    errors: [...seen, 'MESSAGE_NOT_FOUND', 'CONFLICT'],
  }),
  remove: operation({
    summary: 'Take a star away; one that is not there is away already.',
    http: 'DELETE /api/messages/starred',
    socket: '/notifications star:remove',
    access: 'user',
    limit: 'messaging',
    cost: 'cheap',
    errorBody: 'text',
    whileSuspended: 'withdraws',
    input: z.object({ userAddress: CallerAddress, messageId: Id }),
    output: Done,
  }),
}

export const starChanged = event('/notifications star:changed', {
  summary: 'You have starred a message or taken the star away, on this device or another.',
  audience: 'account',
  payload: z.object({ message_id: z.string(), is_starred: z.boolean() }),
})
export const starEvents = { starChanged }
