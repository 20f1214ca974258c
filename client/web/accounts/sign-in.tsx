import { useState } from 'react'
import type { SignInUser } from '#client/sdk/types'
import type { AuthMethod } from '#shared/api/identity'
import { useClient } from '../connection/client.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import { EmailWay } from './email-way.tsx'
import { type Entering, useEntering } from './entering.ts'
import { guestWallet, hasGuestKey } from './guest.ts'
import { canUsePasskeys, createPasskey, enterByPasskey } from './passkeys.ts'
import { RecoverPasskey, rescueIn } from './recover-passkey.tsx'
import type { ServerStatus } from './session.ts'
import { HumanWay, PartnerWay } from './vouched-way.tsx'
import { WalletWay } from './wallet-way.tsx'

const forms = {
  passkey: 'Passkey',
  email: 'E-mail',
  wallet: 'Wallet',
  recovery: 'A lost passkey',
  worldid: 'Proof of being human',
  alien: 'Partner account',
} as const
type Form = keyof typeof forms

/** Every way in that this server and this browser offer. */
export function SignIn(props: { status: ServerStatus | null; onEnter: (user: SignInUser) => void }) {
  const entering = useEntering(props.onEnter)
  const [form, setForm] = useState<Form | null>(null)
  const [left, setLeft] = useState<Form | null>(null)
  const open = (next: Form | null) => {
    entering.forget()
    setLeft(form)
    setForm(next)
  }
  if (form === null) return <Ways status={props.status} entering={entering} left={left} onOpen={open} />
  return (
    <section key={form} className="way-in" aria-label={forms[form]} ref={focusFirst}>
      <header className="row">
        <button type="button" className="icon-button" aria-label="All ways in" onClick={() => open(null)}>
          <Icon name="back" />
        </button>
        <h2>{forms[form]}</h2>
      </header>
      {form === 'passkey' && <PasskeyWay entering={entering} onLost={() => open('recovery')} onRescue={setForm} />}
      {form === 'email' && <EmailWay entering={entering} status={props.status} />}
      {form === 'wallet' && <WalletWay entering={entering} />}
      {form === 'recovery' && (
        <RecoverPasskey entering={entering} status={props.status} rescue={rescueIn(entering.error)} />
      )}
      {form === 'worldid' && <HumanWay entering={entering} />}
      {form === 'alien' && <PartnerWay entering={entering} />}
    </section>
  )
}

const focus = (element: HTMLElement | null) => element?.focus()
const focusFirst = (section: HTMLElement | null) =>
  focus(section?.querySelector<HTMLElement>('.input, .button.main') ?? section?.querySelector('button') ?? null)

const offered: readonly { form: Form; method: AuthMethod; icon: IconName; title: string }[] = [
  { form: 'passkey', method: 'passkey', icon: 'key', title: 'Passkey' },
  { form: 'email', method: 'email', icon: 'mail', title: 'E-mail' },
  { form: 'wallet', method: 'wallet', icon: 'wallet', title: 'Wallet' },
  { form: 'worldid', method: 'worldid', icon: 'people', title: 'Proof of human' },
  { form: 'alien', method: 'alien', icon: 'link', title: 'Partner account' },
]

function Ways(props: {
  status: ServerStatus | null
  entering: Entering
  left: Form | null
  onOpen: (form: Form) => void
}) {
  const client = useClient()
  const { busy, error, attempt } = props.entering
  const ways = offered.filter(
    ({ method }) => props.status?.sign_in.includes(method) && (method !== 'passkey' || canUsePasskeys()),
  )
  const enter = () => attempt('guest', async () => client.signIn(await guestWallet()))

  return (
    <>
      <Problem error={error} />
      <div className="row wrap ways">
        <button type="button" className="button main large" disabled={busy !== null} onClick={() => void enter()}>
          {busy === 'guest' ? 'Signing in…' : hasGuestKey() ? 'Come back as guest' : 'Enter as guest'}
        </button>
        {ways.map(({ form, icon, title }) => (
          <button
            key={form}
            ref={form === props.left ? focus : null}
            type="button"
            className="button large"
            disabled={busy !== null}
            onClick={() => props.onOpen(form)}
          >
            <Icon name={icon} />
            {title}
          </button>
        ))}
      </div>
      <p className="hint">
        A guest gets a fresh key, made and kept in this browser. It signs you in as a wallet would, and holds nothing.
      </p>
    </>
  )
}

function PasskeyWay(props: { entering: Entering; onLost: () => void; onRescue: (form: Form) => void }) {
  const client = useClient()
  const { busy, error, attempt } = props.entering
  const use = () =>
    attempt('use', () =>
      enterByPasskey(client).catch((cause: unknown) => {
        if (rescueIn(cause)) props.onRescue('recovery')
        throw cause
      }),
    )
  return (
    <div className="stack">
      <p>A passkey is kept by your device or your password manager, and opened by your finger, face or PIN.</p>
      <Problem error={error} />
      <div className="row wrap">
        <button type="button" className="button main" disabled={busy !== null} onClick={() => void use()}>
          {busy === 'use' ? 'Waiting for the device…' : 'Use a passkey'}
        </button>
        <button
          type="button"
          className="button"
          disabled={busy !== null}
          onClick={() => void attempt('create', () => createPasskey(client))}
        >
          {busy === 'create' ? 'Waiting for the device…' : 'Make a new account'}
        </button>
      </div>
      <button type="button" className="link" onClick={props.onLost}>
        I have lost my passkey
      </button>
    </div>
  )
}
