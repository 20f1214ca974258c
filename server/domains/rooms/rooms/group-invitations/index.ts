import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { actorOf } from '#server/domains/rooms/room-state/entries'
import { becomeMember } from '#server/domains/rooms/room-state/membership'
import { roomAnswer } from '#server/domains/rooms/room-state/rows'
import { ranks, standingOf } from '#server/domains/rooms/room-state/standing'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { groupInvitations as contract } from '#shared/api/group-invitations'
import { AppError, type ErrorCode } from '#shared/errors'
import { done, roomKey } from '#shared/kit/primitives'
import { enter } from '../gating.ts'
import { idOf } from './asking.ts'
import { end, hearEnds, takeBackAnswered, undecided } from './ending.ts'
import { endWithGround, mayBringIn } from './grounds.ts'
import { type GroupInvitationRow, GroupInvitations } from './model.ts'
import { waitingFor } from './rows.ts'

export const groupInvitations = defineDomain(
  contract,
  {
    async list({ limit, before }, context) {
      const { invitations, next } = await waitingFor(context.node, signedIn(context).account, limit, before)
      return { invitations, has_more: next !== null, next }
    },

    async accept({ id }, context) {
      const { account } = signedIn(context)
      const { node } = context
      const invitation = await accepting(node, account, id)
      const { room, inviter_address } = invitation
      if (await areBlocked(account, inviter_address)) {
        await end(node, invitation, 'ended')
        throw unknown()
      }
      const actor = await actorOf(node, account)
      await enter(node, room, {
        who: account,
        judge(view, now, pass) {
          const joined = becomeMember(view, now, actor, { invited: true, pass })
          const isOpen = invitation.status === 'pending' && now <= Date.parse(invitation.accepting_until ?? '')
          if ('accept' in joined && (!isOpen || !mayBringIn(view, inviter_address, now)))
            return { refuse: new AppError('INVITATION_REVOKED') }
          return joined
        },
      }).catch(async (error: unknown) => {
        if (error instanceof AppError && final.has(error.code)) await end(node, invitation, 'ended')
        throw error
      })
      await end(node, invitation, 'accepted')
      return { ...done, group: await roomAnswer(node, room, account) }
    },

    async decline({ id }, context) {
      const { account } = signedIn(context)
      const invitation = await invitationTo(account, id, ['pending', 'declined'])
      const isDeclined = invitation.status === 'declined'
      if (!isDeclined && !(await end(context.node, invitation, 'declined', undecided(context.node.now()))))
        await invitationTo(account, id, ['declined'])
      return done
    },

    async withdraw({ id, address }, context) {
      const { account } = signedIn(context)
      const { node } = context
      const key = roomKey({ type: 'group', id })
      const isAdmin = await node.log.ask(key, (view) => standingOf(view, account).rank >= ranks.admin)
      const theirs = { _id: idOf(key, address), ...(isAdmin ? {} : { inviter_address: account }) }
      const invitation = await GroupInvitations.findOne(theirs).lean<GroupInvitationRow>()
      const status = invitation?.status === 'unsent' ? 'unsent' : 'pending'
      const isTaken =
        invitation !== null &&
        ((await end(node, invitation, 'withdrawn', undecided(node.now(), status))) ||
          (await takeBackAnswered(invitation)))
      if (!isTaken) throw unknown()
      return done
    },
  },
  { start: (node) => [hearEnds(node), endWithGround(node)] },
)

const unknown = () => new AppError('NOT_FOUND', { message: 'Invitation not found, or answered already' })

/** These errors end an invitation, because it can never be valid again. */
const final: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['BANNED', 'ROOM_ARCHIVED', 'INVITATION_REVOKED'])

/** Longer than the log's answer. If the process dies, the invitation is open again afterwards. */
const acceptingMilliseconds = 30_000

/**
 * Reserves the invitation, so that it is neither declined nor withdrawn meanwhile. An ended one is returned unchanged.
 */
async function accepting(node: Node, account: string, id: string): Promise<GroupInvitationRow> {
  const until = new Date(node.now() + acceptingMilliseconds).toISOString()
  const taken = await GroupInvitations.findOneAndUpdate(
    { invitation_id: id, invitee_address: account, status: 'pending' },
    { $set: { accepting_until: until } },
    { returnDocument: 'after' },
  ).lean<GroupInvitationRow>()
  return taken ?? invitationTo(account, id, ['accepted', 'ended'])
}

/** This account's invitation of this id in one of these states; other people's are not found. */
async function invitationTo(
  account: string,
  id: string,
  states: readonly GroupInvitationRow['status'][],
): Promise<GroupInvitationRow> {
  const mine = { invitation_id: id, invitee_address: account, status: { $in: states } }
  const found = await GroupInvitations.findOne(mine).lean<GroupInvitationRow>()
  if (!found) throw unknown()
  return found
}
