import { useState } from 'react'
import type { SignInUser } from '#client/sdk/types'
import { useClient } from '../connection/client.ts'
import { Icon, type IconName } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import { EmailWay } from './email-way.tsx'
import { type Entering, useEntering } from './entering.ts'
import { canUsePasskeys, createPasskey, enterByPasskey } from './passkeys.ts'
import { RecoverPasskey, rescueIn } from './recover-passkey.tsx'
import type { ServerStatus } from './session.ts'
import { HumanWay, PartnerWay } from './vouched-way.tsx'
import {
  guestWallet,
  hasGuestKey,
  hasInjectedWallet,
  hasSolanaWallet,
  injectedWallet,
  solanaWallet,
} from './wallets.ts'

const forms = {
  passkey: 'Passkey',
  email: 'E-mail',
  recovery: 'A lost passkey',
  worldid: 'Proof of being human',
  alien: 'Partner account',
} as const
type Form = keyof typeof forms

/** Every way in that this server and this browser offer. */
export function SignIn(props: { status: ServerStatus | null; onEnter: (user: SignInUser) => void }) {
  const entering = useEntering(props.onEnter)
  const [form, setForm] = useState<Form | null>(null)
  const open = (next: Form | null) => {
    entering.forget()
    setForm(next)
  }
  if (form === null) return <Ways status={props.status} entering={entering} onOpen={open} />
  return (
    <section className="way-in" aria-label={forms[form]}>
      <header className="row">
        <button type="button" className="icon-button" aria-label="All ways in" onClick={() => open(null)}>
          <Icon name="back" />
        </button>
        <h2>{forms[form]}</h2>
      </header>
      {form === 'passkey' && <PasskeyWay entering={entering} onLost={() => open('recovery')} onRescue={setForm} />}
      {form === 'email' && <EmailWay entering={entering} status={props.status} />}
      {form === 'recovery' && (
        <RecoverPasskey entering={entering} status={props.status} rescue={rescueIn(entering.error)} />
      )}
      {form === 'worldid' && <HumanWay entering={entering} />}
      {form === 'alien' && <PartnerWay entering={entering} />}
    </section>
  )
}

interface Way {
  name: string
  icon: IconName
  title: string
  busyTitle?: string
  choose: () => void
}

function Ways(props: { status: ServerStatus | null; entering: Entering; onOpen: (form: Form) => void }) {
  const client = useClient()
  const { busy, error, attempt } = props.entering
  const offers = (method: ServerStatus['sign_in'][number]) => props.status?.sign_in.includes(method) ?? false
  const enterBy = (name: string, act: () => Promise<SignInUser>) => () => void attempt(name, act)

  const ways: Way[] = [
    ...(offers('passkey') && canUsePasskeys()
      ? [{ name: 'passkey', icon: 'key' as const, title: 'Passkey', choose: () => props.onOpen('passkey') }]
      : []),
    ...(offers('email')
      ? [{ name: 'email', icon: 'mail' as const, title: 'E-mail', choose: () => props.onOpen('email') }]
      : []),
    ...(hasInjectedWallet()
      ? [
          {
            name: 'wallet',
            icon: 'wallet' as const,
            title: 'Use my wallet',
            busyTitle: 'Waiting for the wallet…',
            choose: enterBy('wallet', async () => client.signIn(await injectedWallet())),
          },
        ]
      : []),
    ...(offers('solana') && hasSolanaWallet()
      ? [
          {
            name: 'solana',
            icon: 'wallet' as const,
            title: 'Solana wallet',
            busyTitle: 'Waiting for the wallet…',
            choose: enterBy('solana', async () => {
              const { address, signMessage } = await solanaWallet()
              const { message } = await client.identity.beginSolana({ address })
              const signature = await signMessage(message)
              return client.enter(await client.identity.verifySolana({ address, message, signature }))
            }),
          },
        ]
      : []),
    ...(offers('worldid')
      ? [{ name: 'worldid', icon: 'people' as const, title: 'Proof of human', choose: () => props.onOpen('worldid') }]
      : []),
    ...(offers('alien')
      ? [{ name: 'alien', icon: 'link' as const, title: 'Partner account', choose: () => props.onOpen('alien') }]
      : []),
  ]

  return (
    <>
      <Problem error={error} />
      <div className="row wrap">
        <button
          type="button"
          className="button main large"
          disabled={busy !== null}
          onClick={enterBy('guest', async () => client.signIn(await guestWallet()))}
        >
          {busy === 'guest' ? 'Signing in…' : hasGuestKey() ? 'Come back as guest' : 'Enter as guest'}
        </button>
        {ways.map(({ name, icon, title, busyTitle, choose }) => (
          <button key={name} type="button" className="button large" disabled={busy !== null} onClick={choose}>
            <Icon name={icon} />
            {busy === name ? busyTitle : title}
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
