import { type FormEvent, useState } from 'react'
import { AppError } from '#shared/errors'
import { useAccount, useClient } from '../../connection/client.ts'
import { BackButton } from '../../kit/back-button.tsx'
import { Problem } from '../../kit/notice.tsx'
import { signInTexts as t } from '../../texts/sign-in.ts'
import { welcomeTexts } from '../../texts/welcome.ts'
import accountsStyles from '../accounts.module.css'
import type { ServerStatus } from '../session.ts'
import { CodeField, Mailbox, SendAgain } from './code-field.tsx'
import { EmailField, emailWords } from './email-field.tsx'
import type { Entering } from './entering.ts'
import { createPasskey, enterByPasskey } from './passkeys.ts'
import { HumanWay, PartnerWay } from './vouched-way.tsx'
import { WalletWay } from './wallet-way.tsx'
import styles from './way-in.module.css'

const titles = { ...welcomeTexts.ways, recovery: t.recovery }
export type WayName = keyof typeof titles

/** One sign-in method, with a button back to the list of methods. */
export function WayIn(props: {
  way: WayName
  entering: Entering
  status: ServerStatus | null
  onOpen: (way: WayName | null) => void
  /** Opens another method, which continues after this one failed. */
  onRescue: (way: WayName) => void
}) {
  const { way, entering, status, onOpen } = props
  return (
    <section className={styles.wayIn} aria-label={titles[way]} ref={focusFirst}>
      <header className="row">
        <BackButton title={t.back} onPress={() => onOpen(null)} />
        <h2>{titles[way]}</h2>
      </header>
      {way === 'passkey' && (
        <PasskeyWay entering={entering} onLost={() => onOpen('recovery')} onRescue={props.onRescue} />
      )}
      {way === 'email' && <EmailWay entering={entering} status={status} />}
      {way === 'wallet' && <WalletWay entering={entering} />}
      {way === 'recovery' && <RecoverPasskey entering={entering} status={status} rescue={rescueIn(entering.error)} />}
      {way === 'worldid' && <HumanWay entering={entering} />}
      {way === 'alien' && <PartnerWay entering={entering} />}
    </section>
  )
}

const focusFirst = (section: HTMLElement | null) => {
  const first = section?.querySelector<HTMLElement>('.input, .button.main') ?? section?.querySelector('button')
  first?.focus()
}

function PasskeyWay(props: { entering: Entering; onLost: () => void; onRescue: (way: WayName) => void }) {
  const client = useClient()
  const account = useAccount()
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
      <p>{t.passkey.hint}</p>
      <Problem error={error} />
      <div className="row wrap">
        <button type="button" className="button main" disabled={busy !== null} onClick={() => void use()}>
          {busy === 'use' ? t.waiting : t.passkey.use}
        </button>
        {account === null && (
          <button
            type="button"
            className="button"
            disabled={busy !== null}
            onClick={() => void attempt('create', () => createPasskey(client))}
          >
            {busy === 'create' ? t.waiting : t.passkey.create}
          </button>
        )}
      </div>
      <button type="button" className={accountsStyles.link} onClick={props.onLost}>
        {t.passkey.lost}
      </button>
    </div>
  )
}

/** What the server offers when somebody signs in with a passkey that it no longer has. */
interface Rescue {
  token: string
  maskedEmail: string
}

function rescueIn(error: unknown): Rescue | null {
  if (!(error instanceof AppError) || error.code !== 'RESCUE_AVAILABLE') return null
  const { rescueToken, maskedEmail } = error.details ?? {}
  return typeof rescueToken === 'string' ? { token: rescueToken, maskedEmail: String(maskedEmail ?? '') } : null
}

/** Creates a new passkey for an account after a code to its verified address was entered. */
function RecoverPasskey(props: { entering: Entering; status: ServerStatus | null; rescue: Rescue | null }) {
  const client = useClient()
  const { entering, rescue } = props
  const [email, setEmail] = useState<string | null>(null)
  const [recoveryToken, setRecoveryToken] = useState<string | null>(null)

  const ask = (address: string) =>
    entering.attempt('code', async () => {
      await client.passkeys.recoverByEmail({ email: address })
      setEmail(address)
      return undefined
    })
  const prove = (code: string) =>
    entering.attempt('verify', async () => {
      const { recoveryToken: token } = await client.passkeys.verifyRecovery({
        email: email ?? '',
        code,
        ...(rescue ? { rescueToken: rescue.token } : {}),
      })
      setRecoveryToken(token)
      return undefined
    })

  if (recoveryToken !== null)
    return (
      <div className="stack">
        <p>{t.passkey.recovered}</p>
        <Problem error={entering.error} />
        <button
          type="button"
          className="button main"
          disabled={entering.busy !== null}
          onClick={() => void entering.attempt('passkey', () => createPasskey(client, recoveryToken))}
        >
          {entering.busy === 'passkey' ? t.waiting : t.passkey.createNew}
        </button>
      </div>
    )
  if (email !== null)
    return (
      <div className="stack">
        <p>{t.passkey.codeSent({ email, strong: (parts) => <strong>{parts}</strong> })}</p>
        <Mailbox kind="letters" shownAt={props.status?.mailbox} />
        <CodeField isChecking={entering.busy === 'verify'} onComplete={(code) => void prove(code)} />
        <Problem error={entering.error} />
        <SendAgain
          destination="address"
          isBusy={entering.busy !== null}
          onAgain={() => void ask(email)}
          onElsewhere={() => {
            entering.forget()
            setEmail(null)
          }}
        />
      </div>
    )
  return <RecoveryAddressForm entering={entering} rescue={rescue} onAsk={ask} />
}

function RecoveryAddressForm(props: {
  entering: Entering
  rescue: Rescue | null
  onAsk: (email: string) => Promise<void>
}) {
  const [email, setEmail] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void props.onAsk(email.trim())
  }
  return (
    <form className="stack" onSubmit={submit}>
      <p>{props.rescue ? t.passkey.rescue({ email: props.rescue.maskedEmail }) : t.passkey.recover}</p>
      <EmailField value={email} onChange={setEmail} />
      <Problem error={props.entering.error} words={emailWords} />
      <div className="row">
        <button type="submit" className="button main" disabled={props.entering.busy !== null}>
          {props.entering.busy === 'code' ? t.sending : t.sendCode}
        </button>
      </div>
    </form>
  )
}

interface Sent {
  email: string
  kind: 'code' | 'link'
}

/** Signs in by a code or a link that is sent to an email address. */
function EmailWay({ entering, status }: { entering: Entering; status: ServerStatus | null }) {
  const client = useClient()
  const [sent, setSent] = useState<Sent | null>(null)

  const send = (email: string, kind: Sent['kind']) =>
    entering.attempt(kind, async () => {
      if (kind === 'code') await client.email.sendLoginCode({ email })
      else await client.email.sendLink({ email, ...(location.pathname === '/' ? {} : { redirect: location.pathname }) })
      setSent({ email, kind })
      return undefined
    })

  if (!sent) return <AddressForm entering={entering} onSend={send} />
  return (
    <div className="stack">
      <p>
        {(sent.kind === 'code' ? t.codeSent : t.linkSent)({
          email: sent.email,
          strong: (parts) => <strong>{parts}</strong>,
        })}
      </p>
      <Mailbox kind="letters" shownAt={status?.mailbox} />
      {sent.kind === 'code' && (
        <CodeField
          isChecking={entering.busy === 'verify'}
          onComplete={(code) =>
            void entering.attempt('verify', async () =>
              client.enter(await client.email.login({ email: sent.email, code, updates: false })),
            )
          }
        />
      )}
      <Problem error={entering.error} />
      <SendAgain
        destination="address"
        isBusy={entering.busy !== null}
        onAgain={() => void send(sent.email, sent.kind)}
        onElsewhere={() => {
          entering.forget()
          setSent(null)
        }}
      />
    </div>
  )
}

function AddressForm(props: { entering: Entering; onSend: (email: string, kind: Sent['kind']) => Promise<void> }) {
  const [email, setEmail] = useState('')
  const { busy, error } = props.entering
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const { submitter } = event.nativeEvent as SubmitEvent
    void props.onSend(email.trim(), submitter?.getAttribute('value') === 'link' ? 'link' : 'code')
  }
  return (
    <form className="stack" onSubmit={submit}>
      <EmailField value={email} onChange={setEmail} />
      <Problem error={error} words={emailWords} />
      <div className="row wrap">
        <button type="submit" className="button main" value="code" disabled={busy !== null}>
          {busy === 'code' ? t.sending : t.sendCode}
        </button>
        <button type="submit" className="button" value="link" disabled={busy !== null}>
          {busy === 'link' ? t.sending : t.sendLink}
        </button>
      </div>
    </form>
  )
}
