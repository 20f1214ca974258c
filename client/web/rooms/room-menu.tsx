import { lazy, useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import { conversationOf, roomKey } from '#shared/kit/room-key'
import { useClient } from '../connection/client.ts'
import { isAmong, useFolders, usePinning } from '../folders/use-folders.ts'
import { runKey } from '../keys/use-key.ts'
import { isolated } from '../kit/format.ts'
import type { IconName } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { MenuButton, MenuItem } from '../kit/menu.tsx'
import { useAttempt, useTell } from '../kit/toasts.tsx'
import { roomSettingsPartsOf } from '../room-settings/parts.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { lookOf } from './kind.ts'
import { LeaveRoom } from './leave-room.tsx'
import { useOpenRoom } from './room-context.ts'
import styles from './rooms.module.css'
import { linkToRoomSettings, openDialog } from './route.ts'
import { keyOf, useRoomList } from './use-rooms.ts'

const MessageAgeDialog = lazy(async () => ({ default: (await import('./message-age.tsx')).MessageAgeDialog }))
const FoldersDialog = lazy(async () => ({ default: (await import('../folders/folders-dialog.tsx')).FoldersDialog }))

export const waitingText = (waiting: string): string =>
  waiting === '1' ? t.waiting : t.waitingMany({ count: waiting })

/** Everything else that can be done with a room, and what a narrow header has no place for. */
export function RoomMenu(props: {
  state: RoomState
  onRules: (() => void) | null
  onModerate: (() => void) | null
  /** How much waits for the decision of moderators. */
  waiting: string | null
}) {
  const { state } = props
  const client = useClient()
  const { live, account, rights } = useOpenRoom()
  const rooms = useRoomList()
  const attempt = useAttempt()
  const tell = useTell()
  const [showsAge, setShowsAge] = useState(false)
  const [asksToLeave, setAsksToLeave] = useState(false)
  const [settings] = roomSettingsPartsOf(live.ref, rights)
  const row = rooms.value?.find((room) => keyOf(room) === roomKey(live.ref))
  const isSilent = row?.is_muted ?? false
  const folders = useFolders().value
  const isPinned = isAmong(folders?.pinned ?? [], live.ref)
  const [showsFolders, setShowsFolders] = useState(false)
  const setPinned = usePinning()
  const pin = () =>
    attempt(async () => {
      await setPinned(live.ref, !isPinned)
      tell(isPinned ? t.menu.unpinned : t.menu.pinned)
    })
  const conversation = conversationOf(live.ref, account)
  const silence = () =>
    attempt(async () => {
      if (isSilent) await client.social.unmute(conversation)
      else await client.social.mute(conversation)
      rooms.reload()
      tell(isSilent ? t.menu.unmuted : t.menu.muted)
    })

  return (
    <>
      <MenuButton
        icon="more"
        title={t.menu.title}
        description={props.waiting ? waitingText(props.waiting) : undefined}
        badge={props.waiting && <span className={`${styles.badge} in-queue unfolded`} data-count={props.waiting} />}
        label={isolated(state.room?.name ?? t.room)}
      >
        {props.onRules && <Folded icon="book" title={t.header.rules} onPress={props.onRules} />}
        {props.onModerate && (
          <Folded icon="shield" title={t.parts.moderation} waiting={props.waiting} onPress={props.onModerate} />
        )}
        <MenuItem icon="quiet" onPress={silence}>
          {isSilent ? t.menu.unmute : t.menu.mute}
        </MenuItem>
        {row && folders && (
          <>
            <MenuItem icon="pin" onPress={pin}>
              {isPinned ? t.menu.unpin : t.menu.pin}
            </MenuItem>
            <MenuItem icon="folder" onPress={() => setShowsFolders(true)}>
              {t.menu.folder}
            </MenuItem>
          </>
        )}
        {state.direct && (
          <MenuItem icon="clock" onPress={() => setShowsAge(true)}>
            {t.age.title}
          </MenuItem>
        )}
        {settings && (
          <MenuItem icon="sliders" onPress={() => openDialog(linkToRoomSettings(live.ref, settings))}>
            {t.menu.settings}
          </MenuItem>
        )}
        <MenuItem icon="keyboard" shortcut="?" onPress={() => runKey('list')}>
          {t.menu.keyboard}
        </MenuItem>
        {lookOf(live.ref).canLeave && (
          <MenuItem icon="leave" isGrave onPress={() => setAsksToLeave(true)}>
            {t.menu.leave}
          </MenuItem>
        )}
      </MenuButton>
      {showsAge && (
        <LazyBoundary>
          <MessageAgeDialog state={state} onClose={() => setShowsAge(false)} />
        </LazyBoundary>
      )}
      {showsFolders && (
        <LazyBoundary>
          <FoldersDialog room={live.ref} onClose={() => setShowsFolders(false)} />
        </LazyBoundary>
      )}
      {asksToLeave && <LeaveRoom state={state} onClose={() => setAsksToLeave(false)} />}
    </>
  )
}

/** Shown only while the button that does the same does not fit beside the name of the room. */
function Folded(props: { icon: IconName; title: string; waiting?: string | null; onPress: () => void }) {
  return (
    <MenuItem
      icon={props.icon}
      className={styles.folded}
      description={props.waiting ? waitingText(props.waiting) : undefined}
      badge={
        props.waiting && (
          <span className={`${styles.badge} in-queue`} aria-hidden="true">
            {props.waiting}
          </span>
        )
      }
      onPress={props.onPress}
    >
      {props.title}
    </MenuItem>
  )
}
