import { useState } from 'react'
import type { SignInUser, Wallet } from '#client/sdk/types'
import { useClient } from '../connection/client.ts'
import { Icon } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import { LivingRoom } from './living-room.tsx'
import type { ServerStatus } from './session.ts'
import { ThemeButton } from './theme-button.tsx'
import { guestWallet, hasGuestKey, hasInjectedWallet, injectedWallet } from './wallets.ts'
import { Wordmark } from './wordmark.tsx'

export function Welcome(props: {
  status: ServerStatus | null
  endedBy: string | null
  onEnter: (user: SignInUser) => void
}) {
  const client = useClient()
  const [entering, setEntering] = useState<'guest' | 'wallet' | null>(null)
  const [error, setError] = useState<unknown>(null)

  const enter = async (way: 'guest' | 'wallet', openWallet: () => Promise<Wallet>) => {
    setEntering(way)
    setError(null)
    try {
      props.onEnter(await client.signIn(await openWallet()))
    } catch (cause) {
      setError(cause)
    }
    setEntering(null)
  }

  return (
    <main className="welcome">
      <section className="welcome-words">
        <header className="row">
          <Wordmark />
          <span className="grow" />
          <ThemeButton />
        </header>
        <div className="welcome-pitch">
          <h1>Rooms that are live, and stay in order.</h1>
          <p>
            Plaza is a chat where everyone reads the same order, a moderator’s word takes effect at once, and a refused
            message tells you why.
          </p>
          {props.endedBy && !error && (
            <p className="hint" role="status">
              Your last session has ended. Come in again.
            </p>
          )}
          <Problem error={error} />
          <div className="row wrap">
            <button
              type="button"
              className="button main large"
              disabled={entering !== null}
              onClick={() => enter('guest', guestWallet)}
            >
              {entering === 'guest' ? 'Signing in…' : hasGuestKey() ? 'Come back as guest' : 'Enter as guest'}
            </button>
            {hasInjectedWallet() && (
              <button
                type="button"
                className="button large"
                disabled={entering !== null}
                onClick={() => enter('wallet', injectedWallet)}
              >
                <Icon name="wallet" />
                {entering === 'wallet' ? 'Waiting for the wallet…' : 'Use my wallet'}
              </button>
            )}
          </div>
          <p className="hint">
            A guest gets a fresh key, made and kept in this browser. It signs you in as a wallet would, and holds
            nothing.
          </p>
        </div>
        <dl className="welcome-facts">
          <Fact term="One verdict" text="Every message is judged by the same eleven steps, on every door." />
          <Fact term="One order" text="Everyone in a room reads the same lines in the same order." />
          <Fact term="Nothing lost" text="Lose the connection, come back, and find every line in its place." />
        </dl>
      </section>
      <LivingRoom isDemo={props.status?.demo ?? false} />
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
