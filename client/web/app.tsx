import { lazy, type ReactNode, useEffect, useState } from 'react'
import type { Client, SignInUser } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import { loadUser } from './accounts/load-user.ts'
import { type ServerStatus, SessionContext } from './accounts/session.ts'
import { Welcome } from './accounts/welcome.tsx'
import styles from './app.module.css'
import { ClientContext, useAccount, useClient } from './connection/client.ts'
import { CutContext, useCutting } from './connection/cut.ts'
import { LazyBoundary } from './kit/lazy-boundary.tsx'
import { Blank, GoesOn, Skeleton } from './kit/notice.tsx'
import { problemText } from './kit/problem.ts'
import { Toasts } from './kit/toasts.tsx'
import { useLoaded } from './kit/use-loaded.ts'
import { TourContext, useTour } from './tour/use-tour.ts'

const importHome = () => import('./home.tsx')
const AgentPage = lazy(async () => ({ default: (await import('./agent-page/agent-page.tsx')).AgentPage }))
const BookingPage = lazy(async () => ({ default: (await import('./booking/booking-page.tsx')).BookingPage }))
const JoinPage = lazy(async () => ({ default: (await import('./booking/join-page.tsx')).JoinPage }))
const GuestStreams = lazy(async () => ({ default: (await import('./streams/guest-streams.tsx')).GuestStreams }))
const MeetingPage = lazy(async () => ({ default: (await import('./meetings/meeting-page.tsx')).MeetingPage }))
const Home = lazy(async () => ({ default: (await importHome()).Home }))

export function App({ client }: { client: Client }) {
  return (
    <ClientContext value={client}>
      <CutContext value={useCutting(client)}>
        <Toasts>
          <Door />
        </Toasts>
      </CutContext>
    </ClientContext>
  )
}

/** Shows the welcome screen while nobody is signed in, else the rooms. */
function Door() {
  const client = useClient()
  const account = useAccount()
  const [entered, setEntered] = useState<SignInUser | null>(null)
  const [isLooking, setLooking] = useState(location.hash.startsWith('#/live'))
  const status = useLoaded<ServerStatus>('status', () => client.status.get())
  const tour = useTour(status.value?.demo ?? false)

  const look = (stream?: string) => {
    location.hash = stream === undefined ? '#/live' : `#/live/${stream}`
    setLooking(true)
  }
  const page = pageAt(location.pathname)
  if (page) {
    return <LazyBoundary waiting={<Opening />}>{page}</LazyBoundary>
  }
  const [, code] = /^\/room\/([^/]+)$/.exec(location.pathname) ?? []
  if (code !== undefined) {
    return (
      <LazyBoundary waiting={<Opening />}>
        <MeetingPage code={decodeURIComponent(code)} />
      </LazyBoundary>
    )
  }
  if (tour.isOpening && account === null) {
    return <Opening label="Opening the tour" />
  }
  if (account === null && isLooking) {
    return (
      <LazyBoundary waiting={<Opening />}>
        <GuestStreams onEnter={() => setLooking(false)} />
      </LazyBoundary>
    )
  }
  if (account === null) {
    return <Welcome status={status} endedBy={client.session.endedBy} onEnter={setEntered} onLook={look} />
  }
  const known = entered && isSameAccount(entered.wallet_address, account) ? entered : null
  return (
    <TourContext value={tour}>
      <SignedIn key={account} account={account} known={known} status={status.value} />
    </TourContext>
  )
}

/** A page at an address of its own, which needs no account. */
function pageAt(path: string): ReactNode {
  const [, place, written = ''] = /^\/(agents|schedule|join)\/([^/]+)$/.exec(path) ?? []
  if (place === 'agents') return <AgentPage id={written} />
  if (place === 'schedule') return <BookingPage slug={decoded(written)} />
  return place === 'join' ? <JoinPage token={written} /> : null
}

function decoded(written: string): string {
  try {
    return decodeURIComponent(written)
  } catch {
    return written
  }
}

function SignedIn(props: { account: string; known: SignInUser | null; status: ServerStatus | null }) {
  const client = useClient()
  const loaded = useLoaded(props.account, () => loadUser(client))
  const user = loaded.value?.user ?? props.known
  useEffect(() => void importHome().catch(() => {}), [])

  if (!user && loaded.againAt)
    return (
      <main className={styles.waiting}>
        <h1>One moment</h1>
        <GoesOn at={loaded.againAt} />
      </main>
    )
  if (!user && !loaded.error) return <Opening />
  if (!user) {
    return (
      <main className={styles.waiting}>
        <Blank isPage icon="warn" title="Plaza cannot open">
          <p>{problemText(loaded.error)}</p>
          <div className="row">
            <button type="button" className="button main" onClick={loaded.reload}>
              Try again
            </button>
            <button type="button" className="button" onClick={() => client.signOut()}>
              Sign out
            </button>
          </div>
        </Blank>
      </main>
    )
  }
  const session = {
    account: props.account,
    user,
    method: loaded.value?.method ?? null,
    status: props.status,
    reload: loaded.reload,
    signOut: () => client.signOut(),
  }
  return (
    <SessionContext value={session}>
      <LazyBoundary waiting={<Opening />}>
        <Home />
      </LazyBoundary>
    </SessionContext>
  )
}

function Opening({ label = 'Opening Plaza' }: { label?: string }) {
  return (
    <main className={styles.waiting}>
      <h1 className="unseen">Plaza</h1>
      <Skeleton label={label} />
    </main>
  )
}
