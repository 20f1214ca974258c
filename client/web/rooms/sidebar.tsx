import { lazy } from 'react'
import { type AdminSection, linkTo, type PageAt, type SettingsSection } from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { ThemeButton } from '../accounts/appearance/theme-button.tsx'
import { useSession } from '../accounts/session.ts'
import { PasskeyOffer } from '../accounts/sign-in/passkey-offer.tsx'
import { Wordmark } from '../accounts/welcome/wordmark.tsx'
import { keyNames } from '../keys/key-table.ts'
import { runKey } from '../keys/use-key.ts'
import { Avatar } from '../kit/avatar.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { nameOf } from '../kit/format.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { useStoredPicture } from '../media/stored.ts'
import { sidebarTexts as t } from '../texts/sidebar.ts'
import { GroupInvitations } from './group-invitations.tsx'
import { Places } from './places.tsx'
import { RoomList } from './room-list.tsx'
import { closeDialog, openDialog } from './route.ts'
import styles from './sidebar.module.css'
import { useRoomList } from './use-rooms.ts'

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
  const name = nameOf(user.display_name ?? user.username, account)

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
          <Dialog title={t.admins} onClose={closeDialog}>
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
