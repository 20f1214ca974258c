import { z } from 'zod'
import { RoomKey } from '#shared/api/rooms/room'
import { roomEventTypes } from '#shared/api/rooms/room-events'
import { operation } from '#shared/kit/contract'
import {
  afterCursor,
  Done,
  Id,
  Link,
  line,
  nextCursor,
  onceByKey,
  pageSize,
  RoomRef,
  repeatable,
  Time,
} from '#shared/kit/primitives'

/** What a webhook may ask for: the types of events that rooms tell. */
const EventType = z.enum(Object.keys(roomEventTypes) as [keyof typeof roomEventTypes])

/** Why nothing is sent any more, until its maker enables it again. */
export const stopReasons = [
  /** By its maker. */
  'PAUSED',
  /** The receiver answered 410. */
  'GONE',
  /** Nothing was taken for five days. */
  'FAILING',
  /** Its maker is no owner or admin of a room any more, or suspended. */
  'RIGHT_LOST',
] as const

export const Webhook = z.object({
  id: z.string(),
  url: Link,
  description: z.string().nullable(),
  rooms: z.array(RoomKey),
  /** Types of events; null for all. */
  kinds: z.array(z.string()).nullable(),
  enabled: z.boolean(),
  /** Null while it is enabled; `room` is where the right was lost. */
  stopped: z.object({ reason: z.enum(stopReasons), room: RoomKey.nullable(), at: Time }).nullable(),
  /** The first attempt that failed since one was taken. */
  failing_since: Time.nullable(),
  /** Until then each delivery is signed with the secret of before as well. */
  previous_secret_until: Time.nullable(),
  created_at: Time,
  updated_at: Time,
})
export type Webhook = z.infer<typeof Webhook>

/** What came of one attempt. */
export const Attempt = z.object({
  /** Null where nothing was answered. */
  status: z.number().int().nullable(),
  milliseconds: z.number().int(),
  /** Null where it was taken: a status of 2xx. */
  error: z.string().nullable(),
})

/**
 * `retrying`: the next attempt comes. `held`: it comes when the webhook is enabled again, which is paused or was stopped. `dead`: given up
 * after a day. `replaying`: is sent once more, as asked for.
 */
export const deliveryStates = ['delivered', 'retrying', 'held', 'dead', 'replaying'] as const

/** One event, and how far it is. */
export const Delivery = Attempt.extend({
  /** Of the event, and the header `webhook-id`. */
  id: z.string(),
  room: RoomKey,
  seq: z.number().int(),
  type: z.string(),
  state: z.enum(deliveryStates),
  attempts: z.number().int(),
  /** Of the last attempt. */
  at: Time,
  next_at: Time.nullable(),
})
export type Delivery = z.infer<typeof Delivery>

const fields = {
  /** https, at port 443 or 8443 of a host of the public internet. */
  url: z.string().min(1).max(2_048).meta({ format: 'uri' }),
  rooms: z.array(RoomRef).min(1).max(20),
  /** Null for all. */
  kinds: z.array(EventType).min(1).max(50).nullable(),
  description: line(1, 200).nullable(),
}
/** Shown in the answer that makes it, and never again. */
const secret = z.string()
const hook = z.object({ webhook: Webhook })
const refused = ['ROOM_NOT_FOUND', 'BANNED'] as const

/** Events of rooms, sent to a server of somebody who owns or administers them. */
export const webhooks = {
  create: operation({
    summary: 'Have the events of rooms sent to a URL from now on. Owners and admins of all of them may.',
    http: 'POST /api/webhooks',
    socket: '/rooms webhook:create',
    access: 'user',
    limit: 'strict',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({
      ...repeatable,
      url: fields.url,
      rooms: fields.rooms,
      kinds: fields.kinds.default(null),
      description: fields.description.default(null),
    }),
    output: hook.extend({ secret }),
    errors: refused,
    audit: true,
  }),
  list: operation({
    summary: 'The webhooks that the caller has made, oldest first, without their secrets.',
    http: 'GET /api/webhooks',
    socket: '/rooms webhook:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({}),
    output: z.object({ webhooks: z.array(Webhook) }),
  }),
  read: operation({
    summary: 'One of them.',
    http: 'GET /api/webhooks/:id',
    socket: '/rooms webhook:read',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id }),
    output: hook,
    errors: ['NOT_FOUND'],
  }),
  update: operation({
    summary:
      'Change a webhook, pause it (`enabled: false`) or go on where it stopped (`true`); what is left out stays. A room that is new begins with its next event.',
    http: 'PATCH /api/webhooks/:id',
    socket: '/rooms webhook:update',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id, ...z.object(fields).partial().shape, enabled: z.boolean().optional() }),
    output: hook,
    errors: [...refused, 'NOT_FOUND'],
    audit: true,
  }),
  remove: operation({
    summary: 'Remove a webhook: nothing is sent any more.',
    http: 'DELETE /api/webhooks/:id',
    socket: '/rooms webhook:remove',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'withdraws',
    input: z.object({ id: Id }),
    output: Done,
    errors: ['NOT_FOUND'],
    audit: true,
  }),
  rotate: operation({
    summary: 'Make another secret, shown this once. Deliveries are signed with both for 24 hours.',
    http: 'POST /api/webhooks/:id/secret',
    socket: '/rooms webhook:rotate',
    access: 'user',
    limit: 'strict',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({ ...repeatable, id: Id }),
    output: hook.extend({ secret }),
    errors: ['NOT_FOUND'],
    audit: true,
  }),
  test: operation({
    summary: 'Send a signed `webhook.ping` now, also where the webhook is paused, and tell what came of it.',
    http: 'POST /api/webhooks/:id/test',
    socket: '/rooms webhook:test',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ id: Id }),
    output: z.object({ attempt: Attempt }),
    errors: ['NOT_FOUND'],
    audit: true,
  }),
  deliveries: operation({
    summary:
      'What was sent and what came of it, last attempts first. Those that were taken are known for 3 days, the others for 30.',
    http: 'GET /api/webhooks/:id/deliveries',
    socket: '/rooms webhook:deliveries',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id, state: z.enum(deliveryStates).optional(), limit: pageSize(100, 50), ...afterCursor }),
    output: z.object({ deliveries: z.array(Delivery), ...nextCursor }),
    errors: ['NOT_FOUND'],
  }),
  replay: operation({
    summary: 'Send one delivery once more, or every dead one; beside the order of its room, and once.',
    http: 'POST /api/webhooks/:id/replay',
    socket: '/rooms webhook:replay',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ id: Id, delivery: Id.optional() }),
    output: z.object({ replaying: z.number().int() }),
    errors: ['NOT_FOUND'],
    audit: true,
  }),
}
