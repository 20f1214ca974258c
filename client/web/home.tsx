import { isSameAccount } from '#shared/kit/accounts'
import './kit/frame.css'
import { lazy, type ReactNode, useEffect, useState } from 'react'
import { roomKey } from '#shared/kit/room-key'
import { useCalendarReturn } from './accounts/calendar-return.ts'
import { PersonContext, type PersonOfInterest } from './accounts/person-of-interest.ts'
import { Proof, useIdentityNotices } from './accounts/proof.tsx'
import { pushKept } from './accounts/push-kept.ts'
import { useSession } from './accounts/session.ts'
import { BlocksContext, useLoadedBlocks } from './accounts/use-blocked.ts'
import { useClient } from './connection/client.ts'
import { ConnectionStrip } from './connection/connection-strip.tsx'
import { NoticeStrip } from './connection/notice-strip.tsx'
import { useActivity } from './connection/use-activity.ts'
import { ArrangedRooms } from './folders/arranged-rooms.tsx'
import { FriendsContext, useLoadedFriends } from './friends/use-friends.ts'
import styles from './home.module.css'
import { focusComposer, useKeptFocus } from './kit/focus.ts'
import { LazyBoundary } from './kit/lazy-boundary.tsx'
import { Skeleton } from './kit/notice.tsx'
import { DeletionsUndone } from './messages/deletions.tsx'
import { useInvited } from './rooms/invited.ts'
import { lookOf } from './rooms/kind.ts'
import { RoomView } from './rooms/room-view.tsx'
import { goTo, useRoute } from './rooms/route.ts'
import { ShortcutsKey } from './rooms/shortcuts.tsx'
import { Sidebar } from './rooms/sidebar.tsx'
import { useAttention } from './rooms/use-attention.ts'
import { useRooms } from './rooms/use-rooms.ts'
import { StarsContext, useLoadedStars } from './stars/use-stars.ts'
import { useShownTour } from './tour/use-tour.ts'

const PersonCard = lazy(async () => ({ default: (await import('./accounts/person-card.tsx')).PersonCard }))

const AgentsView = lazy(async () => ({ default: (await import('./agents/agents-view.tsx')).AgentsView }))

const IncomingCall = lazy(async () => ({ default: (await import('./calls/incoming-call.tsx')).IncomingCall }))

const CallsView = lazy(async () => ({ default: (await import('./calls/calls-view.tsx')).CallsView }))

const FriendsView = lazy(async () => ({ default: (await import('./friends/friends-view.tsx')).FriendsView }))

const StarredView = lazy(async () => ({ default: (await import('./stars/starred-view.tsx')).StarredView }))

const LiveView = lazy(async () => ({ default: (await import('./streams/live-view.tsx')).LiveView }))

const StreamRoom = lazy(async () => ({ default: (await import('./streams/stream-room.tsx')).StreamRoom }))

const ProfilePage = lazy(async () => ({ default: (await import('./profiles/profile-page.tsx')).ProfilePage }))

const InvitationDialog = lazy(async () => ({ default: (await import('./rooms/invitation.tsx')).InvitationDialog }))

const wide = '(min-width: 760px)'

/** The list of rooms, the open room, and a person's card above them. On wide screens a room is always open. */
export function Home() {
  const client = useClient()
  const rooms = useRooms()
  const blocks = useLoadedBlocks()
  const loadedFriends = useLoadedFriends()
  const stars = useLoadedStars()
  const { room, panel, profile, ...places } = useRoute()
  const { agents, live, calls, friends, starred } = places
  const [person, setPerson] = useState<PersonOfInterest | null>(null)
  useActivity(client)
  useAttention(rooms.value, room)
  useKeptFocus()
  useIdentityNotices()
  useKeptPush()
  useCalendarReturn()
  const { token, answered } = useInvited()

  const isElsewhere = agents !== null || live !== null || calls || friends || starred || profile !== null
  const isOpeningTour = useShownTour()?.isOpening ?? false

  useEffect(() => {
    if (!room && !isElsewhere && !isOpeningTour && matchMedia(wide).matches) goTo({ type: 'alpha', id: null })
  }, [room, isElsewhere, isOpeningTour])

  return (
    <ArrangedRooms rooms={rooms}>
      <BlocksContext value={blocks}>
        <FriendsContext value={loadedFriends}>
          <StarsContext value={stars}>
            <PersonContext value={setPerson}>
              <DeletionsUndone>
                <div className={styles.window}>
                  <ConnectionStrip />
                  <NoticeStrip />
                  <div
                    className={`home ${room || isElsewhere ? 'in-room' : ''} ${panel ? 'with-panel' : ''} ${panel === 'moderation' ? 'moderation' : ''}`}
                  >
                    {room && (
                      <button type="button" className={styles.skip} onClick={focusComposer}>
                        Skip to the message field
                      </button>
                    )}
                    <Sidebar chosen={room} {...places} isBeside={room !== null || isElsewhere} />
                    {room && lookOf(room).isWatched && (
                      <Place opening="Opening the stream">
                        <StreamRoom key={roomKey(room)} roomRef={room} panel={panel} />
                      </Place>
                    )}
                    {room && !lookOf(room).isWatched && <RoomView key={roomKey(room)} roomRef={room} panel={panel} />}
                    {live && (
                      <Place opening="Opening the livestreams">
                        <LiveView path={live} />
                      </Place>
                    )}
                    {calls && (
                      <Place opening="Opening the calls">
                        <CallsView />
                      </Place>
                    )}
                    {friends && (
                      <Place opening="Opening your friends">
                        <FriendsView />
                      </Place>
                    )}
                    {starred && (
                      <Place opening="Opening your stars">
                        <StarredView />
                      </Place>
                    )}
                    {agents && (
                      <Place opening="Opening the agents">
                        <AgentsView path={agents} />
                      </Place>
                    )}
                    {profile !== null && (
                      <Place opening="Opening the profile">
                        <ProfilePage address={profile} />
                      </Place>
                    )}
                    {!room && !isElsewhere && isOpeningTour && (
                      <div className="room-none">
                        <Skeleton label="Opening the tour" />
                      </div>
                    )}
                  </div>
                </div>
                <Proof />
                <ShortcutsKey />
                <LazyBoundary>
                  <IncomingCall />
                </LazyBoundary>
                <LazyBoundary>
                  {token !== null && <InvitationDialog token={token} onAnswered={answered} />}
                </LazyBoundary>
                <LazyBoundary key={person?.id ?? ''}>
                  {person && <PersonCard person={person} onClose={() => setPerson(null)} />}
                </LazyBoundary>
              </DeletionsUndone>
            </PersonContext>
          </StarsContext>
        </FriendsContext>
      </BlocksContext>
    </ArrangedRooms>
  )
}

/** What is loaded on first use, and says meanwhile what is being opened. */
function Place({ opening, children }: { opening: string; children: ReactNode }) {
  return (
    <LazyBoundary
      waiting={
        <div className="room-none">
          <Skeleton label={opening} />
        </div>
      }
    >
      {children}
    </LazyBoundary>
  )
}

/** A browser that is told while the page is closed goes on being told, also after a new sign-in. */
function useKeptPush(): void {
  const client = useClient()
  const { account } = useSession()
  useEffect(() => {
    if (!isSameAccount(pushKept(), account)) return
    import('./accounts/push.ts').then(({ goOn }) => goOn(client, account)).catch(() => {})
  }, [client, account])
}
