import { lazy, useState } from 'react'
import type { RoomRef } from '#shared/kit/primitives'
import { PasskeyOffer } from '../accounts/passkey-offer.tsx'
import { useSession } from '../accounts/session.ts'
import { ThemeButton } from '../accounts/theme-button.tsx'
import { Wordmark } from '../accounts/wordmark.tsx'
import { ConnectionBar } from '../connection/connection-state.tsx'
import { Avatar } from '../kit/avatar.tsx'
import { nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { RoomList } from './room-list.tsx'
import { useRoomList } from './use-rooms.ts'

const BrowseChannels = lazy(async () => ({ default: (await import('./browse-channels.tsx')).BrowseChannels }))
const CreateRoom = lazy(async () => ({ default: (await import('./create-room.tsx')).CreateRoom }))
const Cluster = lazy(async () => ({ default: (await import('../operations/cluster.tsx')).Cluster }))
const Settings = lazy(async () => ({ default: (await import('../accounts/settings.tsx')).Settings }))

export function Sidebar({ chosen }: { chosen: RoomRef | null }) {
  const { account, user, status } = useSession()
  const rooms = useRoomList()
  const [open, setOpen] = useState<'browse' | 'create' | 'settings' | 'cluster' | null>(null)
  const Frame = chosen ? 'aside' : 'main'
  const close = () => setOpen(null)
  const name = nameOf(user.display_name ?? user.username, account)

  return (
    <Frame className="sidebar" aria-label="Rooms and you">
      <header className="sidebar-head">
        {chosen ? (
          <Wordmark />
        ) : (
          <h1>
            <Wordmark />
          </h1>
        )}
        <span className="grow" />
        {user.role !== 'user' && (
          <button
            type="button"
            className="icon-button"
            aria-label="Cluster"
            title="Cluster"
            onClick={() => setOpen('cluster')}
          >
            <Icon name="poll" />
          </button>
        )}
        <button
          type="button"
          className="icon-button"
          aria-label="Browse channels"
          title="Browse channels"
          onClick={() => setOpen('browse')}
        >
          <Icon name="search" />
        </button>
        <button
          type="button"
          className="icon-button"
          aria-label="New room"
          title="New room"
          onClick={() => setOpen('create')}
        >
          <Icon name="plus" />
        </button>
      </header>
      {status?.demo && <p className="demo-note">Demo: the others here are scripted.</p>}
      <RoomList rooms={rooms} chosen={chosen} onBrowse={() => setOpen('browse')} onCreate={() => setOpen('create')} />
      <PasskeyOffer />
      <footer className="sidebar-foot">
        <ConnectionBar />
        <div className="row">
          <button type="button" className="me" onClick={() => setOpen('settings')}>
            <Avatar id={account} name={name} />
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
        {open === 'browse' && <BrowseChannels onClose={close} onCreate={() => setOpen('create')} />}
        {open === 'create' && <CreateRoom onClose={close} />}
        {open === 'cluster' && <Cluster onClose={close} />}
        {open === 'settings' && <Settings onClose={close} />}
      </LazyBoundary>
    </Frame>
  )
}
