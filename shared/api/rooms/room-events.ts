import { z } from 'zod'
import { Rules } from '#shared/api/moderation/verdict'
import { event } from '#shared/kit/contract'
import { Time } from '#shared/kit/primitives'
import { LeanMessage, Message } from './message.ts'
import { Poll } from './polls.ts'
import { LeanPerson, MemberRole, Person, Room, RoomKey } from './room.ts'

const declared = <Data extends z.ZodType>(summary: string, data: Data) => ({ summary, data })
/** An event that clients show as a line between messages: a moderator's act, or a change of the room. */
const notice = <Data extends z.ZodType>(summary: string, data: Data) => ({ summary, data, isNotice: true as const })

/** One by which keys of a direct conversation change. */
const aboutKeys = <Data extends z.ZodType>(summary: string, data: Data) => ({
  summary,
  data,
  changesKeys: true as const,
})

const Name = z.object({ id: z.string(), name: z.string() })
const Permissions = z.record(z.string(), z.boolean())
const reason = z.string().nullable()
const seq = z.number().int()
const members_count = z.number().int()
const nothing = z.object({})

/** Every event of a room, with its data over all doors. Its record has its meaning on the server. */
export const roomEventTypes = {
  'message.created': declared(
    'Somebody sent a message; with a poll where it asks one.',
    z.object({ message: Message, poll: Poll.optional() }),
  ),
  'message.edited': declared('A message has another text.', z.object({ message: Message })),
  'message.deleted': declared(
    'A message was taken back.',
    z.object({ id: z.string(), deleted_by: z.string(), deleted_at: Time, reason }),
  ),
  'messages.purged': notice(
    'All messages of one person in a stretch of the room were taken back.',
    z.object({
      target: Name,
      from_seq: seq,
      to_seq: seq,
      count: z.number().int(),
      deleted_at: Time,
      reason,
    }),
  ),
  'message.pinned': declared(
    'A message was pinned.',
    z.object({ id: z.string(), pinned_by: z.string(), pinned_at: Time }),
  ),
  'message.unpinned': declared('A message is pinned no more.', z.object({ id: z.string() })),
  'reaction.changed': declared(
    'Somebody reacted to a message, or took that back. `counts` are those of all reactions to it.',
    z.object({ id: z.string(), emoji: z.string(), on: z.boolean(), counts: z.record(z.string(), z.number().int()) }),
  ),
  'poll.changed': declared(
    'A vote, or a change of the poll itself. Whose votes are your own is not told. `message` is the one that asks, where the question is another.',
    z.object({ poll: Poll, message: Message.optional() }),
  ),
  'poll.deleted': declared(
    'A poll was taken back, and its message with it.',
    z.object({ id: z.string(), message_id: z.string() }),
  ),
  'member.joined': declared('Somebody joined.', z.object({ member: Name.extend({ role: MemberRole }), members_count })),
  'member.left': declared('Somebody left.', z.object({ member: Name, members_count })),
  'member.removed': notice('Somebody was taken out of the room.', z.object({ member: Name, reason, members_count })),
  'role.changed': notice(
    'Somebody has another role or other permissions in the room.',
    z.object({ target: Name, role: z.string(), permissions: Permissions.nullable() }),
  ),
  'invitation.created': declared('Somebody made a link that invites; its moderators alone see it.', nothing),
  'invitation.revoked': declared('A link that invites was taken back.', nothing),
  'rules.updated': notice(
    'The rules of the room are others; `diff` holds what changed.',
    z.object({
      version: z.number().int(),
      diff: z.record(z.string(), z.unknown()),
      rules: Rules.extend({
        version: z.number().int(),
        updated_by: z.string().nullable(),
        updated_at: Time.nullable(),
      }),
    }),
  ),
  'words.updated': declared(
    'The blocked words of the room are others; they are told to its moderators alone.',
    nothing,
  ),
  'moderation.applied': notice(
    'Somebody was banned, muted or warned, or that was lifted.',
    z.object({
      action: z.string(),
      target: Name,
      until: Time.nullable(),
      reason,
      members_count: members_count.optional(),
    }),
  ),
  'room.updated': declared('The room has another name, description or picture.', z.object({ room: Room.partial() })),
  'room.topic_changed': notice('The room has another topic, or none.', z.object({ topic: Room.shape.topic })),
  'room.archived': notice('The room is archived: it can be read, and not be written to.', nothing),
  'epoch.started': aboutKeys(
    'Messages of a direct conversation are sealed by another key from here on; `device_ids` are the devices it was sealed to.',
    z.object({ epoch_id: z.string(), device_id: z.string(), device_ids: z.array(z.string()) }),
  ),
  'epoch.shared': aboutKeys(
    'The key of an epoch of a direct conversation was sealed to more devices.',
    z.object({ epoch_id: z.string(), device_id: z.string(), device_ids: z.array(z.string()) }),
  ),
  'block.changed': aboutKeys('One of the two of a direct conversation blocked or unblocked the other.', nothing),
} as const satisfies { readonly [type: string]: { summary: string; data: z.ZodType } }

/** Events of the room `global`, for all rooms; clients do not get them. */
export const globalEventTypes = {
  'account.suspended': declared('An account is suspended.', nothing),
  'account.unsuspended': declared('An account is suspended no more.', nothing),
  'account.role_changed': declared('An account has another role.', nothing),
  'sessions.ended': declared('Sessions of an account ended.', nothing),
  'friends.changed': declared('Somebody asked for a friendship, or accepted one.', nothing),
  'friends.ended': declared('A request or a friendship ended.', nothing),
  'blocks.changed': declared('Somebody blocked or unblocked somebody.', nothing),
  'queue.changed': declared('An item of the queue of moderators came, was claimed or was decided.', nothing),
} as const satisfies typeof roomEventTypes | { readonly [type: string]: { summary: string; data: z.ZodType } }

const declarations = { ...roomEventTypes, ...globalEventTypes }
export type RoomEventType = keyof typeof declarations
export type RoomEventData<T extends RoomEventType = RoomEventType> = z.infer<(typeof declarations)[T]['data']>

const placed = { room: RoomKey, epoch: z.string(), seq, at: Time, actor: Person }
type Placed = z.infer<z.ZodObject<typeof placed>>

/** One event in its place in the order of its room. */
type RoomEventOf<T extends RoomEventType> = Placed & { type: T; data: RoomEventData<T> }
export type RoomEvent = { [T in keyof typeof roomEventTypes]: RoomEventOf<T> }[keyof typeof roomEventTypes]
export type Notice = {
  [T in keyof typeof roomEventTypes]: (typeof roomEventTypes)[T] extends { isNotice: true } ? RoomEventOf<T> : never
}[keyof typeof roomEventTypes]

const known = Object.entries(roomEventTypes).map(([type, { summary, data }]) =>
  z.object({ ...placed, type: z.literal(type), data }).describe(summary),
)
/** One of a newer server. Clients pass over it and apply what follows. The documents say so in words: written as a schema, it would keep clients from telling the known ones apart. */
const unknown = z
  .object({
    ...placed,
    type: z.string().refine((type) => !Object.hasOwn(roomEventTypes, type)),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ isOfNewerServers: true })

/** Each event by the name that the documents give it. */
export const namedRoomEvents: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  Object.keys(roomEventTypes).map((type, at) => [eventName(type), known[at] as z.ZodType]),
)

/** `room.topic_changed` is `RoomTopicChangedEvent`. */
function eventName(type: string): string {
  return `${type.replace(/(?:^|[._])([a-z])/g, (_, first: string) => first.toUpperCase())}Event`
}

/** The one ordered envelope, live and in catch-up. Clients ignore types they do not know. */
export const RoomEvent = z
  .union([z.discriminatedUnion('type', known as [(typeof known)[number], ...typeof known]), unknown])
  .describe(
    'What happened in a room, in its place in the order. More types may come with newer servers: apply the seq of one that you do not know, and nothing else.',
  ) as unknown as z.ZodType<RoomEvent>

/**
 * The form of protocol 2. `room` is its key (`channel:<id>`), and `at` is in milliseconds if exact. `type` is left out for
 * `message.created`, an empty `data` and a missing `actor` too. `epoch` is left out if it equals the last one.
 */
export const LeanEvent = z.object({
  room: z.string(),
  epoch: z.string().optional(),
  seq,
  at: z.number().int().or(Time),
  type: z.string().optional(),
  actor: LeanPerson.optional(),
  data: z.looseObject({ message: LeanMessage.optional() }).optional(),
})
export type LeanEvent = z.infer<typeof LeanEvent>
const LeanEventIn = LeanEvent.omit({ room: true })
export type LeanEventIn = z.infer<typeof LeanEventIn>
export const LeanBatch = z.object({ room: z.string(), events: z.array(LeanEventIn) })
export type LeanBatch = z.infer<typeof LeanBatch>

export const roomEvent = event('/rooms room:event', {
  summary: 'Something happened in a room. Apply only the seq after the last one applied.',
  audience: 'room',
  payload: RoomEvent,
  lean: LeanEvent,
})
export const roomEventBatch = event('/rooms room:events', {
  summary: 'Several events of one room, in order, in one frame.',
  audience: 'room',
  payload: z.object({ room: RoomKey, events: z.array(RoomEvent) }),
  lean: LeanBatch,
})
export const messageEvents = { roomEvent, roomEventBatch }
