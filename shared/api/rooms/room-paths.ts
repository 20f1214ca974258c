import { z } from 'zod'
import { CallerAddress, type RoomRef } from '#shared/kit/primitives'
import { alpha } from '#shared/kit/room-key'

export const RoomId = z.string().regex(/^[A-Za-z0-9_-]{1,100}$/, { error: 'Invalid room id' })

/** What an operation on a room that its caller must be able to see may be refused with. */
export const seen = ['ROOM_NOT_FOUND', 'BANNED', 'NOT_A_MEMBER'] as const

/** `:id` of the channel paths: an id, a slug, or `global` for the alpha room. */
export const channelRef = (id: string): RoomRef => (id === 'global' ? alpha : { type: 'channel', id })
export const groupRef = (id: string): RoomRef => ({ type: 'group', id })
/** The same operation under the documented paths of each kind of room. */
export const roomPaths = [
  { path: '/api/channels/:id', ref: channelRef, fields: { id: RoomId } },
  { path: '/api/groups/:id', ref: groupRef, fields: { id: RoomId } },
  { path: '/api/alpha', ref: () => alpha, fields: {} },
] as const

/** What such a path carries of itself; alpha's has no id. */
export const pathOf = (fields: object) =>
  ({ ...fields, userAddress: CallerAddress }) as { id: z.ZodOptional<typeof RoomId>; userAddress: typeof CallerAddress }
