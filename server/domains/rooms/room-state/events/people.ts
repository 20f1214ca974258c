import { z } from 'zod'
import {
  defineEvent,
  patchFact,
  patchList,
  setFact,
  type TargetNotice,
  targetOf,
  unnamedPerson,
} from '#server/domains/rooms/events/define'
import {
  BanFact,
  type CurrentEpochFact,
  InvitationFact,
  isInvitationOpen,
  keys,
  MemberFact,
  ModeratorFact,
  MuteFact,
  type RoomFact,
} from '../facts.ts'
import { personOf } from '../rendered.ts'
import { changeInvitations, lostRights, memberCount, memberGone, rightsLost } from './changes.ts'

const leavingBody = z.object({ member_count: z.number(), ...lostRights })

export const memberJoined = defineEvent('member.joined', {
  body: z.object({
    member: MemberFact,
    member_count: z.number(),
    invitation: z.object({ id: z.string(), uses: z.number() }).optional(),
  }),
  changes: (_row, { member, member_count, invitation }) => [
    setFact(keys.member(member.user_address), member),
    ...memberCount(member_count),
    ...(invitation
      ? [changeInvitations(({ invitation_id }) => invitation_id === invitation.id, { uses: invitation.uses })]
      : []),
  ],
  data: (row, body) => ({
    member: { ...targetOf(row, body), role: body.member.role },
    members_count: body.member_count,
  }),
  admits: ({ target, sender }) => target ?? sender,
})

export const memberLeft = defineEvent('member.left', {
  body: leavingBody,
  changes: (row, body) => memberGone(row, row.sender, body),
  data: ({ sender }, { actor, member_count }) => ({
    member: { id: sender, name: personOf(sender, actor).name },
    members_count: member_count,
  }),
  holdsEverywhere: true,
  removes: ({ sender }) => sender,
})

export const memberRemoved = defineEvent('member.removed', {
  body: leavingBody,
  changes: (row, body) => memberGone(row, row.target ?? '', body),
  data: (row, body) => ({ member: targetOf(row, body), reason: row.reason, members_count: body.member_count }),
  hidden: { member: unnamedPerson, reason: null },
  entry: { action: () => 'kick' },
  holdsEverywhere: true,
  removes: ({ target }) => target,
  notice: () => 'removed',
})

const ownedBy = (owner_address: string) => patchFact<RoomFact>(keys.room, (room) => ({ ...room, owner_address }))

export const roleChanged = defineEvent('role.changed', {
  body: z.object({
    role: z.string().optional(),
    member: MemberFact.optional(),
    permissions: z.record(z.string(), z.boolean()).nullable(),
    removed: ModeratorFact.optional(),
    ...lostRights,
  }),
  changes: (row, body) => [
    ...(body.member ? [setFact(keys.member(row.target ?? ''), body.member)] : []),
    ...(body.member?.role === 'owner' ? [ownedBy(body.member.user_address)] : []),
    ...rightsLost(row, row.target ?? '', body),
  ],
  data: (row, body) => {
    const { role, moderator, permissions } = body
    return { target: targetOf(row, body), role: role ?? (moderator ? 'moderator' : 'member'), permissions }
  },
  entry: {
    action: ({ moderator }) => (moderator === undefined ? 'set_role' : moderator ? 'promote_mod' : 'demote_mod'),
    metadata: (_row, { role, permissions }) => ({ role: role ?? null, permissions }),
  },
  holdsEverywhere: true,
  changesRights: 'of the target',
})

const targetNotices = {
  ban: 'banned',
  unban: 'unbanned',
  mute: 'muted',
  unmute: 'unmuted',
  warn: 'warned',
} as const satisfies Record<string, TargetNotice>
const Applied = z.enum(Object.keys(targetNotices) as (keyof typeof targetNotices)[])

export const moderationApplied = defineEvent('moderation.applied', {
  body: z.object({
    action: Applied,
    /** The ban or mute that was set or lifted. */
    ban: BanFact.optional(),
    mute: MuteFact.optional(),
    duration: z.string().optional(),
    member_count: z.number().optional(),
    ...lostRights,
  }),
  changes: (row, { action, ban, mute, ...body }) => {
    const account = row.target ?? ''
    if (action === 'ban' && ban) return [setFact(keys.ban(account), ban), ...memberGone(row, account, body)]
    if (action === 'unban') return [setFact(keys.ban(account), null)]
    if (action === 'mute' && mute) return [setFact(keys.mute(account), mute)]
    return action === 'unmute' ? [setFact(keys.mute(account), null)] : []
  },
  data: (row, body) => {
    const { action, member_count } = body
    return {
      action,
      target: targetOf(row, body),
      until: row.until === null ? null : new Date(row.until).toISOString(),
      reason: row.reason,
      ...(member_count === undefined ? {} : { members_count: member_count }),
    }
  },
  hidden: { target: unnamedPerson, until: null, reason: null },
  entry: {
    action: ({ action }) => (action === 'ban' || action === 'unban' ? `room_${action}` : action),
    metadata: ({ until }, { action, duration }) => {
      const end = until === null ? null : new Date(until).toISOString()
      if (action === 'mute') return { duration, muted_until: end }
      return action === 'ban' ? { duration, banned_until: end } : {}
    },
  },
  holdsEverywhere: true,
  changesRights: 'of the target',
  removes: ({ target }, { action }) => (action === 'ban' ? target : null),
  notice: ({ action }) => targetNotices[action] ?? null,
})

export const blockChanged = defineEvent('block.changed', {
  body: z.object({ blocker: z.string(), on: z.boolean() }),
  changes: (_row, { blocker, on }) => [
    {
      key: keys.blocks,
      patch: (before) => [...((before ?? []) as string[]).filter((one) => one !== blocker), ...(on ? [blocker] : [])],
    },
    patchFact<CurrentEpochFact>(keys.currentEpoch, (epoch) => ({ ...epoch, is_over: true })),
  ],
  data: () => ({}),
  holdsEverywhere: true,
  isUnsigned: () => true,
})

/** The number of ended invitations that are kept to explain their refusal. */
const maxDeadInvitations = 50

export const invitationCreated = defineEvent('invitation.created', {
  body: z.object({ invitation: InvitationFact }),
  changes: ({ at }, { invitation }) => [
    patchList<InvitationFact>(keys.invitations, (all) => {
      const others = all.filter(({ invitation_id }) => invitation_id !== invitation.invitation_id)
      const dead = others.filter((one) => !isInvitationOpen(one, at)).slice(-maxDeadInvitations)
      return [...dead, ...others.filter((one) => isInvitationOpen(one, at)), invitation]
    }),
  ],
  data: () => ({}),
  entry: {
    action: () => 'invite',
    metadata: (_row, { invitation: { invitation_id, expires_at, max_uses } }) => ({
      invitation_id,
      expires_at,
      max_uses,
    }),
  },
  isUnsigned: () => true,
})

export const invitationRevoked = defineEvent('invitation.revoked', {
  body: z.object({ id: z.string(), at: z.string() }),
  changes: (_row, { id, at }) => [changeInvitations(({ invitation_id }) => invitation_id === id, { revoked_at: at })],
  data: () => ({}),
  entry: { action: () => 'uninvite', metadata: (_row, { id }) => ({ invitation_id: id }) },
  isUnsigned: () => true,
})
