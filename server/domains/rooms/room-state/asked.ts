import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/node-state'
import type { GroupInvitation } from '#shared/api/group-invitations'

type Listener<Said> = (said: Said) => void

const listenersOn = nodeState(() => ({
  asked: new Set<Listener<GroupInvitation>>(),
  unasked: new Set<Listener<string>>(),
}))

/** Notifies listeners on this node of a new invitation. */
export function sayAsked(node: Node, invitation: GroupInvitation): void {
  for (const listener of listenersOn(node).asked) listener(invitation)
}

/** Notifies listeners on this node that this invitation has ended. */
export function sayUnasked(node: Node, id: string): void {
  for (const listener of listenersOn(node).unasked) listener(id)
}

/** Subscribes to invitations, until the returned function is called: the invited person may have no open page. */
export const hearAsked = (node: Node, listener: Listener<GroupInvitation>): (() => void) =>
  heard(listenersOn(node).asked, listener)
export const hearUnasked = (node: Node, listener: Listener<string>): (() => void) =>
  heard(listenersOn(node).unasked, listener)

function heard<Said>(listeners: Set<Listener<Said>>, listener: Listener<Said>): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
