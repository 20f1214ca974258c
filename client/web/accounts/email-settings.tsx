import { type FormEvent, useState } from 'react'
import { useClient } from '../connection/client.ts'
import { Icon } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { ConfirmButton } from '../moderation/confirm-button.tsx'
import { CodeField } from './code-field.tsx'
import { useEntering } from './entering.ts'
import { Mailbox } from './mailbox.tsx'
import { useSession } from './session.ts'

/** The verified address of the account: it signs in too, and helps where a passkey is lost. */
export function EmailSettings() {
  const client = useClient()
  const tell = useTell()
  const { account, user, status, reload } = useSession()
  const [asked, setAsked] = useState<string | null>(null)
  const [email, setEmail] = useState('')
  const changing = useEntering(() => {})
  const change = (what: string, act: () => Promise<unknown>) =>
    changing.attempt(what, async () => {
      await act()
      return undefined
    })

  const ask = (event: FormEvent) => {
    event.preventDefault()
    const address = email.trim()
    void change('send', async () => {
      await client.email.sendCode({ email: address, walletAddress: account })
      setAsked(address)
    })
  }
  const verify = (code: string) =>
    void change('verify', async () => {
      await client.email.verifyCode({ email: asked ?? '', code, walletAddress: account })
      setAsked(null)
      tell('This address is yours now.')
      reload()
    })
  const remove = () =>
    void change('remove', async () => {
      await client.email.remove({ walletAddress: account })
      reload()
    })

  return (
    <section className="stack">
      <h3 className="label">E-mail</h3>
      {user.email && (
        <div className="row">
          <Icon name="mail" />
          <span className="grow">
            <strong>{user.email}</strong> <i className="chip">Verified</i>
          </span>
          <ConfirmButton title="Remove" onConfirm={remove} />
        </div>
      )}
      {!user.email && asked === null && (
        <form className="row wrap" onSubmit={ask}>
          <input
            className="input grow"
            type="email"
            autoComplete="email"
            aria-label="E-mail address"
            placeholder="you@example.org"
            required
            maxLength={254}
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
          <button type="submit" className="button" disabled={changing.busy !== null}>
            {changing.busy === 'send' ? 'Sending…' : 'Add this address'}
          </button>
        </form>
      )}
      {asked !== null && (
        <>
          <p>
            A code is on its way to <strong>{asked}</strong>.
          </p>
          <Mailbox status={status} />
          <CodeField disabled={changing.busy !== null} onComplete={verify} />
          <div className="row">
            <button type="button" className="button plain" onClick={() => setAsked(null)}>
              Another address
            </button>
          </div>
        </>
      )}
      <Problem error={changing.error} />
    </section>
  )
}
