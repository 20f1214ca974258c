import { lazy, useEffect, useState } from 'react'
import type { Client, SignInUser } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import { loadUser, type ServerStatus, SessionContext } from './accounts/session.ts'
import { Welcome } from './accounts/welcome/welcome.tsx'
import styles from './app.module.css'
import { ClientContext, useAccount, useClient } from './connection/client.ts'
import { CutContext, useCutting } from './connection/cut.ts'
import { LazyBoundary } from './kit/lazy-boundary.tsx'
import { Blank, GoesOn, Skeleton } from './kit/notice.tsx'
import { problemText, retryTimeOf } from './kit/problem.ts'
import { Toasts } from './kit/toasts.tsx'
import { useLoaded } from './kit/use-loaded.ts'
import { kitTexts } from './texts/kit.ts'
import { welcomeTexts as t } from './texts/welcome.ts'
import { TourContext, useTour } from './tour/use-tour.ts'

const importHome = () => import('./home.tsx')
const importPages = () => import('./pages.tsx')
const Pages = lazy(async () => ({ default: (await importPages()).Pages }))
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

/** The first page welcomes guests at once. Every other page needs the table of pages, which is loaded then. */
const isAtDoor = () => location.pathname === '/' && !location.hash.startsWith('#/')

function Door() {
  const client = useClient()
  const account = useAccount()
  const [entered, setEntered] = useState<SignInUser | null>(null)
  const [isWelcomed, setWelcomed] = useState(isAtDoor)
  const [isSigningIn, setSigningIn] = useState(false)
  const status = useLoaded<ServerStatus>('status', () => client.status.get())
  const tour = useTour(status.value?.demo ?? false)
  useEffect(() => {
    if (account === null) return
    importHome().catch(() => {})
    // After a sign-out, the welcome screen replaces pages that guests may see.
    setSigningIn(true)
  }, [account])

  const look = async (stream?: string) => {
    const { goToStreams } = await importPages()
    goToStreams(stream)
    setSigningIn(false)
    setWelcomed(false)
  }
  if (tour.isOpening && account === null) {
    return <Opening label={t.openingTour} />
  }
  const welcome = (room: RoomRef | null, hint: string | null) => (
    <Welcome
      room={room}
      hint={hint}
      status={status}
      endedBy={client.session.endedBy}
      onEnter={setEntered}
      onLook={(stream) => void look(stream)}
    />
  )
  if (account === null && isWelcomed) return welcome(null, null)
  const known = entered && isSameAccount(entered.wallet_address, account) ? entered : null
  return (
    <LazyBoundary waiting={<Opening />}>
      <Pages
        waiting={<Opening />}
        welcome={welcome}
        isSigningIn={isSigningIn}
        onSignIn={() => setSigningIn(true)}
        rooms={
          <TourContext value={tour}>
            <SignedIn key={account} account={account ?? ''} known={known} status={status.value} />
          </TourContext>
        }
      />
    </LazyBoundary>
  )
}

function SignedIn(props: { account: string; known: SignInUser | null; status: ServerStatus | null }) {
  const client = useClient()
  const loaded = useLoaded(props.account, () => loadUser(client))
  const user = loaded.value?.user ?? props.known

  const againAt = retryTimeOf(loaded.error)
  if (!user && againAt)
    return (
      <main className={styles.waiting}>
        <h1>{t.wait}</h1>
        <GoesOn at={againAt} />
      </main>
    )
  if (!user && !loaded.error) return <Opening />
  if (!user) {
    return (
      <main className={styles.waiting}>
        <Blank isPage icon="warn" title={t.failed}>
          <p>{problemText(loaded.error)}</p>
          <div className="row">
            <button type="button" className="button main" onClick={loaded.reload}>
              {kitTexts.retry}
            </button>
            <button type="button" className="button" onClick={() => client.signOut()}>
              {t.signOut}
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

function Opening({ label = t.opening }: { label?: string }) {
  return (
    <main className={styles.waiting}>
      <h1 className="unseen">Plaza</h1>
      <Skeleton label={label} />
    </main>
  )
}
