import { z } from 'zod'
import { notifyInvitationEnded } from '#server/domains/rooms/room-state/invitation-events'
import { audiences, type Node } from '#server/kernel/context'
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

const topic = 'group-invitations'
const EndedInvitation = z.object({ account: z.string(), invitation: groupInvitationEnded.payload.shape.invitation })
type EndedInvitation = z.infer<typeof EndedInvitation>

/** Notifies the invited person's devices on all nodes. */
function announceEnd(node: Node, { invitation_id: id, room, invitee_address: account }: GroupInvitationRow): void {
  const ended: EndedInvitation = { account, invitation: { id, group_id: roomOfKey(room).id ?? '' } }
  notifyInvitationEnded(node, id)
  sendEnd(node, ended)
  node.peers.tell(topic, ended)
}

const sendEnd = (node: Node, { account, invitation }: EndedInvitation): void =>
  node.live.send(groupInvitationEnded, audiences.account(account), { invitation })

/** Notifies this node's devices of ends on other nodes. */
export const followEnds = (node: Node): (() => void) =>
  node.peers.listen(topic, (word) => {
    const ended = EndedInvitation.safeParse(word)
    if (ended.success) sendEnd(node, ended.data)
  })
