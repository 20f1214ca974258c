import './kit/frame.css'
import './kit/refusals.ts'
import { lazy, type ReactNode, useEffect, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import type { Client } from '#client/sdk/types'
import { identityChanged } from '#shared/api/people/identities'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { alpha, roomKey } from '#shared/kit/room-key'
import { pushKept } from './accounts/notifications/push-kept.ts'
import { PersonContext, type PersonOfInterest } from './accounts/person-of-interest.ts'
import { useSession } from './accounts/session.ts'
import { SignIn } from './accounts/sign-in/sign-in.tsx'
import { BlocksContext, useLoadedBlocks } from './accounts/use-blocked.ts'
import { useClient, useConnectionState } from './connection/client.ts'
import connectionStyles from './connection/connection.module.css'
import { useCut } from './connection/cut.ts'
import { FoldersContext, useLoadedFolders } from './folders/use-folders.ts'
import { FriendsContext, useLoadedFriends } from './friends/use-friends.ts'
import styles from './home.module.css'
import { useKey, useKeyTable } from './keys/use-key.ts'
import { Dialog } from './kit/dialog.tsx'
import { focusComposer, useHeadingFocus, useKeptFocus } from './kit/focus.ts'
import { Icon } from './kit/icon.tsx'
import { LazyBoundary } from './kit/lazy-boundary.tsx'
import { Skeleton } from './kit/notice.tsx'
import { useTell } from './kit/toasts.tsx'
import { DeletionsUndone } from './messages/deletions.tsx'
import { besideRooms, titleOf } from './pages.tsx'
import { RoomView } from './rooms/room-view.tsx'
import { closeDialog, linkToRoom, roomAt, usePages, wide } from './rooms/route.ts'
import { Sidebar } from './rooms/sidebar.tsx'
import { HeadingContext, useAttention } from './rooms/use-attention.ts'
import { type Rooms, RoomsContext, useRooms } from './rooms/use-rooms.ts'
import { StarsContext, useLoadedStars } from './stars/use-stars.ts'
import { bookingHourTexts } from './texts/booking-hours.ts'
import { connectionTexts, pageTexts as t } from './texts/pages.ts'
import { signInTexts } from './texts/sign-in.ts'
import { welcomeTexts } from './texts/welcome.ts'
import { useShownTour } from './tour/use-tour.ts'

/** The sentences for what went wrong with the one who was asked; for all else the attempt itself is to be made again. */
const { access_denied, exchange_failed, provider_error, provider_away, not_configured } = bookingHourTexts.connection
const words: ReadonlyMap<string, string> = new Map(
  Object.entries({ access_denied, exchange_failed, provider_error, provider_away, not_configured }),
)

/** Says what became of a calendar when its provider has led back to the page, and takes that out of the address. */
function useCalendarReturn(): void {
  const tell = useTell()
  useEffect(() => {
    const { searchParams: given, pathname, hash } = new URL(location.href)
    const error = given.get('calendar_error')
    if (error === null && !given.has('calendar_connected')) return
    history.replaceState(null, '', pathname + hash)
    tell(error === null ? bookingHourTexts.connection.done : (words.get(error) ?? bookingHourTexts.connection.expired))
  }, [tell])
}

const KeyList = lazy(async () => ({ default: (await import('./keys/key-list.tsx')).KeyList }))
const Switcher = lazy(async () => ({ default: (await import('./switcher/switcher.tsx')).Switcher }))

/** The dialogs that keys open on every screen. `onLeave` closes what would stay above the next screen. */
function KeyDialogs({ onLeave }: { onLeave: () => void }) {
  const [open, setOpen] = useState<'switcher' | 'list' | null>(null)
  const close = () => setOpen(null)
  useKeyTable()
  useKey('switcher', () => setOpen(open === 'switcher' ? null : 'switcher'))
  useKey('list', () => setOpen('list'))
  return (
    <LazyBoundary key={open}>
      {open === 'switcher' && <Switcher onClose={close} onLeave={onLeave} />}
      {open === 'list' && <KeyList onClose={close} />}
    </LazyBoundary>
  )
}

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

/** A browser with notifications of the closed page keeps them, also after a new sign-in. */
function useKeptPush(): void {
  const client = useClient()
  const { account } = useSession()
  useEffect(() => {
    if (!isSameAccount(pushKept(), account)) return
    import('./accounts/notifications/push.ts').then(({ goOn }) => goOn(client, account)).catch(() => {})
  }, [client, account])
}

/** Gives what is within it the rooms of the account, and how it has arranged them. */
function ArrangedRooms({ rooms, children }: { rooms: Rooms; children: ReactNode }) {
  const folders = useLoadedFolders(rooms.value?.length ?? 0)
  return (
    <RoomsContext value={rooms}>
      <FoldersContext value={folders}>{children}</FoldersContext>
    </RoomsContext>
  )
}

/** Tells the server whether this page is visible. */
function useActivity(client: Client): void {
  useEffect(() => {
    const tell = () => {
      if (client.connection.state !== 'online') return
      client.messages.presence({ state: document.hidden ? 'idle' : 'active' }).catch(() => {})
    }
    document.addEventListener('visibilitychange', tell)
    return () => document.removeEventListener('visibilitychange', tell)
  }, [client])
}

/** What those who run the installation have to say to everybody. */
function NoticeStrip() {
  const notice = useSession().status?.notice
  if (!notice) return null
  return (
    <p className={`${connectionStyles.connectionStrip} rest`} role="status">
      <Icon name="warn" />
      <bdi className="grow">{notice}</bdi>
    </p>
  )
}

/** Says above everything else what is wrong with the connection, for as long as it is; a first attempt is not wrong yet. */
function ConnectionStrip() {
  const state = useConnectionState()
  const [isCut, cut] = useCut()
  const problem = isCut ? 'cut' : state
  if (problem === 'connecting' || problem === 'online') return null
  return (
    <p className={`${connectionStyles.connectionStrip} ${isCut ? 'offline' : state}`} role="status">
      <Icon name="plug" />
      <span className="grow">{connectionTexts.problems[problem]}</span>
      {isCut && (
        <button type="button" className="button small" onClick={() => cut(false)}>
          {connectionTexts.reconnect}
        </button>
      )}
    </p>
  )
}

interface Wanted {
  prove(): void
  decline(): void
}

/** Asks the person to sign in again when a call needs a fresh proof, then lets the call continue. */
function Proof() {
  const client = useClient()
  const { status } = useSession()
  const [wanted, setWanted] = useState<Wanted | null>(null)
  useEffect(
    () =>
      client.provedBy(
        () =>
          new Promise<void>((resolve, reject) =>
            setWanted({ prove: resolve, decline: () => reject(new AppError('REAUTHENTICATION_REQUIRED')) }),
          ),
      ),
    [client],
  )
  if (!wanted) return null
  const settle = (how: () => void) => () => {
    how()
    setWanted(null)
  }
  return (
    <Dialog title={signInTexts.confirm.title} onClose={settle(wanted.decline)}>
      <div className="stack">
        <p>{signInTexts.confirm.hint}</p>
        <SignIn status={status} onEnter={settle(wanted.prove)} />
      </div>
    </Dialog>
  )
}

/** Shows a notice when the ways to sign in to this account have changed, on any device. */
function useIdentityNotices(): void {
  const client = useClient()
  const tell = useTell()
  useEffect(
    () =>
      client.on(identityChanged, ({ change, method }) =>
        tell(
          (change === 'added' ? signInTexts.methodAdded : signInTexts.methodRemoved)({
            method: signInTexts.methods[method],
          }),
        ),
      ),
    [client, tell],
  )
}
