import './styles/home.css'
import { lazy, useEffect, useState } from 'react'
import { roomKey } from '#shared/kit/room-key'
import { PersonContext, type PersonOfInterest } from './accounts/person-of-interest.ts'
import { Proof, useIdentityNotices } from './accounts/proof.tsx'
import { BlocksContext, useLoadedBlocks } from './accounts/use-blocked.ts'
import { useClient } from './connection/client.ts'
import { useActivity } from './connection/use-activity.ts'
import { focusComposer, useKeptFocus } from './kit/focus.ts'
import { LazyBoundary } from './kit/lazy-boundary.tsx'
import { Skeleton } from './kit/notice.tsx'
import { DeletionsUndone } from './messages/deletions.tsx'
import { useInvited } from './rooms/invited.ts'
import { RoomView } from './rooms/room-view.tsx'
import { goTo, useRoute } from './rooms/route.ts'
import { ShortcutsKey } from './rooms/shortcuts.tsx'
import { Sidebar } from './rooms/sidebar.tsx'
import { useAttention } from './rooms/use-attention.ts'
import { RoomsContext, useRooms } from './rooms/use-rooms.ts'
import { useShownTour } from './tour/use-tour.ts'

const PersonCard = lazy(async () => ({ default: (await import('./accounts/person-card.tsx')).PersonCard }))

const InvitationDialog = lazy(async () => ({ default: (await import('./rooms/invitation.tsx')).InvitationDialog }))

const wide = '(min-width: 760px)'

/** The list of rooms, the open room, and a person's card above them. On wide screens a room is always open. */
export function Home() {
  const client = useClient()
  const rooms = useRooms()
  const blocks = useLoadedBlocks()
  const { room, panel } = useRoute()
  const [person, setPerson] = useState<PersonOfInterest | null>(null)
  useActivity(client)
  useAttention(rooms.value, room)
  useKeptFocus()
  useIdentityNotices()
  const { token, answered } = useInvited()

  const isOpeningTour = useShownTour()?.isOpening ?? false

  useEffect(() => {
    if (!room && !isOpeningTour && matchMedia(wide).matches) goTo({ type: 'alpha', id: null })
  }, [room, isOpeningTour])

  return (
    <RoomsContext value={rooms}>
      <BlocksContext value={blocks}>
        <PersonContext value={setPerson}>
          <DeletionsUndone>
            <div className={`home ${room ? 'in-room' : ''} ${panel ? 'with-panel' : ''} ${panel ?? ''}`}>
              {room && (
                <button type="button" className="skip" onClick={focusComposer}>
                  Skip to the message field
                </button>
              )}
              <Sidebar chosen={room} />
              {room && <RoomView key={roomKey(room)} roomRef={room} panel={panel} />}
              {!room && isOpeningTour && (
                <div className="room-none">
                  <Skeleton label="Opening the tour" />
                </div>
              )}
            </div>
            <Proof />
            <ShortcutsKey />
            <LazyBoundary>{token !== null && <InvitationDialog token={token} onAnswered={answered} />}</LazyBoundary>
            <LazyBoundary key={person?.id ?? ''}>
              {person && <PersonCard person={person} onClose={() => setPerson(null)} />}
            </LazyBoundary>
          </DeletionsUndone>
        </PersonContext>
      </BlocksContext>
    </RoomsContext>
  )
}
