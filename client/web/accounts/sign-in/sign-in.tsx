import { lazy, useState } from 'react'
import type { SignInUser } from '#client/sdk/types'
import type { AuthMethod } from '#shared/api/people/identity'
import { useAccount, useClient } from '../../connection/client.ts'
import { Icon, type IconName } from '../../kit/icon.tsx'
import { LazyBoundary } from '../../kit/lazy-boundary.tsx'
import { Problem, Skeleton } from '../../kit/notice.tsx'
import { welcomeTexts as t } from '../../texts/welcome.ts'
import type { ServerStatus } from '../session.ts'
import styles from '../welcome/welcome.module.css'
import { type Entering, useEntering } from './entering.ts'
import { guestWallet, hasGuestKey, isGuest } from './guest.ts'
import { canUsePasskeys } from './passkeys.ts'
import type { WayName } from './way-in.tsx'

const WayIn = lazy(async () => ({ default: (await import('./way-in.tsx')).WayIn }))

/** Every sign-in method that server and browser offer. A person who is signed in confirms the same account by it, and creates no other. */
export function SignIn(props: { status: ServerStatus | null; onEnter: (user: SignInUser) => void }) {
  const entering = useEntering(props.onEnter)
  const [form, setForm] = useState<WayName | null>(null)
  const [left, setLeft] = useState<WayName | null>(null)
  const open = (next: WayName | null) => {
    entering.forget()
    setLeft(form)
    setForm(next)
  }
  if (form === null) return <Ways status={props.status} entering={entering} left={left} onOpen={open} />
  return (
    <LazyBoundary key={form} waiting={<Skeleton rows={3} />}>
      <WayIn way={form} entering={entering} status={props.status} onOpen={open} onRescue={setForm} />
    </LazyBoundary>
  )
}

const focus = (element: HTMLElement | null) => element?.focus()

const offered: readonly { form: keyof typeof t.ways; method: AuthMethod; icon: IconName }[] = [
  { form: 'passkey', method: 'passkey', icon: 'key' },
  { form: 'email', method: 'email', icon: 'mail' },
  { form: 'wallet', method: 'wallet', icon: 'wallet' },
  { form: 'worldid', method: 'worldid', icon: 'people' },
  { form: 'alien', method: 'alien', icon: 'link' },
]

function Ways(props: {
  status: ServerStatus | null
  entering: Entering
  left: WayName | null
  onOpen: (form: WayName) => void
}) {
  const client = useClient()
  const account = useAccount()
  const { busy, error, attempt } = props.entering
  const ways = offered.filter(
    ({ method }) => props.status?.sign_in.includes(method) && (method !== 'passkey' || canUsePasskeys()),
  )
  const enter = () => attempt('guest', async () => client.signIn(await guestWallet()))

  return (
    <>
      <Problem error={error} />
      <div className={`row wrap ${styles.ways}`}>
        {(account === null || isGuest(account)) && (
          <button type="button" className="button main large" disabled={busy !== null} onClick={() => void enter()}>
            {busy === 'guest' ? t.signingIn : account ? t.guestConfirm : hasGuestKey() ? t.guestAgain : t.guest}
          </button>
        )}
        {ways.map(({ form, icon }) => (
          <button
            key={form}
            ref={form === props.left ? focus : null}
            type="button"
            className="button large"
            disabled={busy !== null}
            onClick={() => props.onOpen(form)}
          >
            <Icon name={icon} />
            {t.ways[form]}
          </button>
        ))}
      </div>
      {props.status && account === null && <p className="hint">{t.guestHint}</p>}
    </>
  )
}
