import { lazy, useState } from 'react'
import type { ChatFolder } from '#shared/api/rooms/chat-folders'
import type { RoomSummary } from '#shared/api/rooms/room'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { Tabs } from '../kit/tabs.tsx'
import { Badge } from '../rooms/badge.tsx'
import { refOf } from '../rooms/use-rooms.ts'
import { folderTexts as t } from '../texts/sidebar.ts'
import styles from './folder-tabs.module.css'
import foldersStyles from './folders.module.css'
import { isAmong } from './use-folders.ts'

const FoldersDialog = lazy(async () => ({ default: (await import('./folders-dialog.tsx')).FoldersDialog }))

const all = 'all-rooms'

/** All rooms, then the folders, each with how much is unread in it. */
export function FolderTabs(props: {
  folders: readonly ChatFolder[]
  rooms: readonly RoomSummary[]
  /** The id of what they turn. */
  controls: string
  /** The id of a folder; null for all rooms. */
  chosen: string | null
  onChoose: (id: string | null) => void
}) {
  const { folders, rooms, controls, chosen, onChoose } = props
  const [isChanging, setChanging] = useState(false)
  return (
    <div className={styles.folderTabs}>
      <Tabs
        label={t.title}
        controls={controls}
        tabs={[
          { name: all, title: t.all },
          ...folders.map((folder) => ({ name: folder.id, title: <FolderTitle folder={folder} rooms={rooms} /> })),
        ]}
        chosen={chosen ?? all}
        onChoose={(name) => onChoose(name === all ? null : name)}
      />
      <button
        type="button"
        className="icon-button small"
        aria-label={t.editAll}
        title={t.editAll}
        onClick={() => setChanging(true)}
      >
        <Icon name="pencil" />
      </button>
      {isChanging && (
        <LazyBoundary>
          <FoldersDialog room={null} onClose={() => setChanging(false)} />
        </LazyBoundary>
      )}
    </div>
  )
}

function FolderTitle({ folder, rooms }: { folder: ChatFolder; rooms: readonly RoomSummary[] }) {
  const heard = rooms.filter((room) => !room.is_muted && isAmong(folder.chats, refOf(room)))
  const sum = (count: 'unread' | 'mentions') => heard.reduce((so, room) => so + room[count], 0)
  const unread = sum('unread')
  return (
    <>
      {folder.emoji && <span aria-hidden="true">{folder.emoji}</span>}
      <span className={foldersStyles.folderLabel}>{isolated(folder.label)}</span>
      {unread > 0 && <Badge unread={unread} mentions={sum('mentions')} />}
    </>
  )
}
