import { z } from 'zod'
import { sayUnasked } from '#server/domains/rooms/room-state/asked'
import { audiences, type Node } from '#server/kernel/context'
import { groupInvitationEnded } from '#shared/api/group-invitations'
import { roomOfKey } from '#shared/kit/room-key'
import { type GroupInvitationRow, GroupInvitations } from './model.ts'

/** Why an invitation waits no more. */
type End = Exclude<GroupInvitationRow['status'], 'pending'>

/** Those that wait, and that nobody is accepting just now. */
export const undecided = (now: number, status: 'pending' | 'unsent' = 'pending') => ({
  status,
  $or: [{ accepting_until: null }, { accepting_until: { $lt: new Date(now).toISOString() } }],
})

/** Ends an invitation that waits, and tells its invitee. False where it waits no more, or `only` does not hold. */
export async function end(
  node: Node,
  invitation: GroupInvitationRow,
  status: End,
  only: object = { status: 'pending' },
): Promise<boolean> {
  const { _id, invitation_id } = invitation
  const responded_at = new Date(node.now()).toISOString()
  const { modifiedCount } = await GroupInvitations.updateOne(
    { _id, invitation_id, ...only },
    { $set: { status, responded_at, accepting_until: null } },
  )
  if (modifiedCount === 1 && invitation.status === 'pending') tellEnd(node, invitation)
  return modifiedCount === 1
}

/** That somebody said no is told to nobody, so that it is taken back once, as one that waits. False where it was, or is none of these. */
export async function takeBackAnswered({ _id, invitation_id }: GroupInvitationRow): Promise<boolean> {
  const answered = { status: { $in: ['declined', 'ended'] as const }, taken_back: { $ne: true } }
  const { modifiedCount } = await GroupInvitations.updateOne(
    { _id, invitation_id, ...answered },
    { $set: { taken_back: true } },
  )
  return modifiedCount === 1
}

const topic = 'group-invitations'
const Ended = z.object({ account: z.string(), invitation: groupInvitationEnded.payload.shape.invitation })
type Ended = z.infer<typeof Ended>

/** Tells the devices of the invited, on all nodes. */
function tellEnd(node: Node, { invitation_id: id, room, invitee_address: account }: GroupInvitationRow): void {
  const ended: Ended = { account, invitation: { id, group_id: roomOfKey(room).id ?? '' } }
  sayUnasked(node, id)
  tellHere(node, ended)
  node.peers.tell(topic, ended)
}

const tellHere = (node: Node, { account, invitation }: Ended): void =>
  node.live.send(groupInvitationEnded, audiences.account(account), { invitation })

/** Tells devices at this node what ended at another. */
export const hearEnds = (node: Node): (() => void) =>
  node.peers.listen(topic, (word) => {
    const ended = Ended.safeParse(word)
    if (ended.success) tellHere(node, ended.data)
  })
