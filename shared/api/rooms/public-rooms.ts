import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Address, repeatable } from '#shared/kit/primitives'
import { TokenChat } from './location-chat.ts'
import { Emoji, Name, Room } from './room.ts'
import { RoomId } from './room-paths.ts'

const open = { access: 'public', limit: 'general', cost: 'cheap', errorBody: 'text', anyOrigin: true } as const

const PublicChannel = Room.pick({
  ...{ id: true, name: true, description: true, emoji: true, icon_url: true, category: true, slug: true },
  ...{ is_official: true, member_count: true, message_count: true, created_at: true },
  ...{ attendance_event_id: true, attendance_event_name: true },
}).extend({
  /** The same, in other words. */
  poap_event_id: Room.shape.attendance_event_id,
  poap_event_name: Room.shape.attendance_event_name,
})

/** A part of `rooms`: cards for pages of every site, equal for all callers. Closed rooms are hidden. */
export const publicRooms = {
  publicChannel: operation({
    ...open,
    summary: 'The card of a channel that is open to everybody, by its id or its slug.',
    http: 'GET /api/public/channels/:id',
    input: z.object({ id: RoomId }),
    output: z.object({ channel: PublicChannel }),
    errors: ['ROOM_NOT_FOUND'],
  }),
  publicTokenRoom: operation({
    ...open,
    summary: 'The card of a room for holders of a token that everybody may see.',
    http: 'GET /api/public/token-chats/:id',
    input: z.object({ id: RoomId }),
    output: z.object({ chat: TokenChat.omit({ is_member: true }) }),
    errors: ['ROOM_NOT_FOUND'],
  }),
}

/** What clients send whose groups have a key of their own: they must learn that this one would have none. */
const unkept = z
  .union([z.literal(''), z.literal(false), z.null()], {
    error: 'Groups with a key or a password are not kept here: the server reads what is said in a group',
  })
  .optional()

/** What a new group is made of. */
export const NewGroup = z.object({
  ...repeatable,
  name: Name,
  emoji: Emoji.default('👥'),
  memberAddresses: z.array(Address).max(100).default([]),
  symmetricKey: unkept,
  symmetric_key: unkept,
  password: unkept,
  passwordProtected: unkept,
  password_protected: unkept,
  passwordSalt: unkept,
  password_salt: unkept,
  passwordHash: unkept,
  password_hash: unkept,
})
