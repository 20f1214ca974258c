import { type Profile, profileOf, profilesOf } from '#server/domains/people/accounts/profiles'
import type { Node } from '#server/kernel/context'
import type { Call } from '#shared/api/calls'
import { standing } from './course.ts'
import type { StoredCall } from './model.ts'

/** Calls as they stand now, with how the two are shown. */
export async function shown(node: Node, calls: readonly StoredCall[]): Promise<Call[]> {
  const profiles = await profilesOf(
    node,
    calls.flatMap(({ caller_address, callee_address }) => [caller_address, callee_address]),
  )
  const now = node.now()
  return calls.map((stored) => {
    const { _id: id, answered_at: _, is_note: __, is_unasked: ___, ...call } = standing(stored, now)
    const { caller_address, callee_address } = call
    return { id, ...call, caller: partyIn(profiles, caller_address), callee: partyIn(profiles, callee_address) }
  })
}

export async function shownOne(node: Node, stored: StoredCall): Promise<Call> {
  const [call] = await shown(node, [stored])
  if (!call) throw new Error('A call is shown as one')
  return call
}

function partyIn(profiles: ReadonlyMap<string, Profile>, address: string): Call['caller'] {
  const { username, display_name, avatar_url } = profiles.get(address) ?? profileOf({ _id: address })
  return { address, username, display_name, avatar_url }
}
