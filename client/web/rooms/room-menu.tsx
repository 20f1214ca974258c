import { lazy, useCallback, useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import { conversationOf, roomKey } from '#shared/kit/room-key'
import { useClient } from '../connection/client.ts'
import { isAmong, useFolders, usePinning } from '../folders/use-folders.ts'
import { runKey } from '../keys/use-key.ts'
import { isolated } from '../kit/format.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { Menu } from '../kit/menu.tsx'
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
  const [isOpen, setOpen] = useState(false)
  const [showsAge, setShowsAge] = useState(false)
  const [asksToLeave, setAsksToLeave] = useState(false)
  const close = useCallback(() => setOpen(false), [])

  const choose = (act: () => void) => () => {
    close()
    act()
  }
  const [settings] = roomSettingsPartsOf(live.ref, rights)
  const row = rooms.value?.find((room) => keyOf(room) === roomKey(live.ref))
  const isSilent = row?.is_muted ?? false
  const folders = useFolders().value
  const isPinned = isAmong(folders?.pinned ?? [], live.ref)
  const [showsFolders, setShowsFolders] = useState(false)
  const setPinned = usePinning()
  const pin = () =>
    attempt(async () => {
      close()
      await setPinned(live.ref, !isPinned)
      tell(isPinned ? t.menu.unpinned : t.menu.pinned)
    })
  const conversation = conversationOf(live.ref, account)
  const silence = () =>
    attempt(async () => {
      close()
      if (isSilent) await client.social.unmute(conversation)
      else await client.social.mute(conversation)
      rooms.reload()
      tell(isSilent ? t.menu.unmuted : t.menu.muted)
    })

  return (
    <div className="holder">
      <button
        type="button"
        className="icon-button"
        aria-label={t.menu.title}
        aria-description={props.waiting ? waitingText(props.waiting) : undefined}
        title={t.menu.title}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="more" />
        {props.waiting && <span className={`${styles.badge} in-queue unfolded`} data-count={props.waiting} />}
      </button>
      {isOpen && (
        <Menu label={isolated(state.room?.name ?? t.room)} onClose={close}>
          {props.onRules && <Folded icon="book" title={t.header.rules} onPress={choose(props.onRules)} />}
          {props.onModerate && (
            <Folded
              icon="shield"
              title={t.parts.moderation}
              waiting={props.waiting}
              onPress={choose(props.onModerate)}
            />
          )}
          <button type="button" role="menuitem" onClick={silence}>
            <Icon name="quiet" />
            {isSilent ? t.menu.unmute : t.menu.mute}
          </button>
          {row && folders && (
            <>
              <button type="button" role="menuitem" onClick={pin}>
                <Icon name="pin" />
                {isPinned ? t.menu.unpin : t.menu.pin}
              </button>
              <button type="button" role="menuitem" onClick={choose(() => setShowsFolders(true))}>
                <Icon name="folder" />
                {t.menu.folder}
              </button>
            </>
          )}
          {state.direct && (
            <button type="button" role="menuitem" onClick={choose(() => setShowsAge(true))}>
              <Icon name="clock" />
              {t.age.title}
            </button>
          )}
          {settings && (
            <button
              type="button"
              role="menuitem"
              onClick={choose(() => openDialog(linkToRoomSettings(live.ref, settings)))}
            >
              <Icon name="sliders" />
              {t.menu.settings}
            </button>
          )}
          <button type="button" role="menuitem" onClick={choose(() => runKey('list'))}>
            <Icon name="keyboard" />
            <span className="grow">{t.menu.keyboard}</span>
            <kbd>?</kbd>
          </button>
          {lookOf(live.ref).canLeave && (
            <button type="button" role="menuitem" className="grave" onClick={choose(() => setAsksToLeave(true))}>
              <Icon name="leave" />
              {t.menu.leave}
            </button>
          )}
        </Menu>
      )}
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
    </div>
  )
}

/** Shown only while the button that does the same does not fit beside the name of the room. */
function Folded(props: { icon: IconName; title: string; waiting?: string | null; onPress: () => void }) {
  return (
    <button
      type="button"
      role="menuitem"
      className={styles.folded}
      aria-description={props.waiting ? waitingText(props.waiting) : undefined}
      onClick={props.onPress}
    >
      <Icon name={props.icon} />
      <span className="grow">{props.title}</span>
      {props.waiting && (
        <span className={`${styles.badge} in-queue`} aria-hidden="true">
          {props.waiting}
        </span>
      )}
    </button>
  )
}
