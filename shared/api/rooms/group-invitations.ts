import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import { Address, CallerAddress, Cursor, Done, Id, pageSize, Time } from '#shared/kit/primitives'
import { Room } from './room.ts'
import { RoomId } from './room-paths.ts'

/** An invitation of one person to one group, which waits until they answer. */
export const GroupInvitation = z.object({
  id: z.string(),
  group_id: z.string(),
  group_name: z.string(),
  group_emoji: z.string(),
  member_count: z.number().int(),
  inviter_address: z.string(),
  inviter_name: z.string(),
  invitee_address: z.string(),
  status: z.enum(['pending', 'accepted', 'declined']),
  created_at: Time,
  responded_at: Time.nullable(),
})
export type GroupInvitation = z.infer<typeof GroupInvitation>

const Answered = z.object({ userAddress: CallerAddress, id: Id })

export const groupInvitations = {
  list: operation({
    summary:
      'The groups that the caller is invited to and has not answered, newest first. `next` continues as `before`; it is null at the end.',
    http: 'GET /api/groups/invitations',
    socket: '/rooms group-invitation:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ userAddress: CallerAddress, limit: pageSize(100), before: Cursor.optional() }),
    output: z.object({ invitations: z.array(GroupInvitation), has_more: z.boolean(), next: z.string().nullable() }),
  }),
  accept: operation({
    summary: 'Join a group by an invitation to the caller. Nothing happens to who is in already.',
    http: 'POST /api/groups/invitations/:id/accept',
    socket: '/rooms group-invitation:accept',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    errorBody: 'text',
    input: Answered,
    output: z.object({ success: z.literal(true), group: Room }),
    errors: ['NOT_FOUND', 'ROOM_ARCHIVED', 'BANNED', 'INVITATION_REVOKED'],
    audit: true,
  }),
  decline: operation({
    summary:
      'Decline an invitation to the caller. The same group, and who invited, can invite them again after 30 days.',
    http: 'POST /api/groups/invitations/:id/decline',
    socket: '/rooms group-invitation:decline',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'withdraws',
    repeat: 'harmless',
    errorBody: 'text',
    input: Answered,
    output: Done,
    errors: ['NOT_FOUND'],
  }),
  withdraw: operation({
    summary: 'Take back an invitation to a group that has not been answered. Its admin may, and who invited.',
    http: 'DELETE /api/groups/:id/invitations/:address',
    socket: '/rooms group-invitation:withdraw',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'withdraws',
    errorBody: 'text',
    input: z.object({ id: RoomId, address: Address }),
    output: Done,
    errors: ['NOT_FOUND'],
  }),
}

export const groupInvited = event('/notifications group:invited', {
  summary: 'You are invited to a group.',
  audience: 'account',
  payload: z.object({ invitation: GroupInvitation }),
})
export const groupInvitationEnded = event('/notifications group:invitation-ended', {
  summary:
    'An invitation to you waits no more: you answered it on some device, are in, or it was withdrawn or can be accepted no longer.',
  audience: 'account',
  payload: z.object({ invitation: GroupInvitation.pick({ id: true, group_id: true }) }),
})
export const groupInvitationEvents = { groupInvited, groupInvitationEnded }
