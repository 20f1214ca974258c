import { createHash, randomBytes } from 'node:crypto'
import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { isLeavingAccount } from '#server/domains/people/accounts/found'
import { profileOf, profilesOf } from '#server/domains/people/accounts/profiles'
import { actingRoom, keyOf } from '#server/domains/rooms/room-state/access'
import { invitationCreated, invitationRevoked } from '#server/domains/rooms/room-state/events/people'
import {
  banIn,
  type InvitationFact,
  invitationsIn,
  isInvitationOpen,
  roomIn,
} from '#server/domains/rooms/room-state/facts'
import { isKnownRoom } from '#server/domains/rooms/room-state/kinds'
import { becomeMember, type Pass } from '#server/domains/rooms/room-state/membership'
import { RoomFacts } from '#server/domains/rooms/room-state/model'
import { roomAnswer } from '#server/domains/rooms/room-state/rows'
import { actorOf, entryOf, isSuspended, type Standing, standingOf } from '#server/domains/rooms/room-state/standing'
import { type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import type { Judgement, RoomKey, View } from '#server/log/types'
import { invitations as contract, type Invitation } from '#shared/api/rooms/invitations'
import { AppError, type ErrorCode } from '#shared/errors'
import { linkTo } from '#shared/kit/pages'
import { done, roomOfKey } from '#shared/kit/primitives'
import { enterRoom } from './members.ts'

const openAtMost = 50
const tokenBytes = 32
/** Who is not signed in, for a judgement: member or moderator of nothing. */
const stranger = { account: '', name: '' }
const tries = { seconds: 60, byOne: 30, fromOneAddress: 300 }

export const invitations = defineDomain(contract, {
  async create({ room, max_uses, expires_in_seconds }, context) {
    const { account } = signedIn(context)
    const { node, creationId: invitation_id } = context
    const key = await keyOf(room)
    const actor = await actorOf(node, account)
    const token = randomBytes(tokenBytes).toString('base64url')
    const { body } = await node.log.act(key, {
      sender: account,
      makes: invitationCreated,
      judge(view, now) {
        const all = invitationsIn(view)
        const { room: here } = managedRoom(view, account, now)
        if (!here.is_active) return { refuse: new AppError('ROOM_ARCHIVED') }
        if (all.filter((one) => faultOf(view, one, now) === null).length >= openAtMost)
          return { refuse: new AppError('CONFLICT', { message: `A room has ${openAtMost} invitations at most` }) }
        const invitation: InvitationFact = {
          invitation_id,
          token_hash: hashOf(token),
          invited_by: account,
          created_at: new Date(now).toISOString(),
          expires_at: new Date(now + expires_in_seconds * 1000).toISOString(),
          max_uses,
          uses: 0,
          revoked_at: null,
        }
        return { accept: entryOf(view, actor, invitationCreated, { invitation }) }
      },
    })
    return {
      invitation: invitationOutput(key, body.invitation),
      token,
      url: node.settings.publicUrl + linkTo('invitation', { token }),
    }
  },

  async list({ room }, { node, caller }) {
    const key = await keyOf(room)
    const open = await node.log.ask(key, (view, now) => {
      const all = invitationsIn(view)
      managedRoom(view, caller.account ?? '', now)
      return all.filter((one) => faultOf(view, one, now) === null)
    })
    return { invitations: open.map((one) => invitationOutput(key, one)).reverse() }
  },

  async revoke({ room, id }, context) {
    const { account } = signedIn(context)
    const key = await keyOf(room)
    const actor = await actorOf(context.node, account)
    await context.node.log.act(key, {
      sender: account,
      makes: invitationRevoked,
      judge(view, now) {
        const known = invitationsIn(view).find(({ invitation_id }) => invitation_id === id)
        managedRoom(view, account, now)
        if (!known) return { refuse: new AppError('NOT_FOUND', { message: 'Invitation not found' }) }
        if (known.revoked_at !== null) return { already: null }
        return { accept: entryOf(view, actor, invitationRevoked, { id, at: new Date(now).toISOString() }) }
      },
    })
    return done
  },

  async read({ token }, context) {
    const { account } = context.caller
    const { key, judge } = await findInvitation(context, account, token)
    const { room, invitation, is_member } = await context.node.log.ask(key, (view, now) => {
      // Judges the invitation for the caller, as if the displayed gate were passed.
      const { judgement, invitation } = judge(view, now, { room: key, account: account ?? stranger.account })
      if ('refuse' in judgement) throw judgement.refuse
      return { room: roomIn(view), invitation, is_member: 'already' in judgement }
    })
    if (!room || !invitation) throw new AppError('INVITATION_NOT_FOUND')
    const { type, id } = roomOfKey(key)
    const { name, emoji, icon_url, member_count, gate } = room
    const inviter = invitation.invited_by
    const profile = (await profilesOf(context.node, [inviter])).get(inviter) ?? profileOf({ _id: inviter })
    return {
      room: { type, id, name, emoji, icon_url, member_count, gate },
      invited_by: { id: inviter, name: profile.name },
      expires_at: invitation.expires_at,
      is_member,
    }
  },

  async accept({ token }, context) {
    const { account } = signedIn(context)
    const { key, judge } = await findInvitation(context, account, token)
    await enterRoom(context.node, key, { who: account, judge: (view, now, pass) => judge(view, now, pass).judgement })
    return { room: await roomAnswer(context.node, key, account) }
  },
})

/** The right to invite, which is also the right to change read access. */
const mayInvite = ({ isModerator, canManageMods }: Standing): boolean => isModerator && canManageMods

function managedRoom(view: View, account: string, now: number) {
  const acting = actingRoom(view, account, now)
  if (!mayInvite(acting.standing))
    throw new AppError('FORBIDDEN', { message: 'Only those who manage the room may invite by link' })
  return acting
}

const invitationOutput = (key: RoomKey, fact: InvitationFact): Invitation => {
  const { invitation_id: id, token_hash: _, revoked_at: __, ...rest } = fact
  return { id, room: roomOfKey(key), ...rest }
}

const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url')

interface FoundInvitation {
  key: RoomKey
  judge(view: View, now: number, pass: Pass | null): { judgement: Judgement<null>; invitation: InvitationFact | null }
}

/** The invitation of a token, and its judgement for this caller. Each call counts as an attempt. */
async function findInvitation(context: Context, account: string | null, token: string): Promise<FoundInvitation> {
  const { ip } = context.caller
  const { limits } = context.node
  const allowed =
    (account === null || (await limits.guard('invitations-by', account, tries.byOne, tries.seconds))) &&
    (await limits.guard('invitations-from', ip, tries.fromOneAddress, tries.seconds))
  if (!allowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: tries.seconds })
  const token_hash = hashOf(token)
  const stored = await RoomFacts.findOne({ 'value.token_hash': token_hash }, { room: 1, value: 1 }).lean()
  const its = (stored?.value as InvitationFact[] | undefined)?.find((one) => one.token_hash === token_hash)
  if (!stored || !its || !isKnownRoom(stored.room)) throw new AppError('INVITATION_NOT_FOUND')
  const [actor, isBlocked, isLeaving] = await Promise.all([
    account === null ? stranger : actorOf(context.node, account),
    account !== null && areBlocked(account, its.invited_by),
    isLeavingAccount(its.invited_by),
  ])
  return {
    key: stored.room,
    judge(view, now, pass) {
      const invitation = invitationsIn(view).find((one) => one.token_hash === token_hash) ?? null
      const isHidden = isLeaving && 'INVITATION_REVOKED'
      const fault = invitation ? isHidden || faultOf(view, invitation, now) : ('INVITATION_NOT_FOUND' as const)
      const uses = { id: invitation?.invitation_id ?? '', uses: (invitation?.uses ?? 0) + 1 }
      const joined = becomeMember(view, now, actor, { invited: true, invitation: uses, pass })
      // A staff room is hidden from others, even with a link.
      if ('refuse' in joined && joined.refuse.code === 'ROOM_NOT_FOUND')
        return { judgement: { refuse: new AppError('INVITATION_NOT_FOUND') }, invitation }
      return { judgement: 'accept' in joined ? refuseFaulty(joined, fault, isBlocked) : joined, invitation }
    },
  }
}

function refuseFaulty(joined: Judgement<null>, fault: ErrorCode | null, isBlocked: boolean): Judgement<null> {
  if (fault !== null) return { refuse: new AppError(fault) }
  if (isBlocked)
    return { refuse: new AppError('BLOCKED', { message: 'You cannot accept an invitation of this person' }) }
  return joined
}

/** The reason why an invitation is invalid; it is revoked if its creator may no longer invite. */
function faultOf(view: View, invitation: InvitationFact, now: number): ErrorCode | null {
  const { invited_by, revoked_at, expires_at } = invitation
  const standing = standingOf(view, invited_by)
  const isOut = banIn(view, invited_by, now) !== null || isSuspended(view, invited_by) || !mayInvite(standing)
  if (revoked_at !== null || isOut) return 'INVITATION_REVOKED'
  if (isInvitationOpen(invitation, now)) return null
  return Date.parse(expires_at) <= now ? 'INVITATION_EXPIRED' : 'INVITATION_USED_UP'
}
