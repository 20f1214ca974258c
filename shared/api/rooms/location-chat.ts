import { z } from 'zod'
import { Time } from '#shared/kit/primitives'
import type { Room } from './room.ts'

/** What a map would say of a place. No map is asked, so it is nothing. */
const unknown = {
  google_place_rating: z.null(),
  google_place_user_ratings_total: z.null(),
  google_place_price_level: z.null(),
  google_place_phone: z.null(),
  google_place_website: z.null(),
  google_place_hours: z.null(),
  google_place_address: z.null(),
  formatted_address: z.null(),
  ipfs_hash: z.null(),
  ipfs_url: z.null(),
  p2p_symmetric_key: z.null(),
  p2p_content_topic: z.null(),
}

/** The row of the room of a place, as the documented paths name its fields. */
export const LocationChat = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  emoji: z.string(),
  google_place_id: z.string(),
  google_place_name: z.string(),
  google_place_types: z.array(z.string()),
  google_place_photos: z.array(z.string()),
  ...unknown,
  latitude: z.number(),
  longitude: z.number(),
  /** How near who joins says they are, in metres. */
  radius: z.number().int(),
  messaging_type: z.string(),
  creator_address: z.string().nullable(),
  member_count: z.number().int(),
  message_count: z.number().int(),
  is_active: z.boolean(),
  /** Of the place: nobody has checked that it is there. */
  is_verified: z.boolean(),
  is_member: z.boolean(),
  created_at: Time,
  updated_at: Time,
})
export type LocationChat = z.infer<typeof LocationChat>

export function locationChatOf({ gate, ...room }: Room): LocationChat {
  const place = gate?.by === 'place' ? gate : nowhere
  return LocationChat.parse({
    ...Object.fromEntries(Object.keys(unknown).map((field) => [field, null])),
    ...withoutTopic(room),
    ...{ latitude: place.latitude, longitude: place.longitude, radius: place.radius_m },
    ...{ google_place_id: place.place_id, google_place_name: place.place_name },
    ...{ google_place_types: [], google_place_photos: [], is_verified: false },
  })
}

const withoutTopic = ({ p2p_content_topic: _, ...room }: Omit<Room, 'gate'>) => room

/** Of a room without a gate, which no operation makes. */
const nowhere = { place_id: '', place_name: '', latitude: 0, longitude: 0, radius_m: 0 }
