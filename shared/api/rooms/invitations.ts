import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { count, Done, Id, Link, onceByKey, RoomRef, repeatable, Time, text } from '#shared/kit/primitives'
import { gated } from './gates.ts'
import { Person, Room, RoomKey } from './room.ts'

const room = RoomRef
const daySeconds = 86_400

export const Invitation = z.object({
  id: z.string(),
  room: RoomKey,
  invited_by: z.string(),
  created_at: Time,
  expires_at: Time,
  max_uses: z.number().int(),
  uses: z.number().int(),
})
export type Invitation = z.infer<typeof Invitation>

/** Whatever is pasted for a token; what is none is not known. */
const Token = text(200).min(1)

const managed = ['ROOM_NOT_FOUND', 'BANNED'] as const
const refused = [
  'INVITATION_NOT_FOUND',
  'INVITATION_EXPIRED',
  'INVITATION_USED_UP',
  'INVITATION_REVOKED',
  'ROOM_ARCHIVED',
  'BANNED',
  'BLOCKED',
] as const

export const invitations = {
  create: operation({
    summary:
      'Make a link that lets people into a room. Its owner, admins, and moderators who may manage it may. The token is shown once.',
    http: 'POST /api/rooms/{room}/invitations',
    socket: '/rooms invitation:create',
    access: 'user',
    limit: 'strict',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({
      ...repeatable,
      room,
      max_uses: count(1, 1_000).default(10),
      expires_in_seconds: count(60, 30 * daySeconds).default(7 * daySeconds),
    }),
    output: z.object({ invitation: Invitation, token: z.string(), url: Link }),
    errors: [...managed, 'ROOM_ARCHIVED'],
    audit: true,
  }),
  list: operation({
    summary: 'The invitations of a room that can be used now, newest first, without their tokens.',
    http: 'GET /api/rooms/{room}/invitations',
    socket: '/rooms invitation:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ room }),
    output: z.object({ invitations: z.array(Invitation) }),
    errors: [...managed, 'SUSPENDED'],
  }),
  revoke: operation({
    summary: 'Take an invitation back. Nothing happens where it was taken back already.',
    http: 'DELETE /api/rooms/{room}/invitations/:id',
    socket: '/rooms invitation:revoke',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ room, id: Id }),
    output: Done,
    errors: [...managed, 'NOT_FOUND'],
    audit: true,
  }),
  read: operation({
    summary:
      'Whereto an invitation leads, and who invites. Refused as accepting it would be, but for the gate of the room. Strangers may ask before they sign in.',
    http: 'GET /api/invitations/:token',
    socket: '/rooms invitation:read',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ token: Token }),
    output: z.object({
      room: Room.pick({ type: true, name: true, emoji: true, icon_url: true, member_count: true, gate: true }).extend({
        id: z.string().nullable(),
      }),
      invited_by: Person.pick({ id: true, name: true }),
      expires_at: Time,
      is_member: z.boolean(),
    }),
    errors: [...refused, 'SUSPENDED'],
  }),
  accept: operation({
    summary: 'Join by an invitation. It is used up by one for each who comes in; nothing happens to who is in already.',
    http: 'POST /api/invitations/:token/accept',
    socket: '/rooms invitation:accept',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({ ...repeatable, token: Token }),
    output: z.object({ room: Room }),
    errors: [...refused, ...gated],
    audit: true,
  }),
}
