import { createContext, useContext, useEffect } from 'react'
import { table } from '#client/sdk/table'
import type { Friend, FriendRequest } from '#shared/api/people/friends'
import type { FriendTag } from '#shared/api/people/profile-theme'
import { isSameAccount } from '#shared/kit/accounts'
import { peerIn } from '#shared/kit/room-key'
import { useAccount, useClient } from '../connection/client.ts'
import { useBackOnline } from '../connection/use-back-online.ts'
import { type Loaded, useLoaded } from '../kit/use-loaded.ts'

interface Friends {
  /** The newest first. */
  friends: readonly Friend[]
  /** Where earlier ones go on; null at the end. */
  next: string | null
  incoming: readonly FriendRequest[]
  outgoing: readonly FriendRequest[]
}
type Change = (before: Friends) => Friends

const pageLength = 500

/** Whether somebody is a friend, or one of the two has asked the other. */
export const knows = ({ friends, incoming, outgoing }: Friends, address: string): boolean =>
  friends.some(({ friend_address }) => isSameAccount(friend_address, address)) ||
  [...incoming, ...outgoing].some(({ from_address, to_address }) => [from_address, to_address].includes(address))

export const withRequest =
  (request: FriendRequest, account: string | null): Change =>
  (before) => {
    const { incoming, outgoing } = withoutRequest(request.id)(before)
    return isSameAccount(request.from_address, account)
      ? { ...before, incoming, outgoing: [request, ...outgoing] }
      : { ...before, incoming: [request, ...incoming], outgoing }
  }

export const withoutRequest =
  (ended: string): Change =>
  (before) => ({
    ...before,
    incoming: before.incoming.filter(({ id }) => id !== ended),
    outgoing: before.outgoing.filter(({ id }) => id !== ended),
  })

/** Whatever the two had asked each other is answered by this. */
export const withFriend =
  (friend: Friend): Change =>
  (before) => ({
    ...before,
    friends: [
      friend,
      ...before.friends.filter(({ friend_address }) => !isSameAccount(friend_address, friend.friend_address)),
    ],
    incoming: before.incoming.filter(({ from_address }) => !isSameAccount(from_address, friend.friend_address)),
    outgoing: before.outgoing.filter(({ to_address }) => !isSameAccount(to_address, friend.friend_address)),
  })

export const withoutFriend =
  (address: string): Change =>
  (before) => ({
    ...before,
    friends: before.friends.filter(({ friend_address }) => !isSameAccount(friend_address, address)),
  })

const withTag =
  (address: string, tag: FriendTag | null): Change =>
  (before) => ({
    ...before,
    friends: before.friends.map((friend) =>
      isSameAccount(friend.friend_address, address) ? { ...friend, tag, tags: tag ? [tag] : [] } : friend,
    ),
  })

/** The friends of the account and what waits between it and others, as they change. */
export function useLoadedFriends(): Loaded<Friends> {
  const client = useClient()
  const account = useAccount()
  const loaded = useLoaded<Friends>('friends', async () => {
    const [{ friends, next }, { incoming, outgoing }] = await Promise.all([
      client.friends.list({ limit: pageLength }),
      client.friends.requests({}),
    ])
    return { friends, next, incoming, outgoing }
  })
  const { change, reload } = loaded
  useBackOnline(reload)
  useEffect(() => {
    const { events } = table
    const unhear = [
      client.on(events.friendRequested, ({ request }) => change(withRequest(request, account))),
      client.on(events.friendDeclined, ({ request }) => change(withoutRequest(request.id))),
      client.on(events.friendCancelled, ({ request }) => change(withoutRequest(request.id))),
      client.on(events.friendAccepted, ({ friend }) => change(withFriend(friend))),
      client.on(events.friendRemoved, ({ friend }) => change(withoutFriend(friend.friend_address))),
      client.on(events.capabilitiesChanged, ({ room, capabilities }) => {
        const peer = account === null ? null : peerIn(room, account)
        if (peer !== null && capabilities.text?.code === 'USER_NOT_FOUND') change(withoutFriend(peer))
      }),
      client.on(events.friendTagChanged, ({ friend_address, tag }) => change(withTag(friend_address, tag))),
    ]
    return () => {
      for (const stop of unhear) stop()
    }
  }, [client, account, change])
  return loaded
}

export const FriendsContext = createContext<Loaded<Friends> | null>(null)

/** The same, with what adds the page after those that are shown; null where there is none. */
export function useFriends(): Loaded<Friends> & { more: (() => Promise<void>) | null } {
  const client = useClient()
  const loaded = useContext(FriendsContext)
  if (!loaded) throw new Error('Nobody is signed in above this component.')
  const before = loaded.value?.next ?? null
  const more = async () => {
    const page = await client.friends.list({ limit: pageLength, ...(before !== null && { before }) })
    loaded.change((all) => ({ ...all, friends: [...all.friends, ...page.friends], next: page.next }))
  }
  return { ...loaded, more: before === null ? null : more }
}
