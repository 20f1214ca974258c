import { z } from 'zod'
import { amountText } from '#shared/kit/amounts'
import { Link, Time } from '#shared/kit/primitives'
import type { Message } from './message.ts'
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

const Reply = z.object({ id: z.string(), sender_address: z.string(), content: z.string() })

/** A message as the documented paths of rooms with a gate list it; the field names its room. Deleted ones are not listed. */
export const listedMessage = <Field extends string>(field: Field) =>
  z
    .object({
      id: z.string(),
      /** What a page is read on by: `before_seq`, `after_seq`. */
      seq: z.number().int(),
      sender_address: z.string(),
      content: z.string(),
      message_type: z.string(),
      reply_to: z.string().nullable(),
      reply_to_message: Reply.nullable(),
      edited_at: Time.nullable(),
      created_at: Time,
    })
    .and(z.object({ [field]: z.string() } as { [Name in Field]: z.ZodString }))

export const listedMessageOf = (field: string, message: Message) => {
  const { id, seq, sender_address, content, message_type, reply_to, edited_at, created_at } = message
  return {
    ...{ id, seq, sender_address, content, message_type, edited_at, created_at },
    ...{ [field]: message.room.id ?? '', reply_to: reply_to?.id ?? null },
    reply_to_message: reply_to && {
      id: reply_to.id,
      sender_address: reply_to.sender_address,
      content: reply_to.content,
    },
  }
}

/** The row of a room for holders, as the documented paths name its fields. */
export const TokenChat = z.object({
  id: z.string(),
  name: z.string(),
  created_by: z.string().nullable(),
  token_address: z.string(),
  token_chain_id: z.number().int(),
  token_name: z.string(),
  token_symbol: z.string(),
  token_decimals: z.number().int(),
  token_image: Link.nullable(),
  icon_url: Link.nullable(),
  min_balance: z.string(),
  min_balance_display: z.string(),
  is_official: z.boolean(),
  description: z.string().nullable(),
  emoji: z.string(),
  member_count: z.number().int(),
  messaging_type: z.string(),
  created_at: Time,
  updated_at: Time,
  is_member: z.boolean(),
})
export type TokenChat = z.infer<typeof TokenChat>

export function tokenChatOf({ gate, ...room }: Room): TokenChat {
  const token = gate?.by === 'balance' ? gate : noToken
  return TokenChat.parse({
    ...room,
    ...token,
    created_by: room.creator_address,
    token_chain_id: token.chain_id,
    token_image: room.icon_url,
    min_balance_display: amountText(token.min_balance, token.token_decimals),
  })
}

/** Of a room without a gate, which no operation makes. */
const noToken = {
  ...{ chain_id: 0, token_address: '', token_name: '', token_symbol: '', token_decimals: 0, min_balance: '0' },
}

/** Clients of the documented paths read the row at top level as well as under its name. */
export const asTokenChat = {
  schema: z.object({ chat: TokenChat }).and(TokenChat),
  of: ({ room }: { room: Room }) => ({ chat: tokenChatOf(room), ...tokenChatOf(room) }),
}
