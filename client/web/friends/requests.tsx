import type { FriendRequest } from '#shared/api/friends'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { isolated, nameOf } from '../kit/format.ts'
import { PersonRow } from './person-row.tsx'
import { useFriends, withFriend, withoutRequest } from './use-friends.ts'

/** What waits for an answer, by the account and by others; nothing is shown where nothing does. */
export function Requests() {
  const client = useClient()
  const { value, change } = useFriends()
  if (!value) return null
  const { incoming, outgoing } = value
  const accept = async (requestId: string) => {
    const { friend } = await client.friends.accept({ requestId })
    change(withFriend(friend))
  }
  const decline = async (requestId: string) => {
    await client.friends.decline({ requestId })
    change(withoutRequest(requestId))
  }
  const takeBack = async (id: string) => {
    await client.friends.cancel({ id })
    change(withoutRequest(id))
  }
  return (
    <>
      {incoming.length > 0 && (
        <section aria-labelledby="requests-in">
          <h2 id="requests-in">Who asks you</h2>
          <ul aria-labelledby="requests-in">
            {incoming.map((request) => (
              <PersonRow key={request.id} {...personOf(request, request.from_address)}>
                <ActButton
                  className="button small plain"
                  aria-label={`Decline ${nameIn(request, request.from_address)}`}
                  onPress={() => decline(request.id)}
                >
                  Decline
                </ActButton>
                <ActButton
                  className="button small main"
                  aria-label={`Accept ${nameIn(request, request.from_address)}`}
                  onPress={() => accept(request.id)}
                >
                  Accept
                </ActButton>
              </PersonRow>
            ))}
          </ul>
        </section>
      )}
      {outgoing.length > 0 && (
        <section aria-labelledby="requests-out">
          <h2 id="requests-out">Whom you ask</h2>
          <ul aria-labelledby="requests-out">
            {outgoing.map((request) => (
              <PersonRow key={request.id} {...personOf(request, request.to_address)}>
                <ActButton
                  className="button small"
                  aria-label={`Take back: ${nameIn(request, request.to_address)}`}
                  onPress={() => takeBack(request.id)}
                >
                  Take back
                </ActButton>
              </PersonRow>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

const nameIn = ({ display_name, username }: FriendRequest, address: string): string =>
  nameOf(display_name ?? username, address)

const personOf = (request: FriendRequest, address: string) => ({
  address,
  name: nameIn(request, address),
  picture: request.avatar_url,
  about: request.memo === null ? handleOf(request.username) : isolated(request.memo),
})

const handleOf = (username: string | null) => (username === null ? null : `@${username}`)
