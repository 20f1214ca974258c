import { z } from 'zod'
import { notifyInvitationEnded } from '#server/domains/rooms/room-state/invitation-events'
import { audiences, type Node } from '#server/kernel/context'
import { definePeerMessage } from '#server/kernel/peer-message'
import { groupInvitationEnded } from '#shared/api/rooms/group-invitations'
import { roomOfKey } from '#shared/kit/room-key'
import { type GroupInvitationRow, GroupInvitations } from './model.ts'

/** The reason for an invitation's end. */
type EndStatus = Exclude<GroupInvitationRow['status'], 'pending'>

/** Pending invitations without an acceptance in progress. */
export const undecidedFilter = (now: number, status: 'pending' | 'unsent' = 'pending') => ({
  status,
  $or: [{ accepting_until: null }, { accepting_until: { $lt: new Date(now).toISOString() } }],
})

/** Ends a pending invitation and notifies the invited person. False if it is not pending, or `only` does not match. */
export async function endInvitation(
  node: Node,
  invitation: GroupInvitationRow,
  status: EndStatus,
  only: object = { status: 'pending' },
): Promise<boolean> {
  const { _id, invitation_id } = invitation
  const responded_at = new Date(node.now()).toISOString()
  const { modifiedCount } = await GroupInvitations.updateOne(
    { _id, invitation_id, ...only },
    { $set: { status, responded_at, accepting_until: null } },
  )
  if (modifiedCount === 1 && invitation.status === 'pending') announceEnd(node, invitation)
  return modifiedCount === 1
}

/**
 * A refusal is secret, so an answered invitation can be withdrawn once, like a pending one. False if it was withdrawn,
 * or is in another state.
 */
export async function withdrawAnswered({ _id, invitation_id }: GroupInvitationRow): Promise<boolean> {
  const answered = { status: { $in: ['declined', 'ended'] as const }, taken_back: { $ne: true } }
  const { modifiedCount } = await GroupInvitations.updateOne(
    { _id, invitation_id, ...answered },
    { $set: { taken_back: true } },
  )
  return modifiedCount === 1
}

/** The end of an invitation, for the invited person's devices. */
export const endMessage = definePeerMessage(
  'group-invitations',
  z.object({ account: z.string(), invitation: groupInvitationEnded.payload.shape.invitation }),
  (node, { account, invitation }) => node.live.send(groupInvitationEnded, audiences.account(account), { invitation }),
)

/** Notifies the invited person's devices on all nodes. */
function announceEnd(node: Node, { invitation_id: id, room, invitee_address: account }: GroupInvitationRow): void {
  notifyInvitationEnded(node, id)
  endMessage.publish(node, { account, invitation: { id, group_id: roomOfKey(room).id ?? '' } })
}
