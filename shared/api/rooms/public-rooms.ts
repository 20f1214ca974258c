import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Room } from './room.ts'
import { RoomId } from './room-paths.ts'
import { TokenChat } from './token-chat.ts'

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
