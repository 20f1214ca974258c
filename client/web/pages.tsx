import { lazy, type ReactNode, useEffect, useLayoutEffect } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { linkTo, type PageAt, type PageName, type PageParams, type PanelName } from '#shared/kit/pages'
import styles from './app.module.css'
import { useAccount } from './connection/client.ts'
import { LazyBoundary } from './kit/lazy-boundary.tsx'
import { Blank, Skeleton } from './kit/notice.tsx'
import { followLink, leadOn, usePage } from './rooms/route.ts'

const AgentPage = lazy(async () => ({ default: (await import('./agent-page/agent-page.tsx')).AgentPage }))
const AgentsView = lazy(async () => ({ default: (await import('./agents/agents-view.tsx')).AgentsView }))
const BookingPage = lazy(async () => ({ default: (await import('./booking/booking-page.tsx')).BookingPage }))
const CallsView = lazy(async () => ({ default: (await import('./calls/calls-view.tsx')).CallsView }))
const FriendsView = lazy(async () => ({ default: (await import('./friends/friends-view.tsx')).FriendsView }))
const GuestStreams = lazy(async () => ({ default: (await import('./streams/guest-streams.tsx')).GuestStreams }))
const JoinPage = lazy(async () => ({ default: (await import('./booking/join-page.tsx')).JoinPage }))
const LiveView = lazy(async () => ({ default: (await import('./streams/live-view.tsx')).LiveView }))
const MeetingPage = lazy(async () => ({ default: (await import('./meetings/meeting-page.tsx')).MeetingPage }))
const ProfilePage = lazy(async () => ({ default: (await import('./profiles/profile-page.tsx')).ProfilePage }))
const StarredView = lazy(async () => ({ default: (await import('./stars/starred-view.tsx')).StarredView }))
const StreamRoom = lazy(async () => ({ default: (await import('./streams/stream-room.tsx')).StreamRoom }))

interface Page<Name extends PageName> {
  /** Who may open it. Guests sign in first, and then return to it. */
  who: 'account' | 'admin' | 'everyone'
  /** Its name while it loads, and if it is a dialog. */
  title: string
  /** The part beside the rooms, or the whole page if it is for everyone. Absent if the rooms show it. */
  show?: (params: PageParams<Name>) => ReactNode
  /** Shown to guests instead of the sign-in. */
  forGuests?: (params: PageParams<Name>, signIn: () => void) => ReactNode
}

const streamRoom = (stream: string, panel: PanelName | null = null) => (
  <StreamRoom key={stream} roomRef={{ type: 'stream', id: stream }} panel={panel} />
)
const streamForGuests = ({ stream }: { stream: string }, signIn: () => void) => (
  <GuestStreams stream={stream} onEnter={signIn} />
)

/** Each page, by its name in the table of paths (`shared/kit/pages.ts`). */
const pages: { readonly [Name in PageName]: Page<Name> } = {
  home: { who: 'account', title: 'Plaza' },
  browse: { who: 'account', title: 'Channels' },
  roomNew: { who: 'account', title: 'New room' },
  roomsNear: { who: 'account', title: 'Rooms near me' },
  roomTokens: { who: 'account', title: 'From my tokens' },
  room: { who: 'account', title: 'Room' },
  roomPanel: { who: 'account', title: 'Room' },
  roomModeration: { who: 'account', title: 'Room' },
  message: { who: 'account', title: 'Room' },
  live: {
    who: 'account',
    title: 'Live',
    show: () => <LiveView path="now" />,
    forGuests: (_params, signIn) => <GuestStreams stream={null} onEnter={signIn} />,
  },
  liveNew: { who: 'account', title: 'Go live', show: () => <LiveView path="new" /> },
  stream: {
    who: 'account',
    title: 'Livestream',
    show: ({ stream }) => streamRoom(stream),
    forGuests: streamForGuests,
  },
  streamPanel: {
    who: 'account',
    title: 'Livestream',
    show: ({ stream, panel }) => streamRoom(stream, panel as PanelName),
    forGuests: streamForGuests,
  },
  streamModeration: {
    who: 'account',
    title: 'Livestream',
    show: ({ stream }) => streamRoom(stream, 'moderation'),
    forGuests: streamForGuests,
  },
  streamMessage: {
    who: 'account',
    title: 'Livestream',
    show: ({ stream }) => streamRoom(stream),
    forGuests: streamForGuests,
  },
  calls: { who: 'account', title: 'Calls', show: () => <CallsView /> },
  friends: { who: 'account', title: 'Friends', show: () => <FriendsView /> },
  starred: { who: 'account', title: 'Starred messages', show: () => <StarredView /> },
  profileOwn: { who: 'account', title: 'Your profile', show: () => <ProfilePage address="" /> },
  profile: { who: 'account', title: 'Profile', show: ({ address }) => <ProfilePage address={address} /> },
  agents: { who: 'account', title: 'Agents', show: () => <AgentsView path={[]} /> },
  agentNew: { who: 'account', title: 'New agent', show: () => <AgentsView path={['new']} /> },
  agent: { who: 'everyone', title: 'Agent', show: ({ agent }) => <AgentPage id={agent} /> },
  agentChat: { who: 'account', title: 'Agent', show: ({ agent }) => <AgentsView path={[agent]} /> },
  agentEdit: { who: 'account', title: 'Agent', show: ({ agent }) => <AgentsView path={[agent, 'edit']} /> },
  settings: { who: 'account', title: 'Settings' },
  cluster: { who: 'admin', title: 'Cluster' },
  installation: { who: 'admin', title: 'Installation' },
  invitation: { who: 'account', title: 'Invitation' },
  meeting: { who: 'everyone', title: 'Meeting', show: ({ code }) => <MeetingPage code={code} /> },
  schedule: { who: 'everyone', title: 'Book a call', show: ({ slug }) => <BookingPage slug={slug} /> },
  call: { who: 'everyone', title: 'Call', show: ({ token }) => <JoinPage token={token} /> },
}

/** The row of a page, which takes the parameters of that page. */
const rowOf = (page: PageAt): Page<PageName> => pages[page.name] as Page<PageName>

/** The title of a page whose screen has no heading of its own. */
export const titleOf = (page: PageAt): string => rowOf(page).title

/** The part of a page beside the rooms; null if the rooms show it. */
export function besideRooms(page: PageAt): ReactNode {
  const { title, show } = rowOf(page)
  if (!show) return null
  const waiting = (
    <div className="room-none">
      <Skeleton label={`Opening: ${title}`} />
    </div>
  )
  // A boundary for each page: a part that failed to load does not affect another page.
  return (
    <LazyBoundary key={title} waiting={waiting}>
      {show(page.params as never)}
    </LazyBoundary>
  )
}

/** Opens a livestream, or the list of them. */
export const goToStreams = (stream?: string): void =>
  navigate(stream === undefined ? linkTo('live') : linkTo('stream', { stream }))

/** Pages for everyone are left by a load, which ends their cameras and payments. */
const follow = (event: MouseEvent) => followLink(event, (page) => rowOf(page).who !== 'everyone')

/** The page at the address of the browser. */
export function Pages(props: {
  waiting: ReactNode
  rooms: ReactNode
  welcome: ReactNode
  isSigningIn: boolean
  onSignIn: () => void
}) {
  const page = usePage()
  const account = useAccount()
  // Before any redirect of the page itself.
  useLayoutEffect(() => {
    leadOn()
    addEventListener('hashchange', leadOn)
    document.addEventListener('click', follow)
    return () => {
      removeEventListener('hashchange', leadOn)
      document.removeEventListener('click', follow)
    }
  }, [])
  useEffect(() => {
    if (!page) document.title = 'No such page · Plaza'
  }, [page])
  if (!page) return <NoPage />
  const { who, show, forGuests } = rowOf(page)
  const params = page.params as never
  if (who === 'everyone') return <LazyBoundary waiting={props.waiting}>{show?.(params)}</LazyBoundary>
  if (account !== null) return props.rooms
  if (props.isSigningIn || !forGuests) return props.welcome
  return <LazyBoundary waiting={props.waiting}>{forGuests(params, props.onSignIn)}</LazyBoundary>
}

function NoPage() {
  return (
    <main className={styles.waiting}>
      <Blank isPage icon="search" title="Page not found">
        <p>The address may be mistyped, or its page was deleted.</p>
        <a className="button main" href={linkTo('home')}>
          Go to Plaza
        </a>
      </Blank>
    </main>
  )
}
