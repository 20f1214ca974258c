import { areBlocked, blockedAmong } from '#server/domains/blocks/blocks'
import { actorOf } from '#server/domains/room-state/entries'
import { becomeMember } from '#server/domains/room-state/membership'
import { roomAnswer } from '#server/domains/room-state/rows'
import { ranks, standingOf } from '#server/domains/room-state/standing'
import { audiences, type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { groupInvitations as contract, groupInvitationEnded } from '#shared/api/group-invitations'
import { AppError } from '#shared/errors'
import { done, roomKey } from '#shared/kit/primitives'
import { roomOfKey } from '#shared/kit/room-key'
import { enter } from '../gating.ts'
import { idOf } from './asking.ts'
import { type GroupInvitationRow, GroupInvitations } from './model.ts'
import { shownAll } from './rows.ts'

const listedAtMost = 100

export const groupInvitations = defineDomain(contract, {
  async list(_input, context) {
    const { account } = signedIn(context)
    const rows = await GroupInvitations.find({ invitee_address: account, status: 'pending' })
      .sort({ created_at: -1 })
      .limit(listedAtMost)
      .lean<GroupInvitationRow[]>()
    const inviters = rows.map(({ inviter_address }) => inviter_address)
    const blocked = await blockedAmong(account, inviters)
    const open = rows.filter(({ inviter_address }) => !blocked.has(inviter_address))
    return { invitations: await shownAll(context.node, open) }
  },

  async accept({ id }, context) {
    const { account } = signedIn(context)
    const { node } = context
    const invitation = await invitationTo(account, id, ['pending', 'accepted'])
    const { room, inviter_address } = invitation
    if (await areBlocked(account, inviter_address)) throw unknown()
    const actor = await actorOf(node, account)
    await enter(node, room, {
      who: account,
      judge(view, now, pass) {
        const inviter = standingOf(view, inviter_address)
        const joined = becomeMember(view, now, actor, { invited: true, pass })
        if ('accept' in joined && (invitation.status !== 'pending' || inviter.rank < ranks.admin))
          return { refuse: new AppError('INVITATION_REVOKED') }
        return joined
      },
    })
    await answer(context, invitation, 'accepted')
    return { ...done, group: await roomAnswer(node, room, account) }
  },

  async decline({ id }, context) {
    const invitation = await invitationTo(signedIn(context).account, id, ['pending', 'declined'])
    await answer(context, invitation, 'declined')
    return done
  },

  async withdraw({ id, address }, context) {
    const { account } = signedIn(context)
    const key = roomKey({ type: 'group', id })
    const isAdmin = await context.node.log.ask(key, (view) => standingOf(view, account).rank >= ranks.admin)
    const withdrawn = await GroupInvitations.findOneAndDelete({
      _id: idOf(key, address),
      status: 'pending',
      ...(isAdmin ? {} : { inviter_address: account }),
    }).lean<GroupInvitationRow>()
    if (!withdrawn) throw unknown()
    tellEnd(context, withdrawn)
    return done
  },
})

const unknown = () => new AppError('NOT_FOUND', { message: 'Invitation not found, or answered already' })

/** The invitation of this id to this account, in one of these states; nobody else's is found. */
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

async function answer(
  context: Context,
  invitation: GroupInvitationRow,
  status: 'accepted' | 'declined',
): Promise<void> {
  const { _id, invitation_id } = invitation
  const responded_at = new Date(context.node.now()).toISOString()
  const pending = { _id, invitation_id, status: 'pending' } as const
  const { modifiedCount } = await GroupInvitations.updateOne(pending, { $set: { status, responded_at } })
  if (modifiedCount === 1) tellEnd(context, invitation)
}

const tellEnd = (context: Context, { invitation_id, room, invitee_address }: GroupInvitationRow): void =>
  context.emit(groupInvitationEnded, audiences.account(invitee_address), {
    invitation: { id: invitation_id, group_id: roomOfKey(room).id ?? '' },
  })
