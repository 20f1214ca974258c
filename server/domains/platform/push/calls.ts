import type { Node } from '#server/kernel/context'
import { type Call, ringSeconds } from '#shared/api/calls'
import { ringing } from '#shared/api/push'
import { shortened } from '#shared/kit/person-name'
import { dmOf, roomKey } from '#shared/kit/room-key'
import { callsPage } from './doings.ts'
import { withdraw } from './giving.ts'
import { tellQuietly } from './tell.ts'

/** Has the browsers of who is called told that it rings; nobody waits for it. */
export function tellOfCall(node: Node, { id, caller, callee, call_type }: Call): void {
  const name = nameOf(caller)
  const notice = {
    title: name,
    body: call_type === 'video' ? 'Incoming video call' : 'Incoming call',
    type: ringing,
    callerId: caller.address,
    callerName: name,
    senderAddress: caller.address,
    url: callsPage,
    tag: tagOf(id),
  }
  const room = roomKey(dmOf(caller.address, callee.address))
  tellQuietly(node, new Map([[callee.address, { notice, room, seconds: ringSeconds }]]))
}

/** A call that rings no more is told to nobody. */
export const tellRungOut = (node: Node, { id }: Pick<Call, 'id'>): void => withdraw(node, tagOf(id))

const tagOf = (call: string) => `call:${call}`
const nameOf = ({ username, display_name, address }: Call['caller']) => username ?? display_name ?? shortened(address)
