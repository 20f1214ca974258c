import { lazy, useCallback, useEffect, useState } from 'react'
import { table } from '#client/sdk/table'
import type { GroupInvitation } from '#shared/api/rooms/group-invitations'
import type { RoomSummary } from '#shared/api/rooms/room'
import { type AdminSection, linkTo, type PageAt, type SettingsSection } from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { ThemeButton } from '../accounts/appearance/theme-button.tsx'
import { useSession } from '../accounts/session.ts'
import { useEntering } from '../accounts/sign-in/entering.ts'
import { isGuest } from '../accounts/sign-in/guest.ts'
import passkeyOfferStyles from '../accounts/sign-in/passkey-offer.module.css'
import { canUsePasskeys, createPasskey } from '../accounts/sign-in/passkeys.ts'
import { Wordmark } from '../accounts/welcome/wordmark.tsx'
import { useClient } from '../connection/client.ts'
import { useFriends } from '../friends/use-friends.ts'
import { keyNames } from '../keys/key-table.ts'
import { runKey } from '../keys/use-key.ts'
import { ActButton } from '../kit/act-button.tsx'
import { askedOnce, forgetAnswer } from '../kit/asked-once.ts'
import { Avatar } from '../kit/avatar.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { nameOf } from '../kit/format.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useStoredPicture } from '../media/stored.ts'
import { useStars } from '../stars/use-stars.ts'
import { sidebarTexts as t } from '../texts/sidebar.ts'
import { Badge } from './badge.tsx'
import groupInvitationsStyles from './group-invitations.module.css'
import { PlaceRow } from './place-row.tsx'
import { RoomList } from './room-list.tsx'
import { titleOf } from './room-title.ts'
import roomsStyles from './rooms.module.css'
import { closeDialog, goTo, linkToRoom, openDialog } from './route.ts'
import styles from './sidebar.module.css'
import { keyOf, refOf, useRoomList } from './use-rooms.ts'

const declined = (account: string) => `plaza.no-passkey:${account}`

/** Offers a passkey, once, to people who signed in by another method. */
function PasskeyOffer() {
  const { account, method } = useSession()
  const [isDeclined, setDeclined] = useState(() => localStorage.getItem(declined(account)) !== null)
  if (method === null || method === 'passkey' || method === 'service' || isDeclined || !canUsePasskeys()) return null
  const decline = () => {
    localStorage.setItem(declined(account), 'yes')
    setDeclined(true)
  }
  return <Offer onDone={decline} />
}

function Offer({ onDone }: { onDone: () => void }) {
  const client = useClient()
  const tell = useTell()
  const { account } = useSession()
  const passkeys = useLoaded('offer', async () => (await client.passkeys.list()).credentials.length)
  const adding = useEntering(() => {
    tell(t.passkey.added)
    onDone()
  })
  if (passkeys.value !== 0) return null
  const why = isGuest(account) ? t.passkey.guestHint : t.passkey.memberHint
  return (
    <aside className={passkeyOfferStyles.offer} aria-label={t.passkey.title}>
      <div className="row" title={why}>
        <button
          type="button"
          className="button small plain grow"
          disabled={adding.busy !== null}
          onClick={() => void adding.attempt('add', () => createPasskey(client))}
        >
          <Icon name="key" />
          {adding.busy ? t.passkey.waiting : isGuest(account) ? t.passkey.guest : t.passkey.member}
          <span className="unseen">. {why}</span>
        </button>
        <button
          type="button"
          className="icon-button small"
          aria-label={t.passkey.later}
          title={t.passkey.later}
          onClick={onDone}
        >
          <Icon name="close" />
        </button>
      </div>
      <Problem error={adding.error} />
    </aside>
  )
}

const name = 'group-invitations'

/** The groups that somebody who is no friend asks one into; nothing is shown where there are none. */
function GroupInvitations() {
  const client = useClient()
  const rooms = useRoomList()
  const {
    value,
    reload: load,
    change: show,
  } = useLoaded<readonly GroupInvitation[]>(name, () =>
    askedOnce(client, name, async () => (await client.groupInvitations.list({})).invitations),
  )
  const reload = useCallback(() => {
    forgetAnswer(client, name)
    load()
  }, [client, load])
  const change = useCallback(
    (next: (all: readonly GroupInvitation[]) => readonly GroupInvitation[]) => {
      forgetAnswer(client, name)
      show(next)
    },
    [client, show],
  )
  useEffect(() => client.on(table.events.groupInvited, reload), [client, reload])
  useEffect(
    () =>
      client.on(table.events.groupInvitationEnded, ({ invitation }) =>
        change((all) => all.filter(({ id }) => id !== invitation.id)),
      ),
    [client, change],
  )
  if (!value || value.length === 0) return null

  const answered = (answer: GroupInvitation) => change((all) => all.filter(({ id }) => id !== answer.id))
  /** What is refused may wait no more, and of that not every page has heard. */
  const lookAgain = (error: unknown) => {
    reload()
    throw error
  }
  const join = async (invitation: GroupInvitation) => {
    const { id, group_id } = invitation
    await client.groupInvitations.accept({ id }).catch(lookAgain)
    answered(invitation)
    rooms.reload()
    goTo({ type: 'group', id: group_id })
  }
  const decline = async (invitation: GroupInvitation) => {
    await client.groupInvitations.decline({ id: invitation.id }).catch(lookAgain)
    answered(invitation)
  }

  return (
    <section className={groupInvitationsStyles.groupInvitations} aria-labelledby="group-invitations">
      <h2 id="group-invitations" className="section-title">
        {t.invitations.title}
      </h2>
      <ul>
        {value.map((invitation) => (
          <li key={invitation.id}>
            <span className={`row ${roomsStyles.invited}`}>
              <span className={roomsStyles.sign} aria-hidden="true">
                {invitation.group_emoji}
              </span>
              <span className="grow">
                <strong>
                  <bdi>{invitation.group_name}</bdi>
                </strong>
                <small className="hint">
                  {t.invitations.from({
                    name: inviterOf(invitation),
                    count: invitation.member_count,
                    who: (parts) => <bdi title={invitation.inviter_address}>{parts}</bdi>,
                  })}
                </small>
              </span>
            </span>
            <span className="row end">
              <ActButton
                className="button small plain"
                aria-label={t.invitations.declineOf({ name: invitation.group_name })}
                onPress={() => decline(invitation)}
              >
                {t.invitations.decline}
              </ActButton>
              <ActButton
                className="button small main"
                aria-label={t.invitations.joinOf({ name: invitation.group_name })}
                onPress={() => join(invitation)}
              >
                {t.invitations.join}
              </ActButton>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

const inviterOf = ({ inviter_name, inviter_address }: GroupInvitation) => nameOf(inviter_name, inviter_address)

const LiveNow = lazy(async () => ({ default: (await import('../streams/live-now.tsx')).LiveNow }))

/** What stands above the rooms, in this order, each for as long as it has something to show. */
function Places({ page, chosenKey }: { page: PageAt | null; chosenKey: string | null }) {
  const opened = page?.name ?? 'home'
  const isStarred = opened === 'starred'
  const rooms = useRoomList().value ?? []
  const asking = useFriends().value?.incoming.length ?? 0
  const hasStars = (useStars().value?.messages.length ?? 0) > 0
  return (
    <nav aria-label={t.places.title}>
      <ul className={roomsStyles.places}>
        <Mentions rooms={rooms.filter((room) => room.mentions > 0 && !room.is_muted && keyOf(room) !== chosenKey)} />
        <LazyBoundary>
          <LiveNow isOpen={opened === 'live' || opened === 'liveNew'} />
        </LazyBoundary>
        <PlaceRow icon="agent" title={t.places.agents} href={linkTo('agents')} isOpen={opened.startsWith('agent')} />
        <PlaceRow icon="phone" title={t.places.calls} href={linkTo('calls')} isOpen={opened === 'calls'} />
        <PlaceRow
          icon="people"
          title={t.places.friends}
          href={linkTo('friends')}
          isOpen={opened === 'friends'}
          detail={asking > 0 && t.places.requests({ count: asking })}
        />
        {(hasStars || isStarred) && (
          <PlaceRow icon="star" title={t.places.starred} href={linkTo('starred')} isOpen={isStarred} />
        )}
      </ul>
    </nav>
  )
}

/** Leads to the first of the rooms in which somebody has mentioned the account since it read them. */
function Mentions({ rooms }: { rooms: readonly RoomSummary[] }) {
  const [first, ...others] = rooms
  if (!first) return null
  const mentions = rooms.reduce((sum, room) => sum + room.mentions, 0)
  return (
    <PlaceRow
      icon="mention"
      title={t.places.mentions}
      href={linkToRoom(refOf(first))}
      detail={
        others.length === 0 ? titleOf(first) : t.places.roomAndMore({ room: titleOf(first), count: others.length })
      }
      badge={<Badge unread={mentions} mentions={mentions} />}
    />
  )
}

const Administration = lazy(async () => ({ default: (await import('../admin/administration.tsx')).Administration }))
const BrowseChannels = lazy(async () => ({ default: (await import('./browse-channels.tsx')).BrowseChannels }))
const CreateRoom = lazy(async () => ({ default: (await import('./create-room.tsx')).CreateRoom }))
const OwnTokens = lazy(async () => ({ default: (await import('./own-tokens.tsx')).OwnTokens }))
const NearRooms = lazy(async () => ({ default: (await import('./near-rooms.tsx')).NearRooms }))
const Settings = lazy(async () => ({ default: (await import('../accounts/settings.tsx')).Settings }))

interface SidebarProps {
  /** The page at the address, which may be a dialog above the one that is shown. */
  page: PageAt | null
  behind: PageAt | null
  chosen: RoomRef | null
  /** Whether something is open beside it, on a wide screen. */
  isBeside: boolean
}

export function Sidebar({ page, behind, chosen, isBeside }: SidebarProps) {
  const { account, user } = useSession()
  const isAdmin = user.role !== 'user'
  const picture = useStoredPicture(user.avatar_url)
  const rooms = useRoomList()
  const open = page?.name
  const Frame = isBeside ? 'aside' : 'main'
  const name = nameOf(user, account)

  return (
    <Frame className="sidebar" aria-label={t.title}>
      <header className={styles.sidebarHead}>
        {isBeside ? (
          <Wordmark />
        ) : (
          <h1>
            <Wordmark />
          </h1>
        )}
        <span className="grow" />
        {isAdmin && (
          <HeadButton
            title={t.administration}
            icon="shield"
            onPress={() => openDialog(linkTo('admin', { part: 'people' }))}
          />
        )}
        <HeadButton title={t.browse} icon="hash" onPress={() => openDialog(linkTo('browse'))} />
        <HeadButton title={t.create} icon="plus" onPress={() => openDialog(linkTo('roomNew'))} />
      </header>
      <button type="button" className={styles.search} aria-haspopup="dialog" onClick={() => runKey('switcher')}>
        <Icon name="search" />
        <span className="grow">{t.search}</span>
        <span className={styles.searchKeys} aria-hidden="true">
          {keyNames('switcher')[0]?.map((name) => (
            <kbd key={name}>{name}</kbd>
          ))}
        </span>
      </button>
      <Places page={behind} chosenKey={chosen && roomKey(chosen)} />
      <RoomList
        rooms={rooms}
        chosen={chosen}
        onBrowse={() => openDialog(linkTo('browse'))}
        onCreate={() => openDialog(linkTo('roomNew'))}
      />
      <GroupInvitations />
      <PasskeyOffer />
      <footer className={styles.sidebarFoot}>
        <div className="row">
          <button
            type="button"
            className={styles.me}
            onClick={() => openDialog(linkTo('settings', { section: 'profile' }))}
          >
            <Avatar id={account} name={name} picture={picture} />
            <span className="grow">
              <strong>{name}</strong>
              <small>{user.username ? `@${user.username}` : user.display_name ? t.settings : t.chooseName}</small>
            </span>
            {(user.username || !user.display_name) && <span className="unseen">{t.settings}</span>}
            <Icon name="sliders" />
          </button>
          <ThemeButton />
        </div>
      </footer>
      <LazyBoundary key={open}>
        {open === 'browse' && <BrowseChannels onClose={closeDialog} onOther={(way) => openDialog(linkTo(way))} />}
        {open === 'roomTokens' && <OwnTokens onClose={closeDialog} />}
        {open === 'roomsNear' && <NearRooms onClose={closeDialog} onCreate={() => openDialog(linkTo('roomNew'))} />}
        {open === 'roomNew' && <CreateRoom onClose={closeDialog} />}
        {page?.name === 'admin' && isAdmin && (
          <Administration section={page.params.part as AdminSection} onClose={closeDialog} />
        )}
        {open === 'admin' && !isAdmin && (
          <Dialog title={t.admins} hasAddress onClose={closeDialog}>
            <p>{t.adminsHint}</p>
          </Dialog>
        )}
        {page?.name === 'settings' && (
          <Settings section={page.params.section as SettingsSection} onClose={closeDialog} />
        )}
      </LazyBoundary>
    </Frame>
  )
}

function HeadButton({ title, icon, onPress }: { title: string; icon: IconName; onPress: () => void }) {
  return (
    <button type="button" className="icon-button" aria-label={title} title={title} onClick={onPress}>
      <Icon name={icon} />
    </button>
  )
}
