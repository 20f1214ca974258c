import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import type { GroupInvitation } from '#shared/api/rooms/group-invitations'

type Listener<Payload> = (payload: Payload) => void

const listenersOn = nodeState(() => ({
  invited: new Set<Listener<GroupInvitation>>(),
  ended: new Set<Listener<string>>(),
}))

/** Notifies listeners on this node of a new invitation. */
export function notifyInvited(node: Node, invitation: GroupInvitation): void {
  for (const listener of listenersOn(node).invited) listener(invitation)
}

/** Notifies listeners on this node that this invitation has ended. */
export function notifyInvitationEnded(node: Node, id: string): void {
  for (const listener of listenersOn(node).ended) listener(id)
}

/** Subscribes to invitations, until the returned function is called: the invited person may have no open page. */
export const onInvited = (node: Node, listener: Listener<GroupInvitation>): (() => void) =>
  subscribeListener(listenersOn(node).invited, listener)
export const onInvitationEnded = (node: Node, listener: Listener<string>): (() => void) =>
  subscribeListener(listenersOn(node).ended, listener)

function subscribeListener<Payload>(listeners: Set<Listener<Payload>>, listener: Listener<Payload>): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
