import type { z } from 'zod'
import { type Profile, profileOf, profilesOf } from '#server/domains/people/accounts/profiles'
import type { Node } from '#server/kernel/context'
import type { Friend, FriendRequest } from '#shared/api/people/friends'
import { isSameAccount } from '#shared/kit/accounts'
import type { Pair } from './model.ts'
import { otherPersonOf } from './pairs.ts'
import { tagOf } from './tags.ts'

type PairRow<Shown> = (pair: Pair, account: string, other: Profile) => Shown

/** A pair as shown to one person, with the other's profile. */
export async function pairOutput<Shown>(node: Node, account: string, pair: Pair, show: PairRow<Shown>): Promise<Shown> {
  const other = otherPersonOf(pair, account)
  return show(pair, account, profileIn(await profilesOf(node, [other]), other))
}

export async function pairOutputs<Shown>(
  node: Node,
  account: string,
  pairs: readonly Pair[],
  show: PairRow<Shown>,
): Promise<Shown[]> {
  const profiles = await profilesOf(
    node,
    pairs.map((pair) => otherPersonOf(pair, account)),
  )
  return pairs.map((pair) => show(pair, account, profileIn(profiles, otherPersonOf(pair, account))))
}

const profileIn = (profiles: ReadonlyMap<string, Profile>, id: string): Profile =>
  profiles.get(id) ?? profileOf({ _id: id })

export const friendRow: PairRow<z.input<typeof Friend>> = (pair, account, { username, display_name, avatar_url }) => {
  const isAsker = isSameAccount(pair.from_address, account)
  const tag = tagOf(pair, account)
  return {
    id: isAsker ? pair.from_friend_id : pair.to_friend_id,
    user_address: account,
    friend_address: otherPersonOf(pair, account),
    nickname: isAsker ? pair.from_nickname : pair.to_nickname,
    tag,
    tags: tag === null ? [] : [tag],
    created_at: pair.changed_at,
    username,
    display_name,
    avatar_url,
  }
}

export const requestRow: PairRow<z.input<typeof FriendRequest>> = (
  pair,
  _account,
  { username, display_name, avatar_url },
) => ({
  id: pair.request_id,
  from_address: pair.from_address,
  to_address: pair.to_address,
  status: pair.state === 'friends' ? 'accepted' : 'pending',
  memo: pair.memo,
  created_at: pair.asked_at,
  updated_at: pair.changed_at,
  username,
  display_name,
  avatar_url,
})
