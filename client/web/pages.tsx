import { lazy, type ReactNode, useEffect, useLayoutEffect, useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { linkTo, type PageAt, type PageName, type PageParams, type PanelName, pagePaths } from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKinds } from '#shared/kit/room-kinds'
import styles from './app.module.css'
import { useAccount } from './connection/client.ts'
import { LazyBoundary } from './kit/lazy-boundary.tsx'
import { Blank, Skeleton } from './kit/notice.tsx'
import { lookOf } from './rooms/kind.ts'
import { followLink, isOfEarlierVersion, leadOn, roomAt, usePage } from './rooms/route.ts'
import { pageTexts as t } from './texts/pages.ts'

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
  browse: { who: 'account', title: t.channels },
  roomNew: { who: 'account', title: t.newRoom },
  roomsNear: { who: 'account', title: t.nearRooms },
  roomTokens: { who: 'account', title: t.ownTokens },
  room: { who: 'account', title: t.room },
  roomPanel: { who: 'account', title: t.room },
  roomModeration: { who: 'account', title: t.room },
  roomSettings: { who: 'account', title: t.roomSettings },
  message: { who: 'account', title: t.room },
  live: {
    who: 'account',
    title: t.live,
    show: () => <LiveView path="now" />,
    forGuests: (_params, signIn) => <GuestStreams stream={null} onEnter={signIn} />,
  },
  liveNew: { who: 'account', title: t.goLive, show: () => <LiveView path="new" /> },
  stream: {
    who: 'account',
    title: t.livestream,
    show: ({ stream }) => streamRoom(stream),
    forGuests: streamForGuests,
  },
  streamPanel: {
    who: 'account',
    title: t.livestream,
    show: ({ stream, panel }) => streamRoom(stream, panel as PanelName),
    forGuests: streamForGuests,
  },
  streamModeration: {
    who: 'account',
    title: t.livestream,
    show: ({ stream }) => streamRoom(stream, 'moderation'),
    forGuests: streamForGuests,
  },
  streamSettings: { who: 'account', title: t.roomSettings, forGuests: streamForGuests },
  streamMessage: {
    who: 'account',
    title: t.livestream,
    show: ({ stream }) => streamRoom(stream),
    forGuests: streamForGuests,
  },
  calls: { who: 'account', title: t.calls, show: () => <CallsView /> },
  friends: { who: 'account', title: t.friends, show: () => <FriendsView /> },
  starred: { who: 'account', title: t.starred, show: () => <StarredView /> },
  profileOwn: { who: 'account', title: t.ownProfile, show: () => <ProfilePage address="" /> },
  profile: { who: 'account', title: t.profile, show: ({ address }) => <ProfilePage address={address} /> },
  agents: { who: 'account', title: t.agents, show: () => <AgentsView path={[]} /> },
  agentNew: { who: 'account', title: t.newAgent, show: () => <AgentsView path={['new']} /> },
  agent: { who: 'everyone', title: t.agent, show: ({ agent }) => <AgentPage id={agent} /> },
  agentChat: { who: 'account', title: t.agent, show: ({ agent }) => <AgentsView path={[agent]} /> },
  agentConversation: {
    who: 'account',
    title: t.agent,
    show: ({ agent, conversation }) => <AgentsView path={[agent, 'chat', conversation]} />,
  },
  agentEdit: { who: 'account', title: t.agent, show: ({ agent }) => <AgentsView path={[agent, 'edit']} /> },
  settings: { who: 'account', title: t.settings },
  admin: { who: 'admin', title: t.admin },
  invitation: { who: 'account', title: t.invitation },
  meeting: { who: 'everyone', title: t.meeting, show: ({ code }) => <MeetingPage code={code} /> },
  schedule: { who: 'everyone', title: t.schedule, show: ({ slug }) => <BookingPage slug={slug} /> },
  call: { who: 'everyone', title: t.call, show: ({ token }) => <JoinPage token={token} /> },
}

/** Pages without parameters, by which they would be found. */
export const namedPages: readonly { title: string; link: string }[] = (Object.keys(pages) as PageName[])
  .filter((name) => name !== 'home' && !pagePaths[name].includes(':'))
  .map((name) => ({ title: pages[name].title, link: pagePaths[name] }))

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
      <Skeleton label={t.opening({ page: title })} />
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

/** The room at an address that strangers may see; null if there is none. */
function openRoomAt(page: PageAt): RoomRef | null {
  const { room } = roomAt(page)
  return room && roomKinds[room.type].joining === 'open' && !lookOf(room).isWatched ? room : null
}

/** The page at the address of the browser. */
export function Pages(props: {
  waiting: ReactNode
  rooms: ReactNode
  welcome: (room: RoomRef | null, hint: string | null) => ReactNode
  isSigningIn: boolean
  onSignIn: () => void
}) {
  const page = usePage()
  const account = useAccount()
  // A page that were shown first might lead elsewhere itself.
  const [isLedOn, setLedOn] = useState(() => !isOfEarlierVersion())
  useLayoutEffect(() => {
    leadOn()
    setLedOn(true)
    addEventListener('hashchange', leadOn)
    document.addEventListener('click', follow)
    return () => {
      removeEventListener('hashchange', leadOn)
      document.removeEventListener('click', follow)
    }
  }, [])
  useEffect(() => {
    if (!page) document.title = t.missingTitle
  }, [page])
  if (!isLedOn) return props.waiting
  if (!page) return <NoPage />
  const { who, show, forGuests } = rowOf(page)
  const params = page.params as never
  if (who === 'everyone') return <LazyBoundary waiting={props.waiting}>{show?.(params)}</LazyBoundary>
  if (account !== null) return props.rooms
  if (props.isSigningIn || !forGuests)
    return props.welcome(openRoomAt(page), page.name === 'message' ? t.messageHint : null)
  return <LazyBoundary waiting={props.waiting}>{forGuests(params, props.onSignIn)}</LazyBoundary>
}

function NoPage() {
  return (
    <main className={styles.waiting}>
      <Blank isPage icon="search" title={t.missing}>
        <p>{t.missingHint}</p>
        <a className="button main" href={linkTo('home')}>
          {t.home}
        </a>
      </Blank>
    </main>
  )
}
