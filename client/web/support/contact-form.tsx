import { useState } from 'react'
import { inquiryLength } from '#shared/api/people/contact'
import { useClient } from '../connection/client.ts'
import { Dialog } from '../kit/dialog.tsx'
import { MakeForm } from '../kit/make-form.tsx'
import { supportTexts as t } from '../texts/support.ts'

/** Writes to the team of this installation. */
export function ContactForm() {
  const client = useClient()
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [inquiry, setInquiry] = useState('')
  const [answer, setAnswer] = useState<string | null>(null)
  const send = async () => {
    const { message } = await client.contact.write({ name, email, inquiry, source: location.pathname })
    setInquiry('')
    setAnswer(message)
  }
  return (
    <MakeForm label={t.contact.title} action={t.contact.send} onMake={send}>
      <label className="field">
        <span>{t.contact.name}</span>
        <input
          dir="auto"
          className="input"
          autoComplete="name"
          required
          maxLength={100}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </label>
      <label className="field">
        <span>{t.contact.email}</span>
        <input
          className="input"
          type="email"
          autoComplete="email"
          required
          maxLength={254}
          value={email}
          onChange={({ target }) => setEmail(target.value)}
        />
      </label>
      <label className="field">
        <span>{t.contact.message}</span>
        <textarea
          dir="auto"
          className="input"
          rows={5}
          required
          maxLength={inquiryLength}
          value={inquiry}
          onChange={({ target }) => setInquiry(target.value)}
        />
      </label>
      {answer && <p role="status">{answer}</p>}
    </MakeForm>
  )
}

export const ContactDialog = ({ onClose }: { onClose: () => void }) => (
  <Dialog title={t.contact.title} onClose={onClose}>
    <div className="stack wide">
      <p className="hint">{t.contact.hint}</p>
      <ContactForm />
    </div>
  </Dialog>
)
