import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import {
  afterCursor,
  CallerAddress,
  ClientId,
  count,
  Done,
  Id,
  Moment,
  nextCursor,
  onceByKey,
  pageSize,
  type RoomRef,
  repeatable,
  Time,
} from '#shared/kit/primitives'
import { foundedBy } from '#shared/kit/room-kinds'
import { LocationChat, listedMessage, listedMessageOf, locationChatOf } from './location-chat.ts'
import { Content, cursor, draft, type Message } from './message.ts'
import { Description, Emoji, Member, Name, Room } from './room.ts'
import { RoomId } from './room-paths.ts'

const Latitude = z.number('a latitude is required').min(-90).max(90)
const Longitude = z.number('a longitude is required').min(-180).max(180)
/** Where somebody says they are. */
export const Position = z.strictObject({ latitude: Latitude, longitude: Longitude })
export type Position = z.infer<typeof Position>

/** What an operation that takes a position may be refused with beside the rate. */
const claimed = ['POSITION_NOT_PLAUSIBLE'] as const

/** The claimed locations of people. Browsers can be set to any location, so the server does not know the real one. */
export const places = {
  claim: operation({
    summary:
      'Say where you are, for rooms of places. It is taken as said, not as proved: refused is only what is said too often, or what nobody travels. Nobody else is told.',
    http: 'POST /api/location-chats/position',
    socket: '/rooms position:claim',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    errorBody: 'text',
    input: Position,
    output: z.object({
      success: z.literal(true),
      /** Until when it counts at gates. */
      counts_until: Time,
      /** When it is deleted, unless something else is said. */
      kept_until: Time,
    }),
    errors: claimed,
  }),
}

const Radius = z.number().int().min(50).max(50_000)
const PlaceId = z.string('placeId: an id').regex(/^[A-Za-z0-9_-]{1,300}$/, { error: 'placeId: an id of a map' })

const NewLocationRoom = z
  .object({
    ...repeatable,
    userAddress: CallerAddress,
    /** Of a map; without it the degrees are the id of the place. */
    placeId: PlaceId.optional(),
    placeName: Name.optional(),
    /** Of the place; without them it is where the caller is. */
    latitude: Latitude.optional(),
    longitude: Longitude.optional(),
    /** Where the caller says they are. */
    userLat: Latitude,
    userLng: Longitude,
    /** How near who joins must say they are, in metres. */
    radius: Radius.default(500),
    name: Name.optional(),
    description: Description.nullish(),
    emoji: Emoji.default('📍'),
  })
  .refine(({ latitude, longitude }) => (latitude === undefined) === (longitude === undefined), {
    error: 'latitude and longitude: both of them or none',
    path: ['latitude'],
  })

const asFounded = {
  schema: z.union([
    z.object({ chat: LocationChat, existing: z.literal(false), ipfs: z.null() }),
    z.object({ chat: LocationChat, existing: z.literal(true), message: z.string() }),
  ]),
  of: ({ room, existing }: { room: Room; existing: boolean }) => ({
    chat: locationChatOf(room),
    existing,
    ...(existing ? { message: 'This place has a room already' } : { ipfs: null }),
  }),
}

/** Of `rooms`: rooms for people who say they are at a place. */
export const locationRooms = {
  createLocationRoom: operation({
    summary:
      'Create the room of a place for people who say they are near it; the caller says they are within a mile of it, and becomes its owner. Where the place has a room, that is answered.',
    http: 'POST /api/rooms/location',
    socket: '/rooms location-room:create',
    aliases: [{ http: 'POST /api/location-chats', answer: asFounded, errorBody: 'text' }],
    access: 'user',
    limit: 'general',
    cost: 'judged',
    idempotency: onceByKey,
    input: NewLocationRoom,
    output: z.object({ room: Room, existing: z.boolean() }),
    errors: [...claimed, 'BLOCKED_WORD', 'TEXT_TOO_COMPLEX', 'MESSAGE_REJECTED'],
    audit: true,
  }),
  listLocationRooms: operation({
    summary:
      'Rooms of places, by members: all, those around a point, or that of one place. Every 100 rooms that are looked through cost as much as a call. A page with few rooms may have a next one.',
    http: 'GET /api/location-chats',
    socket: '/rooms location-room:list',
    access: 'public',
    limit: 'general',
    cost: { rooms: 100 },
    errorBody: 'text',
    input: z
      .object({
        userAddress: CallerAddress,
        lat: Latitude.optional(),
        lng: Longitude.optional(),
        /** In metres. */
        radius: z.number().min(1).max(100_000).default(5_000),
        placeId: z.string().min(1).max(300).optional(),
        limit: pageSize(50, 20),
        ...afterCursor,
      })
      .refine(({ lat, lng }) => (lat === undefined) === (lng === undefined), {
        error: 'lat and lng: both of them or none',
        path: ['lat'],
      }),
    output: z.object({ chats: z.array(LocationChat), count: z.number().int(), ...nextCursor }),
  }),
  locationRoom: operation({
    summary: 'The room of a place with its newest 50 members; they are shown to those who may read it.',
    http: 'GET /api/location-chats/:id',
    socket: '/rooms location-room:get',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ id: RoomId, userAddress: CallerAddress }),
    output: z.object({ chat: LocationChat, isMember: z.boolean(), members: z.array(Member) }),
    errors: ['ROOM_NOT_FOUND'],
  }),
}

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
