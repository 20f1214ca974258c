import { useState } from 'react'
import { inquiryLength } from '#shared/api/contact'
import { useClient } from '../connection/client.ts'
import { Dialog } from '../kit/dialog.tsx'
import { MakeForm } from '../kit/make-form.tsx'

/** Writes to those who run this installation. */
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
    <MakeForm label="Contact" action="Send" onMake={send}>
      <label className="field">
        <span>Your name</span>
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
        <span>Your e-mail address</span>
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
        <span>What is it about?</span>
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
  <Dialog title="Contact" onClose={onClose}>
    <div className="stack wide">
      <p className="hint">To those who run this Plaza. They answer by e-mail.</p>
      <ContactForm />
    </div>
  </Dialog>
)
