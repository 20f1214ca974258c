import { type FormEvent, useState } from 'react'
import { AppError } from '#shared/errors'
import { useClient } from '../../connection/client.ts'
import { Problem } from '../../kit/notice.tsx'
import { signInTexts as t } from '../../texts/sign-in.ts'
import type { ServerStatus } from '../session.ts'
import { CodeField } from './code-field.tsx'
import { EmailField, emailWords } from './email-field.tsx'
import type { Entering } from './entering.ts'
import { Mailbox } from './mailbox.tsx'
import { createPasskey } from './passkeys.ts'
import { SendAgain } from './send-again.tsx'

/** What the server offers when somebody signs in with a passkey that it no longer has. */
interface Rescue {
  token: string
  maskedEmail: string
}

export function rescueIn(error: unknown): Rescue | null {
  if (!(error instanceof AppError) || error.code !== 'RESCUE_AVAILABLE') return null
  const { rescueToken, maskedEmail } = error.details ?? {}
  return typeof rescueToken === 'string' ? { token: rescueToken, maskedEmail: String(maskedEmail ?? '') } : null
}

/** Creates a new passkey for an account after a code to its verified address was entered. */
export function RecoverPasskey(props: { entering: Entering; status: ServerStatus | null; rescue: Rescue | null }) {
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
  return <AddressForm entering={entering} rescue={rescue} onAsk={ask} />
}

function AddressForm(props: { entering: Entering; rescue: Rescue | null; onAsk: (email: string) => Promise<void> }) {
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
