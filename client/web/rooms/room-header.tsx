import { lazy, useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import type { PanelName } from '#shared/kit/pages'
import { conversationOf, roomKey } from '#shared/kit/room-key'
import { useClient, useConnectionState } from '../connection/client.ts'
import { sealedText } from '../direct/secrecy-words.ts'
import { isAmong, useFolders, usePinning } from '../folders/use-folders.ts'
import { runKey } from '../keys/use-key.ts'
import { BackButton } from '../kit/back-button.tsx'
import { isolated, lengthOf } from '../kit/format.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { MenuButton, MenuItem } from '../kit/menu.tsx'
import { useAttempt, useTell } from '../kit/toasts.tsx'
import { useModeration } from '../moderation/use-moderation.ts'
import { roomSettingsPartsOf } from '../room-settings/parts.ts'
import { controlTexts } from '../texts/controls.ts'
import { directTexts } from '../texts/direct.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { kindOf, lookOf } from './kind.ts'
import { LeaveRoom } from './leave-room.tsx'
import { useOpenRoom } from './room-context.ts'
import { panelIcons, panelTitles } from './room-panel.tsx'
import { titleOf } from './room-title.ts'
import { RoomTopic } from './room-topic.tsx'
import styles from './rooms.module.css'
import { goTo, linkToRoomSettings, openDialog } from './route.ts'
import { RulesSheet } from './rules-sheet.tsx'
import { keyOf, useRoomList } from './use-rooms.ts'

/** A link back to the list of rooms, on screens too narrow to show it beside the room. */
export const BackToRooms = () => (
  <BackButton className="back" title={controlTexts.backToRooms} onPress={() => goTo(null)} />
)

const MessageAgeDialog = lazy(async () => ({ default: (await import('./message-age.tsx')).MessageAgeDialog }))
const FoldersDialog = lazy(async () => ({ default: (await import('../folders/folders-dialog.tsx')).FoldersDialog }))

const waitingText = (waiting: string): string => (waiting === '1' ? t.waiting : t.waitingMany({ count: waiting }))

/** Everything else that can be done with a room, and what a narrow header has no place for. */
function RoomMenu(props: {
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

const SecrecyDialog = lazy(async () => ({ default: (await import('../direct/secrecy-dialog.tsx')).SecrecyDialog }))
const SharedKeyDialog = lazy(async () => ({
  default: (await import('../direct/shared-key-dialog.tsx')).SharedKeyDialog,
}))

export function RoomHeader(props: { state: RoomState; panel: PanelName | null; parts: readonly PanelName[] }) {
  const { state, panel, parts } = props
  const { live, sealed } = useOpenRoom()
  const rooms = useRoomList()
  const { waiting } = useModeration()
  const [showsRules, setShowsRules] = useState(false)
  const [showsSafety, setShowsSafety] = useState(false)
  const known = [...(rooms.value ?? []), ...rooms.archived].find((room) => keyOf(room) === roomKey(live.ref))
  const name = known ? titleOf(known) : isolated(state.room?.name ?? t.room)
  const kind = kindOf(live.ref)
  const connection = useConnectionState()
  const isCatchingUp = state.status === 'catching-up' && connection !== 'offline'
  const isTold = sealed === 'epoch' && state.me.capabilities.text?.code === 'READ_ONLY'
  /** The part behind the button that opens the panel as such. */
  const main = parts.find((part) => part !== 'search' && part !== 'moderation')

  return (
    <header className="room-head">
      <BackToRooms />
      <div className="grow">
        <h1 tabIndex={-1} className={styles.title}>
          {name}
        </h1>
        <p className={`room-facts ${styles.facts}`}>
          {(state.room ?? known)?.access_level === 'staff' && (
            <span className="chip role" title={t.header.staffHint}>
              {t.header.staff}
            </span>
          )}
          {(state.room ?? known)?.is_active === false && (
            <span className="chip" title={t.header.archivedHint}>
              {t.header.archived}
            </span>
          )}
          {isCatchingUp && <span role="status">{t.header.catchingUp}</span>}
          {state.direct && isTold && <span>{directTexts.badge.told}</span>}
          {state.direct && !isTold && (
            <button type="button" className="inline" aria-haspopup="dialog" onClick={() => setShowsSafety(true)}>
              {sealedText(state.direct)}
            </button>
          )}
          {sealed === 'shared-key' && (
            <button type="button" className="inline" aria-haspopup="dialog" onClick={() => setShowsSafety(true)}>
              {directTexts.badge.sharedKey}
            </button>
          )}
          {state.rules.message_ttl > 0 && <span>{t.age.header({ time: lengthOf(state.rules.message_ttl) })}</span>}
          {!isCatchingUp && kind.tells.counts && state.membersCount > 0 && (
            <span className="numerals">
              {t.membersOnline({
                count: state.membersCount,
                online: state.online,
                there: (parts) => <span className="online-count">{parts}</span>,
              })}
            </span>
          )}
        </p>
      </div>
      {kind.hasRules && (
        <button
          type="button"
          className={`icon-button ${styles.folds}`}
          aria-label={t.header.rules}
          title={t.header.rules}
          onClick={() => setShowsRules(true)}
        >
          <Icon name="book" />
        </button>
      )}
      {parts.includes('search') && <PanelButton name="search" chosen={panel} />}
      {main && <PanelButton name={main} chosen={panel} />}
      {parts.includes('moderation') && <PanelButton name="moderation" chosen={panel} waiting={waiting} folds />}
      <RoomMenu
        state={state}
        onRules={kind.hasRules ? () => setShowsRules(true) : null}
        onModerate={parts.includes('moderation') ? () => goTo(live.ref, 'moderation') : null}
        waiting={waiting}
      />
      <RoomTopic topic={state.room ? state.room.topic : (known?.topic ?? null)} />
      {state.direct && showsSafety && (
        <LazyBoundary>
          <SecrecyDialog direct={state.direct} onClose={() => setShowsSafety(false)} />
        </LazyBoundary>
      )}
      {sealed === 'shared-key' && showsSafety && (
        <LazyBoundary>
          <SharedKeyDialog onClose={() => setShowsSafety(false)} />
        </LazyBoundary>
      )}
      {showsRules && <RulesSheet state={state} onClose={() => setShowsRules(false)} />}
    </header>
  )
}

function PanelButton(props: { name: PanelName; chosen: PanelName | null; waiting?: string | null; folds?: boolean }) {
  const { live } = useOpenRoom()
  const isChosen = props.name === props.chosen
  const title = panelTitles[props.name]
  return (
    <button
      type="button"
      className={props.folds ? `icon-button ${styles.folds}` : 'icon-button'}
      aria-label={title}
      aria-description={props.waiting ? waitingText(props.waiting) : undefined}
      title={props.waiting ? t.waitingIn({ title, waiting: waitingText(props.waiting) }) : title}
      aria-pressed={isChosen}
      onClick={() => goTo(live.ref, isChosen ? null : props.name)}
    >
      <Icon name={panelIcons[props.name]} />
      {props.waiting && <span className={`${styles.badge} in-queue`} data-count={props.waiting} />}
    </button>
  )
}
