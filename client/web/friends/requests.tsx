import type { FriendRequest } from '#shared/api/people/friends'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { isolated, nameOf } from '../kit/format.ts'
import { friendTexts as t } from '../texts/friends.ts'
import { PersonRow } from './person-row.tsx'
import { useFriends, withFriend, withoutRequest } from './use-friends.ts'

/** The friend requests to the account and from it; nothing is shown where there are none. */
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
  const cancel = async (id: string) => {
    await client.friends.cancel({ id })
    change(withoutRequest(id))
  }
  return (
    <>
      <RequestList
        title={t.incoming}
        requests={value.incoming}
        other="from_address"
        acts={[
          { title: t.decline, titleOf: t.declineOf, look: 'plain', onPress: decline },
          { title: t.accept, titleOf: t.acceptOf, look: 'main', onPress: accept },
        ]}
      />
      <RequestList
        title={t.outgoing}
        requests={value.outgoing}
        other="to_address"
        acts={[{ title: t.cancel, titleOf: t.cancelOf, look: '', onPress: cancel }]}
      />
    </>
  )
}

interface Act {
  title: string
  titleOf: (values: { name: string | number }) => string
  look: string
  onPress: (id: string) => Promise<void>
}

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
              {acts.map(({ title: act, titleOf, look, onPress }) => (
                <ActButton
                  key={act}
                  className={`button small ${look}`}
                  aria-label={titleOf({ name: person.name })}
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
