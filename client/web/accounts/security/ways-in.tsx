import { type ComponentProps, type FormEvent, useState } from 'react'
import type { AuthMethod } from '#shared/api/people/identity'
import { useClient } from '../../connection/client.ts'
import { ConfirmButton } from '../../kit/confirm-button.tsx'
import { fullTimeOf, shortAddress } from '../../kit/format.ts'
import { Icon, type IconName } from '../../kit/icon.tsx'
import { Listed, Problem, Skeleton } from '../../kit/notice.tsx'
import type { ProblemWords } from '../../kit/problem.ts'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { confirmationTexts } from '../../texts/confirmations.ts'
import { settingTexts as t } from '../../texts/settings.ts'
import { signInTexts } from '../../texts/sign-in.ts'
import { ProfileSwitch } from '../profile-switch.tsx'
import { useSession } from '../session.ts'
import { CodeField, Mailbox, SendAgain } from '../sign-in/code-field.tsx'
import { emailWords } from '../sign-in/email-field.tsx'
import { useEntering } from '../sign-in/entering.ts'
import { canUsePasskeys, createPasskey } from '../sign-in/passkeys.ts'
import { linkWallet } from '../sign-in/wallet-way.tsx'
import { useWallets } from '../sign-in/wallets.ts'

const words: ProblemWords = {
  VALIDATION_ERROR: t.contacts.phoneInvalid,
}

/** The verified number of the account, by which friends find it, and others only where its owner allows it. */
function PhoneSettings() {
  const client = useClient()
  const { account: walletAddress, status } = useSession()
  const phone = useLoaded('phone', () => client.phone.status())
  if (phone.error) return <Problem error={phone.error} onRetry={phone.reload} />
  if (!phone.value) return <Skeleton rows={2} label={t.contacts.phoneLoading} />
  return (
    <>
      <ContactSettings
        title={t.contacts.phone}
        icon="phone"
        noun="number"
        verified={phone.value.verified ? phone.value.phoneNumber : null}
        input={{
          type: 'tel',
          autoComplete: 'tel',
          'aria-label': t.contacts.phoneField,
          placeholder: '+44 20 7946 0000',
          maxLength: 40,
        }}
        words={words}
        mailbox={{ kind: 'texts', shownAt: status?.phone_mailbox }}
        send={(phoneNumber) => client.phone.sendCode({ phoneNumber, walletAddress })}
        verify={(_number, code) => client.phone.verifyCode({ code, walletAddress }).then(phone.reload)}
        remove={() => client.phone.remove({ walletAddress }).then(phone.reload)}
      />
      {phone.value.verified && <ProfileSwitch name="findable_by_phone" title={t.contacts.findable} />}
    </>
  )
}

/** Every way to sign in to this account. */
export function WaysIn() {
  const { status } = useSession()
  return (
    <>
      <Passkeys />
      {status?.sign_in.includes('email') && <EmailSettings />}
      {status?.phone && <PhoneSettings />}
      <LinkedIdentities />
    </>
  )
}

function Passkeys() {
  const client = useClient()
  const tell = useTell()
  const { reload } = useSession()
  const passkeys = useLoaded('passkeys', async () => (await client.passkeys.list()).credentials)
  const adding = useEntering(() => {
    tell(t.passkeys.added)
    passkeys.reload()
    reload()
  })
  const remove = (id: string) =>
    adding.attempt('remove', async () => {
      await client.passkeys.remove({ id })
      passkeys.reload()
      return undefined
    })

  return (
    <section className="stack">
      <h3 className="label">{t.passkeys.title}</h3>
      <Listed loaded={passkeys} empty={<p className="hint">{t.passkeys.empty}</p>}>
        {(all) => (
          <ul className="quiet-list">
            {all.map((passkey) => (
              <li key={passkey.id} className="row">
                <Icon name="key" />
                <span className="grow">
                  <strong>{passkey.deviceName}</strong>{' '}
                  {passkey.backedUp && <i className="chip">{t.passkeys.synced}</i>}{' '}
                  {passkey.isWalletKey && <i className="chip warm">{t.passkeys.signs}</i>}
                  <small className="hint">
                    {passkey.lastUsedAt
                      ? t.passkeys.used({
                          created: fullTimeOf(passkey.createdAt),
                          used: fullTimeOf(passkey.lastUsedAt),
                        })
                      : t.passkeys.created({ created: fullTimeOf(passkey.createdAt) })}
                  </small>
                </span>
                {!passkey.isWalletKey && (
                  <ConfirmButton
                    title={t.remove}
                    question={confirmationTexts.signIn}
                    onConfirm={() => remove(passkey.id)}
                  />
                )}
              </li>
            ))}
          </ul>
        )}
      </Listed>
      <Problem error={adding.error} />
      {canUsePasskeys() ? (
        <div className="row">
          <button
            type="button"
            className="button"
            disabled={adding.busy !== null}
            onClick={() => void adding.attempt('add', () => createPasskey(client))}
          >
            <Icon name="plus" />
            {adding.busy === 'add' ? signInTexts.waiting : t.passkeys.add}
          </button>
        </div>
      ) : (
        <p className="hint">{t.passkeys.unsupported}</p>
      )}
    </section>
  )
}

const linkable: ReadonlySet<AuthMethod> = new Set(['wallet', 'solana', 'worldid', 'alien'])

function LinkedIdentities() {
  const client = useClient()
  const tell = useTell()
  const identities = useLoaded('identities', async () =>
    (await client.identities.list()).identities.filter(({ method }) => linkable.has(method)),
  )
  const linking = useEntering(() => {})
  const wallets = useWallets()
  const change = (what: string, act: () => Promise<unknown>, done: string) =>
    linking.attempt(what, async () => {
      await act()
      tell(done)
      identities.reload()
      return undefined
    })

  return (
    <section className="stack">
      <h3 className="label">{t.accounts.title}</h3>
      <Listed loaded={identities} empty={<p className="hint">{t.accounts.empty}</p>}>
        {(all) => (
          <ul className="quiet-list">
            {all.map(({ id, method, identifier, is_original }) => (
              <li key={`${method} ${identifier}`} className="row">
                <Icon name={method === 'worldid' ? 'people' : method === 'alien' ? 'link' : 'wallet'} />
                <span className="grow">
                  <strong>{signInTexts.methods[method]}</strong>{' '}
                  {is_original && <i className="chip">{t.accounts.original}</i>}
                  <small className="hint" title={identifier}>
                    {shortAddress(identifier)}
                  </small>
                </span>
                {id !== null && !is_original && (
                  <ConfirmButton
                    title={t.accounts.unlink}
                    question={confirmationTexts.signIn}
                    onConfirm={() => change('unlink', () => client.identities.unlink({ id }), t.accounts.unlinked)}
                  />
                )}
              </li>
            ))}
          </ul>
        )}
      </Listed>
      <Problem error={linking.error} />
      <div className="row wrap">
        {wallets.map((wallet) => (
          <button
            key={wallet.id}
            type="button"
            className="button"
            disabled={linking.busy !== null}
            onClick={() => void change(wallet.id, () => linkWallet(client, wallet), t.accounts.linked)}
          >
            <Icon name="wallet" />
            {linking.busy === wallet.id ? signInTexts.wallet.waiting : t.accounts.link({ wallet: wallet.name })}
          </button>
        ))}
      </div>
      {wallets.length === 0 && <p className="hint">{t.accounts.noWallet}</p>}
    </section>
  )
}

/** The verified email address of the account: it can sign in, and it recovers the account when a passkey is lost. */
function EmailSettings() {
  const client = useClient()
  const { account: walletAddress, user, status, reload } = useSession()
  return (
    <>
      <ContactSettings
        title={signInTexts.methods.email}
        icon="mail"
        noun="address"
        verified={user.email}
        input={{
          type: 'email',
          autoComplete: 'email',
          'aria-label': signInTexts.email,
          placeholder: 'you@example.org',
          maxLength: 254,
        }}
        words={emailWords}
        mailbox={{ kind: 'letters', shownAt: status?.mailbox }}
        send={(email) => client.email.sendCode({ email, walletAddress })}
        verify={(email, code) => client.email.verifyCode({ email, code, walletAddress, updates: false }).then(reload)}
        remove={() => client.email.remove({ walletAddress }).then(reload)}
      />
      {user.email !== null && <ProfileSwitch name="email_updates_opt_in" title={t.contacts.news} />}
    </>
  )
}

interface Contact {
  title: string
  icon: IconName
  noun: 'address' | 'number'
  /** The verified address or number; null where there is none. */
  verified: string | null
  input: ComponentProps<'input'>
  words: ProblemWords
  mailbox: ComponentProps<typeof Mailbox>
  send(contact: string): Promise<unknown>
  verify(contact: string, code: string): Promise<unknown>
  remove(): Promise<unknown>
}

/** Adds an address or a number, verified by a code that is sent to it, and removes it. */
function ContactSettings(props: Contact) {
  const { noun, verified } = props
  const tell = useTell()
  const [asked, setAsked] = useState<string | null>(null)
  const changing = useEntering(() => {})
  const change = (what: string, act: () => Promise<unknown>, after: () => void) =>
    void changing.attempt(what, async () => {
      await act()
      after()
      return undefined
    })
  const ask = (contact: string) => {
    change(
      'send',
      () => props.send(contact),
      () => setAsked(contact),
    )
  }
  const verify = (code: string) =>
    change(
      'verify',
      () => props.verify(asked ?? '', code),
      () => {
        setAsked(null)
        tell(t.contactAdded[noun])
      },
    )
  const askElsewhere = () => {
    changing.forget()
    setAsked(null)
  }

  return (
    <section className="stack">
      <h3 className="label">{props.title}</h3>
      {verified !== null && (
        <div className="row">
          <Icon name={props.icon} />
          <span className="grow">
            <strong>{verified}</strong> <i className="chip">{t.contacts.verified}</i>
          </span>
          <ConfirmButton
            title={t.remove}
            question={confirmationTexts.signIn}
            onConfirm={async () => change('remove', props.remove, () => {})}
          />
        </div>
      )}
      {verified === null && asked === null && (
        <AskForm input={props.input} isBusy={changing.busy === 'send'} title={t.addContact[noun]} onAsk={ask} />
      )}
      {asked !== null && (
        <>
          <p>{t.contacts.codeSent({ contact: asked, strong: (parts) => <strong>{parts}</strong> })}</p>
          <Mailbox {...props.mailbox} />
          <CodeField isChecking={changing.busy === 'verify'} onComplete={verify} />
          <SendAgain
            destination={noun}
            isBusy={changing.busy !== null}
            onAgain={() => ask(asked)}
            onElsewhere={askElsewhere}
          />
        </>
      )}
      <Problem error={changing.error} words={props.words} />
    </section>
  )
}

function AskForm(props: {
  input: ComponentProps<'input'>
  isBusy: boolean
  title: string
  onAsk: (contact: string) => void
}) {
  const [contact, setContact] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    props.onAsk(contact.trim())
  }
  return (
    <form className="row wrap" onSubmit={submit}>
      <input
        dir="auto"
        {...props.input}
        className="input grow"
        required
        value={contact}
        onChange={(event) => setContact(event.target.value)}
      />
      <button type="submit" className="button" disabled={props.isBusy}>
        {props.isBusy ? signInTexts.sending : props.title}
      </button>
    </form>
  )
}
