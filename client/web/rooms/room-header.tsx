import { lazy, useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import type { PanelName } from '#shared/kit/pages'
import { roomKey } from '#shared/kit/room-key'
import { useConnectionState } from '../connection/client.ts'
import { sealedText } from '../direct/secrecy-words.ts'
import { isolated, lengthOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { useModeration } from '../moderation/use-moderation.ts'
import { directTexts } from '../texts/direct.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { BackToRooms } from './back-to-rooms.tsx'
import { kindOf } from './kind.ts'
import { panelIcons, panelTitles } from './panel-parts.ts'
import { useOpenRoom } from './room-context.ts'
import { RoomMenu, waitingText } from './room-menu.tsx'
import { titleOf } from './room-title.ts'
import { RoomTopic } from './room-topic.tsx'
import styles from './rooms.module.css'
import { goTo } from './route.ts'
import { RulesSheet } from './rules-sheet.tsx'
import { keyOf, useRoomList } from './use-rooms.ts'

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
  const known = rooms.value?.find((room) => keyOf(room) === roomKey(live.ref))
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
        <h1 tabIndex={-1}>{name}</h1>
        <p className="room-facts">
          {(state.room ?? known)?.access_level === 'staff' && (
            <span className="chip role" title={t.header.staffHint}>
              {t.header.staff}
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
