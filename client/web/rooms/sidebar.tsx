import { lazy, useState } from 'react'
import type { PageAt } from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { PasskeyOffer } from '../accounts/passkey-offer.tsx'
import { useSession } from '../accounts/session.ts'
import { ThemeButton } from '../accounts/theme-button.tsx'
import { Wordmark } from '../accounts/wordmark.tsx'
import { Avatar } from '../kit/avatar.tsx'
import { nameOf } from '../kit/format.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { useStoredPicture } from '../media/stored.ts'
import { GroupInvitations } from './group-invitations.tsx'
import { Places } from './places.tsx'
import { RoomList } from './room-list.tsx'
import styles from './sidebar.module.css'
import { useRoomList } from './use-rooms.ts'

const BrowseChannels = lazy(async () => ({ default: (await import('./browse-channels.tsx')).BrowseChannels }))
const CreateRoom = lazy(async () => ({ default: (await import('./create-room.tsx')).CreateRoom }))
const OwnTokens = lazy(async () => ({ default: (await import('./own-tokens.tsx')).OwnTokens }))
const NearRooms = lazy(async () => ({ default: (await import('./near-rooms.tsx')).NearRooms }))
const Cluster = lazy(async () => ({ default: (await import('../operations/cluster.tsx')).Cluster }))
const Installation = lazy(async () => ({ default: (await import('../operations/installation.tsx')).Installation }))
const Settings = lazy(async () => ({ default: (await import('../accounts/settings.tsx')).Settings }))

interface SidebarProps {
  page: PageAt | null
  chosen: RoomRef | null
  /** Whether something is open beside it, on a wide screen. */
  isBeside: boolean
}

export function Sidebar({ page, chosen, isBeside }: SidebarProps) {
  const { account, user } = useSession()
  const picture = useStoredPicture(user.avatar_url)
  const rooms = useRoomList()
  const [open, setOpen] = useState<
    'browse' | 'tokens' | 'near' | 'create' | 'settings' | 'cluster' | 'installation' | null
  >(null)
  const Frame = isBeside ? 'aside' : 'main'
  const close = () => setOpen(null)
  const name = nameOf(user.display_name ?? user.username, account)

  return (
    <Frame className="sidebar" aria-label="Rooms and you">
      <header className={styles.sidebarHead}>
        {isBeside ? (
          <Wordmark />
        ) : (
          <h1>
            <Wordmark />
          </h1>
        )}
        <span className="grow" />
        {user.role !== 'user' && (
          <>
            <HeadButton title="Cluster" icon="poll" onPress={() => setOpen('cluster')} />
            <HeadButton title="Installation" icon="flag" onPress={() => setOpen('installation')} />
          </>
        )}
        <HeadButton title="Browse channels" icon="search" onPress={() => setOpen('browse')} />
        <HeadButton title="New room" icon="plus" onPress={() => setOpen('create')} />
      </header>
      <Places page={page} chosenKey={chosen && roomKey(chosen)} />
      <RoomList rooms={rooms} chosen={chosen} onBrowse={() => setOpen('browse')} onCreate={() => setOpen('create')} />
      <GroupInvitations />
      <PasskeyOffer />
      <footer className={styles.sidebarFoot}>
        <div className="row">
          <button type="button" className={styles.me} onClick={() => setOpen('settings')}>
            <Avatar id={account} name={name} picture={picture} />
            <span className="grow">
              <strong>{name}</strong>
              <small>{user.username ? `@${user.username}` : user.display_name ? 'Settings' : 'Choose a name'}</small>
            </span>
            {(user.username || !user.display_name) && <span className="unseen">Settings</span>}
            <Icon name="sliders" />
          </button>
          <ThemeButton />
        </div>
      </footer>
      <LazyBoundary key={open}>
        {open === 'browse' && <BrowseChannels onClose={close} onOther={setOpen} />}
        {open === 'tokens' && <OwnTokens onClose={close} />}
        {open === 'near' && <NearRooms onClose={close} onCreate={() => setOpen('create')} />}
        {open === 'create' && <CreateRoom onClose={close} />}
        {open === 'cluster' && <Cluster onClose={close} />}
        {open === 'installation' && <Installation onClose={close} />}
        {open === 'settings' && <Settings onClose={close} />}
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
