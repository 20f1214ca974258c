import { isSameAccount } from '#shared/kit/accounts'
import './kit/frame.css'
import { lazy, useEffect, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { alpha, roomKey } from '#shared/kit/room-key'
import { useCalendarReturn } from './accounts/availability/calendar-return.ts'
import { pushKept } from './accounts/notifications/push-kept.ts'
import { PersonContext, type PersonOfInterest } from './accounts/person-of-interest.ts'
import { useSession } from './accounts/session.ts'
import { Proof, useIdentityNotices } from './accounts/sign-in/proof.tsx'
import { BlocksContext, useLoadedBlocks } from './accounts/use-blocked.ts'
import { useClient } from './connection/client.ts'
import { ConnectionStrip } from './connection/connection-strip.tsx'
import { NoticeStrip } from './connection/notice-strip.tsx'
import { useActivity } from './connection/use-activity.ts'
import { ArrangedRooms } from './folders/arranged-rooms.tsx'
import { FriendsContext, useLoadedFriends } from './friends/use-friends.ts'
import styles from './home.module.css'
import { KeyDialogs } from './keys/key-dialogs.tsx'
import { focusComposer, useHeadingFocus, useKeptFocus } from './kit/focus.ts'
import { LazyBoundary } from './kit/lazy-boundary.tsx'
import { Skeleton } from './kit/notice.tsx'
import { DeletionsUndone } from './messages/deletions.tsx'
import { besideRooms, titleOf } from './pages.tsx'
import { RoomView } from './rooms/room-view.tsx'
import { closeDialog, linkToRoom, roomAt, usePages, wide } from './rooms/route.ts'
import { Sidebar } from './rooms/sidebar.tsx'
import { HeadingContext, useAttention } from './rooms/use-attention.ts'
import { useRooms } from './rooms/use-rooms.ts'
import { StarsContext, useLoadedStars } from './stars/use-stars.ts'
import { pageTexts as t } from './texts/pages.ts'
import { welcomeTexts } from './texts/welcome.ts'
import { useShownTour } from './tour/use-tour.ts'

const PersonCard = lazy(async () => ({ default: (await import('./accounts/people/person-card.tsx')).PersonCard }))

const IncomingCall = lazy(async () => ({ default: (await import('./calls/incoming-call.tsx')).IncomingCall }))

const InvitationDialog = lazy(async () => ({ default: (await import('./rooms/invitation.tsx')).InvitationDialog }))

/** The list of rooms, the open room, and a person's card above them. On wide screens a room is always open. */
export function Home() {
  const client = useClient()
  const rooms = useRooms()
  const blocks = useLoadedBlocks()
  const loadedFriends = useLoadedFriends()
  const stars = useLoadedStars()
  const { page, behind } = usePages()
  const { room, panel } = roomAt(behind)
  const beside = behind && besideRooms(behind)
  const [person, setPerson] = useState<PersonOfInterest | null>(null)
  useActivity(client)
  const [heading, setHeading] = useState<string | null>(null)
  const dialog = page === behind ? null : page
  const name = useAttention(
    rooms.value,
    room,
    dialog ? titleOf(dialog) : !beside || room ? null : (heading ?? titleOf(behind)),
  )
  useHeadingFocus(room || !beside ? null : JSON.stringify(behind))
  useKeptFocus()
  useIdentityNotices()
  useKeptPush()
  useCalendarReturn()

  const isElsewhere = beside !== null
  const isOpeningTour = useShownTour()?.isOpening ?? false

  useEffect(() => {
    if (page?.name !== 'home' || isOpeningTour || !matchMedia(wide).matches) return
    // The hash may ask for a step of the tour.
    navigate(linkToRoom(alpha) + location.hash, { replace: true })
  }, [page?.name, isOpeningTour])

  return (
    <HeadingContext value={setHeading}>
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
                          {t.skip}
                        </button>
                      )}
                      <Sidebar page={page} behind={behind} chosen={room} isBeside={room !== null || isElsewhere} />
                      {room && !isElsewhere && <RoomView key={roomKey(room)} roomRef={room} panel={panel} />}
                      {beside}
                      {!room && !isElsewhere && isOpeningTour && (
                        <div className="room-none">
                          <Skeleton label={welcomeTexts.openingTour} />
                        </div>
                      )}
                    </div>
                  </div>
                  <Proof />
                  <KeyDialogs onLeave={() => setPerson(null)} />
                  <LazyBoundary>
                    <IncomingCall />
                  </LazyBoundary>
                  <LazyBoundary>
                    {page?.name === 'invitation' && (
                      <InvitationDialog token={page.params.token} onAnswered={closeDialog} />
                    )}
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
      {/* The focus is in the field of a room, which does not say its name. */}
      <p className="unseen" aria-live="polite">
        {room && !dialog ? name : ''}
      </p>
    </HeadingContext>
  )
}

/** A browser that is told while the page is closed goes on being told, also after a new sign-in. */
function useKeptPush(): void {
  const client = useClient()
  const { account } = useSession()
  useEffect(() => {
    if (!isSameAccount(pushKept(), account)) return
    import('./accounts/notifications/push.ts').then(({ goOn }) => goOn(client, account)).catch(() => {})
  }, [client, account])
}
