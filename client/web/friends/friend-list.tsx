import type { Friend } from '#shared/api/people/friends'
import { TagChip } from '../accounts/people/friend-tag.tsx'
import { useClient } from '../connection/client.ts'
import { useOpenDm } from '../direct/use-open-dm.ts'
import { ActButton } from '../kit/act-button.tsx'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { controlTexts } from '../texts/controls.ts'
import { friendTexts as t } from '../texts/friends.ts'
import { PersonRow } from './person-row.tsx'
import { useFriends, withoutFriend } from './use-friends.ts'

const askedAtMost = 200

/** The friends of the account, those who are online first. */
export function FriendList() {
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
  const { id, friend_address: address, nickname, display_name, username, avatar_url, tag } = friend
  const name = nameOf(nickname ?? display_name ?? username, address)
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
