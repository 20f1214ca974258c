import type { ReactNode } from 'react'
import type { Friend, FriendRequest } from '#shared/api/people/friends'
import { TagChip } from '../accounts/people/friend-tag.tsx'
import { useOpenPerson } from '../accounts/person-of-interest.ts'
import { AgentHead } from '../agents/agent-head.tsx'
import styles from '../calls/calls.module.css'
import { useAccount, useClient } from '../connection/client.ts'
import { useOpenDm } from '../direct/use-open-dm.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Avatar } from '../kit/avatar.tsx'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { isolated, nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useStoredPicture } from '../media/stored.ts'
import { PeopleForm } from '../rooms/people-form.tsx'
import { goTo } from '../rooms/route.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { controlTexts } from '../texts/controls.ts'
import { friendTexts as t } from '../texts/people.ts'
import { useFriends, withFriend, withoutFriend, withoutRequest, withRequest } from './use-friends.ts'

const askedAtMost = 200

/** The friends of the account, those who are online first. */
function FriendList() {
  const client = useClient()
  const { value, more, ...loaded } = useFriends()
  const friends = value?.friends ?? null
  const addresses = friends?.slice(0, askedAtMost).map(({ friend_address }) => friend_address) ?? []
  // Who cannot be asked about is shown as others are who are away.
  const { value: online } = useLoaded<Record<string, boolean>>(addresses.join(' '), async () =>
    addresses.length === 0 ? {} : client.messages.presenceOf({ addresses }),
  )
  const isOnline = ({ friend_address }: Friend) => online?.[friend_address] === true
  return (
    <section aria-labelledby="own-friends">
      <h2 id="own-friends">{t.all}</h2>
      <Listed
        loaded={{ ...loaded, value: friends }}
        empty={
          <Blank icon="people" title={t.empty}>
            <p>{t.emptyHint}</p>
          </Blank>
        }
      >
        {(all) => (
          <ul aria-labelledby="own-friends">
            {all
              .toSorted((one, other) => Number(isOnline(other)) - Number(isOnline(one)))
              .map((friend) => (
                <FriendRow key={friend.id} friend={friend} isOnline={isOnline(friend)} />
              ))}
          </ul>
        )}
      </Listed>
      {more && (
        <ActButton className="button small" onPress={more}>
          {controlTexts.showMore}
        </ActButton>
      )}
    </section>
  )
}

function FriendRow({ friend, isOnline }: { friend: Friend; isOnline: boolean }) {
  const client = useClient()
  const openDm = useOpenDm()
  const { change } = useFriends()
  const { id, friend_address: address, username, avatar_url, tag } = friend
  const name = nameOf(friend, address)
  const remove = async () => {
    await client.friends.remove({ id })
    change(withoutFriend(address))
  }
  return (
    <PersonRow
      address={address}
      name={name}
      picture={avatar_url}
      isOnline={isOnline}
      about={
        (username !== null || tag) && (
          <>
            {username !== null && `@${username} `}
            {tag && <TagChip tag={tag} />}
          </>
        )
      }
    >
      <ActButton
        className="icon-button small"
        aria-label={t.messageTo({ name })}
        title={t.message}
        onPress={() => openDm(address)}
      >
        <Icon name="message" />
      </ActButton>
      <ConfirmButton title={controlTexts.remove} question={confirmationTexts.friend} of={name} onConfirm={remove} />
    </PersonRow>
  )
}

/** The friend requests to the account and from it; nothing is shown where there are none. */
function Requests() {
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
  name: nameOf({ display_name, username }, address),
  picture: avatar_url,
  about: memo === null ? username && `@${username}` : isolated(memo),
})

export function FriendsView() {
  return (
    <main className="room" aria-label={t.title}>
      <AgentHead title={t.title} back={{ title: controlTexts.backToRooms, go: () => goTo(null) }} />
      <div className="page">
        <AddFriend />
        <Requests />
        <FriendList />
      </div>
    </main>
  )
}

/** Somebody in a list: their name opens their card, and what can be done stands at the end. */
function PersonRow(props: {
  address: string
  name: string
  picture: string | null
  isOnline?: boolean
  about?: ReactNode
  children: ReactNode
}) {
  const { address, name, isOnline = false, about, children } = props
  const open = useOpenPerson()
  const picture = useStoredPicture(props.picture)
  return (
    <li className={styles.callRow}>
      <Avatar id={address} name={name} picture={picture} isOnline={isOnline} />
      <div className="grow">
        <button
          type="button"
          className={styles.personName}
          title={address}
          onClick={() => open({ id: address, name, role: null, live: null })}
        >
          {name}
        </button>
        {isOnline && <span className="unseen">, {t.online}</span>}
        {about && <small dir="auto">{about}</small>}
      </div>
      <div className="row">{children}</div>
    </li>
  )
}

/** Sends friend requests to people, by their names, usernames or addresses. */
function AddFriend() {
  const client = useClient()
  const account = useAccount()
  const { change, reload } = useFriends()
  const ask = async (found: string[], leave: (left: readonly string[]) => void) => {
    for (const [at, toAddress] of found.entries()) {
      const { request } = await client.friends.request({ toAddress })
      if (request.status === 'pending') change(withRequest(request, account))
      else reload()
      leave(found.slice(at + 1))
    }
    return t.sent({ count: found.length })
  }
  return (
    <PeopleForm title={t.addTitle} field={t.addField} hint={t.addHint} maxLength={500} action={t.add} onFound={ask} />
  )
}
