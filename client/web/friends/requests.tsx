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
      <RequestList
        title="Who asks you"
        requests={value.incoming}
        other="from_address"
        acts={[
          ['Decline', 'plain', decline],
          ['Accept', 'main', accept],
        ]}
      />
      <RequestList
        title="Whom you ask"
        requests={value.outgoing}
        other="to_address"
        acts={[['Take back', '', takeBack]]}
      />
    </>
  )
}

type Act = [title: string, look: string, onPress: (id: string) => Promise<void>]

function RequestList(props: {
  title: string
  requests: readonly FriendRequest[]
  other: 'from_address' | 'to_address'
  acts: readonly Act[]
}) {
  const { title, requests, other, acts } = props
  if (requests.length === 0) return null
  const heading = `requests-${other}`
  return (
    <section aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      <ul aria-labelledby={heading}>
        {requests.map((request) => {
          const person = personOf(request, request[other])
          return (
            <PersonRow key={request.id} {...person}>
              {acts.map(([act, look, onPress]) => (
                <ActButton
                  key={act}
                  className={`button small ${look}`}
                  aria-label={`${act}: ${person.name}`}
                  onPress={() => onPress(request.id)}
                >
                  {act}
                </ActButton>
              ))}
            </PersonRow>
          )
        })}
      </ul>
    </section>
  )
}

const personOf = ({ display_name, username, avatar_url, memo }: FriendRequest, address: string) => ({
  address,
  name: nameOf(display_name ?? username, address),
  picture: avatar_url,
  about: memo === null ? username && `@${username}` : isolated(memo),
})
