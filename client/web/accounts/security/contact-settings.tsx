import { type ComponentProps, type FormEvent, useState } from 'react'
import { ConfirmButton } from '../../kit/confirm-button.tsx'
import { Icon, type IconName } from '../../kit/icon.tsx'
import { Problem } from '../../kit/notice.tsx'
import type { ProblemWords } from '../../kit/problem.ts'
import { useTell } from '../../kit/toasts.tsx'
import { confirmationTexts } from '../../texts/confirmations.ts'
import { settingTexts as t } from '../../texts/settings.ts'
import { signInTexts } from '../../texts/sign-in.ts'
import { CodeField } from '../sign-in/code-field.tsx'
import { useEntering } from '../sign-in/entering.ts'
import { Mailbox } from '../sign-in/mailbox.tsx'
import { SendAgain } from '../sign-in/send-again.tsx'

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
export function ContactSettings(props: Contact) {
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
