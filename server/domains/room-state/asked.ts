import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import type { GroupInvitation } from '#shared/api/group-invitations'

type Listener = (invitation: GroupInvitation) => void

const listenersOn = nodeState(() => new Set<Listener>())

/** Says at this node that somebody was just told of an invitation. */
export function sayAsked(node: Node, invitation: GroupInvitation): void {
  for (const listener of listenersOn(node)) listener(invitation)
}

/** Gives each of these to a listener, until the returned function is called: the invited may have no page that is told. */
export function hearAsked(node: Node, listener: Listener): () => void {
  listenersOn(node).add(listener)
  return () => void listenersOn(node).delete(listener)
}
