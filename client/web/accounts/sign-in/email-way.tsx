import { type FormEvent, useState } from 'react'
import { useClient } from '../../connection/client.ts'
import { Problem } from '../../kit/notice.tsx'
import { signInTexts as t } from '../../texts/sign-in.ts'
import type { ServerStatus } from '../session.ts'
import { CodeField } from './code-field.tsx'
import { EmailField, emailWords } from './email-field.tsx'
import type { Entering } from './entering.ts'
import { Mailbox } from './mailbox.tsx'
import { SendAgain } from './send-again.tsx'

interface Sent {
  email: string
  kind: 'code' | 'link'
}

/** Signs in by a code or a link that is sent to an email address. */
export function EmailWay({ entering, status }: { entering: Entering; status: ServerStatus | null }) {
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
