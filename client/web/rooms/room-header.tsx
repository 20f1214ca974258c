import { lazy, useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import { roomKey } from '#shared/kit/room-key'
import { useSession } from '../accounts/session.ts'
import { useClient, useConnectionState } from '../connection/client.ts'
import { ConnectionWord } from '../connection/connection-state.tsx'
import { sealedText, sharedKeyText } from '../direct/secrecy-words.ts'
import { ActButton } from '../kit/act-button.tsx'
import { isolated, plural } from '../kit/format.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { useTell } from '../kit/toasts.tsx'
import { BackToRooms } from './back-to-rooms.tsx'
import { kindOf, lookOf } from './kind.ts'
import { useOpenRoom } from './room-context.ts'
import { RoomMenu } from './room-menu.tsx'
import { titleOf } from './room-title.ts'
import { RoomTopic } from './room-topic.tsx'
import { goTo, type PanelName } from './route.ts'
import { RulesSheet } from './rules-sheet.tsx'
import { keyOf, useRoomList } from './use-rooms.ts'

const SecrecyDialog = lazy(async () => ({ default: (await import('../direct/secrecy-dialog.tsx')).SecrecyDialog }))
const SharedKeyDialog = lazy(async () => ({
  default: (await import('../direct/shared-key-dialog.tsx')).SharedKeyDialog,
}))

export function RoomHeader({ state, panel }: { state: RoomState; panel: PanelName | null }) {
  const { rights, live, isSealed, sealed } = useOpenRoom()
  const rooms = useRoomList()
  const [showsRules, setShowsRules] = useState(false)
  const [showsSafety, setShowsSafety] = useState(false)
  const known = rooms.value?.find((room) => keyOf(room) === roomKey(live.ref))
  const name = known ? titleOf(known) : isolated(state.room?.name ?? 'Room')
  const kind = kindOf(live.ref)

  return (
    <header className="room-head">
      <BackToRooms />
      <div className="grow">
        <h1 tabIndex={-1}>{name}</h1>
        <p className="room-facts">
          <Connected state={state} />
          {state.direct && (
            <button type="button" className="inline" aria-haspopup="dialog" onClick={() => setShowsSafety(true)}>
              {sealedText(state.direct)}
            </button>
          )}
          {sealed === 'shared-key' && (
            <button type="button" className="inline" aria-haspopup="dialog" onClick={() => setShowsSafety(true)}>
              {sharedKeyText}
            </button>
          )}
          {kind.tells.counts && state.membersCount > 0 && (
            <span className="numerals">
              {plural(state.membersCount, 'member')}
              <span className="online-count">, {state.online.toLocaleString()} online</span>
            </span>
          )}
        </p>
      </div>
      <BecomeModerator />
      {kind.hasRules && (
        <button
          type="button"
          className="icon-button"
          aria-label="Rules of this room"
          title="Rules of this room"
          onClick={() => setShowsRules(true)}
        >
          <Icon name="book" />
        </button>
      )}
      {!isSealed && <PanelButton name="search" icon="search" title="Search" chosen={panel} />}
      {kind.tells.counts && <PanelButton name="members" icon="people" title="Members" chosen={panel} />}
      {rights.isModerator && kind.hasModerators && (
        <PanelButton name="moderation" icon="shield" title="Moderation" chosen={panel} />
      )}
      <RoomMenu state={state} />
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

function Connected({ state }: { state: RoomState }) {
  const connection = useConnectionState()
  if (connection !== 'online' && connection !== 'rest') return <ConnectionWord state={connection} />
  if (state.status === 'joining') return <ConnectionWord state="connecting" />
  if (state.status === 'catching-up') return <span className="connection connecting">Loading missed events</span>
  return <ConnectionWord state={state.status === 'offline' ? 'offline' : connection} />
}

function PanelButton(props: { name: PanelName; icon: IconName; title: string; chosen: PanelName | null }) {
  const { live } = useOpenRoom()
  const isChosen = props.name === props.chosen
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={props.title}
      title={props.title}
      aria-pressed={isChosen}
      onClick={() => goTo(live.ref, isChosen ? null : props.name)}
    >
      <Icon name={props.icon} />
    </button>
  )
}

/** In the demo, somebody may become moderator of the rooms that the demo gave to this browser. */
function BecomeModerator() {
  const client = useClient()
  const { status } = useSession()
  const { rights, live, account, reopen } = useOpenRoom()
  const tell = useTell()
  if (!status?.demo || rights.isModerator || !lookOf(live.ref).isOfDemo) return null
  const become = async () => {
    await client.status.becomeModerator()
    const asked = { action: 'permissions', userAddress: account, channelId: live.ref.id ?? 'global' } as const
    const answer = await client.moderation.inspect(asked)
    const isHere = 'permissions' in answer && (answer.permissions.canMute || answer.permissions.canDelete)
    if (!isHere) return tell('You moderate the rooms of the demo now, but not this one: it belongs to somebody else.')
    tell('You are the moderator now.')
    reopen()
    goTo(live.ref, 'moderation')
  }
  return (
    <ActButton className="button small become" onPress={become}>
      <Icon name="shield" />
      <span>Be the moderator</span>
    </ActButton>
  )
}
