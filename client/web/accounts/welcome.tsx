import { lazy, useState } from 'react'
import type { SignInUser } from '#client/sdk/types'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { GoesOn, Problem } from '../kit/notice.tsx'
import type { Listing } from '../kit/use-loaded.ts'
import { TourList } from '../tour/tour-list.tsx'
import { LivePreview, useFirstLive } from './live-preview.tsx'
import { RoomPreview } from './room-preview.tsx'
import type { ServerStatus } from './session.ts'
import { SignIn } from './sign-in.tsx'
import { useSignInLink } from './sign-in-link.ts'
import { ThemeButton } from './theme-button.tsx'
import styles from './welcome.module.css'
import { Wordmark } from './wordmark.tsx'

const ContactDialog = lazy(async () => ({ default: (await import('../support/contact-form.tsx')).ContactDialog }))

export function Welcome(props: {
  status: Listing<ServerStatus>
  endedBy: string | null
  onEnter: (user: SignInUser) => void
  onLook: (stream?: string) => void
}) {
  const link = useSignInLink(props.onEnter)
  const { value: status, error, isLoading, againAt, reload } = props.status
  // Elements that depend on the status are rendered together with it, so that the layout does not shift.
  const isKnown = !isLoading
  const streams = useFirstLive()
  const [isWriting, setWriting] = useState(false)

  return (
    <main className={styles.welcome}>
      <section className={styles.welcomeWords}>
        <header className="row">
          <Wordmark />
          <span className="grow" />
          <button type="button" className="button small plain" onClick={() => props.onLook()}>
            Live now
          </button>
          <ThemeButton />
        </header>
        <div className={styles.welcomePitch}>
          <h1>Rooms that are live, and stay in order.</h1>
          <p>
            Plaza is a chat where everyone reads the same order, a moderator’s word takes effect at once, and a refused
            message tells you why.
          </p>
          {status?.notice && (
            <p className="hint" role="status">
              <bdi>{status.notice}</bdi>
            </p>
          )}
          {props.endedBy && link === null && (
            <p className="hint" role="status">
              Your last session has ended. Come in again.
            </p>
          )}
          {location.pathname.startsWith('/invite/') && (
            <p className="hint" role="status">
              You are invited to a room. Enter as a guest, or sign in.
            </p>
          )}
          {link?.state === 'opening' && (
            <p className="hint" role="status">
              Opening your link…
            </p>
          )}
          {link?.state === 'asking' && (
            <section className="stack" aria-label="Sign in by this link?">
              <p>
                This link signs you in as{' '}
                <strong>
                  <bdi>{link.email}</bdi>
                </strong>
                . It was not asked for in this browser. Go on only if this address is yours.
              </p>
              <div className="row wrap">
                <button type="button" className="button main" onClick={link.open}>
                  Sign in as <bdi>{link.email}</bdi>
                </button>
                <button type="button" className="button" onClick={link.leave}>
                  Not me
                </button>
              </div>
            </section>
          )}
          {link?.state === 'failed' && <Problem error={link.error} />}
          {againAt ? <GoesOn at={againAt} /> : <Problem error={error} onRetry={reload} />}
          <SignIn status={status} onEnter={props.onEnter} />
          {status?.demo && <TourList />}
        </div>
        {status?.contact && (
          <div className="row">
            <button type="button" className="button small plain" onClick={() => setWriting(true)}>
              Contact
            </button>
          </div>
        )}
        <LazyBoundary>{isWriting && <ContactDialog onClose={() => setWriting(false)} />}</LazyBoundary>
        {isKnown && (
          <dl className={styles.welcomeFacts}>
            <Fact term="One verdict" text="Every message is judged by the same eleven steps, on every door." />
            <Fact term="One order" text="Everyone in a room reads the same lines in the same order." />
            <Fact term="Nothing lost" text="Lose the connection, come back, and find every line in its place." />
          </dl>
        )}
      </section>
      {isKnown && streams !== null && (
        <div className={styles.welcomeSide}>
          {streams.length > 0 && <LivePreview onLook={props.onLook} />}
          <RoomPreview isDemo={status?.demo ?? false} />
        </div>
      )}
    </main>
  )
}

function Fact({ term, text }: { term: string; text: string }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{text}</dd>
    </div>
  )
}
