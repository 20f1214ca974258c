import { profilesOf } from '#server/domains/people/accounts/profiles'
import type { EventRecord } from '#server/domains/rooms/events/define'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import type { Entry, Json, View } from '#server/log/types'
import type { RoomEventType } from '#shared/api/rooms/room-events'
import { serverActor } from '#shared/kit/accounts'
import { standingOf } from './standing.ts'

/** The actor of automatic acts. */
export const plazaActor = { account: serverActor, name: 'Plaza' }

interface EntryOptions {
  target?: string | null
  targetName?: string | null
  until?: string | null
  reason?: string | null
}

/** An event as a log entry, signed with the actor's name and present rank, which may be given. */
export const entryOf = <Body>(
  view: View,
  actor: { account: string; name: string; role?: string | null },
  { type }: Pick<EventRecord<RoomEventType, Body>, 'type' | 'body'>,
  body: NoInfer<Body>,
  { target = null, targetName = null, until = null, reason = null }: EntryOptions = {},
): Entry => ({
  type,
  body: {
    actor: { name: actor.name, role: actor.role === undefined ? standingOf(view, actor.account).role : actor.role },
    ...(targetName === null ? {} : { target_name: targetName }),
    ...(body as unknown as { [key: string]: Json }),
  },
  target,
  until: until === null ? null : Date.parse(until),
  reason,
})

const loadingOn = nodeState(() => new Map<string, Promise<string>>())

/** One look-up for simultaneous callers, so that acts keep their order. */
export function displayNameOf(node: Node, account: string): Promise<string> {
  const loading = loadingOn(node)
  const known = loading.get(account)
  if (known) return known
  const load = profilesOf(node, [account])
    .then((profiles) => profiles.get(account)?.name ?? account)
    .finally(() => loading.delete(account))
  loading.set(account, load)
  return load
}

export const actorOf = async (node: Node, account: string) => ({ account, name: await displayNameOf(node, account) })
