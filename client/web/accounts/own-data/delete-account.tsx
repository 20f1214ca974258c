import { useState } from 'react'
import type { MessagesOfErased, ownData } from '#shared/api/platform/own-data'
import type { AnswerOf } from '#shared/kit/contract'
import { useClient } from '../../connection/client.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { fullTimeOf } from '../../kit/format.ts'
import { MakeForm } from '../../kit/make-form.tsx'
import { Problem } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { deleteAccountTexts as t } from '../../texts/delete-account.ts'
import { useSession } from '../session.ts'

type State = AnswerOf<typeof ownData.readErasure>

/** The way to delete this account, and a notice where a sign-in has kept it. */
export function DeleteAccount() {
  const client = useClient()
  const { value, error, reload } = useLoaded('erasure', () => client.ownData.readErasure({}))
  const [isOpen, setOpen] = useState(false)
  return (
    <section className="stack" aria-label={t.title}>
      <h3 className="label">{t.title}</h3>
      {value?.kept_at && <p role="status">{t.kept({ time: fullTimeOf(value.kept_at) })}</p>}
      <p className="hint">{t.hint}</p>
      <Problem error={error} onRetry={reload} />
      <div className="row">
        <button type="button" className="button" disabled={!value} onClick={() => setOpen(true)}>
          {t.title}
        </button>
      </div>
      {isOpen && value && <DeleteDialog state={value} onClose={() => setOpen(false)} />}
    </section>
  )
}

function DeleteDialog({ state, onClose }: { state: State; onClose: () => void }) {
  const client = useClient()
  const tell = useTell()
  const { account, user, signOut } = useSession()
  const [messages, setMessages] = useState<MessagesOfErased>('unlink')
  const [confirm, setConfirm] = useState('')
  const name = user.username ?? user.display_name ?? account
  const { rooms, agents, streams, calls, webhooks, payments } = state.counts
  const erase = async () => {
    const { erased_at } = await client.ownData.erase({ messages, confirm })
    tell(t.begun({ time: fullTimeOf(erased_at) }))
    await signOut()
  }
  return (
    <Dialog title={t.title} onClose={onClose}>
      <MakeForm label={t.title} action={t.title} onMake={erase}>
        <ul>
          {rooms > 0 && <li>{t.counts.rooms({ count: rooms })}</li>}
          {agents > 0 && <li>{t.counts.agents({ count: agents })}</li>}
          {streams > 0 && <li>{t.counts.streams({ count: streams })}</li>}
          {calls > 0 && <li>{t.counts.calls({ count: calls })}</li>}
          {webhooks > 0 && <li>{t.counts.webhooks({ count: webhooks })}</li>}
          {payments > 0 && <li>{t.counts.payments({ count: payments })}</li>}
          <li>{t.others}</li>
        </ul>
        <p>{state.grace_days > 0 ? t.grace({ days: state.grace_days }) : t.atOnce}</p>
        <fieldset className="stack">
          <legend className="label">{t.messages}</legend>
          <label className="check">
            <input
              type="radio"
              name="messages"
              checked={messages === 'unlink'}
              onChange={() => setMessages('unlink')}
            />
            <span>{t.unlink}</span>
          </label>
          <label className="check">
            <input type="radio" name="messages" checked={messages === 'erase'} onChange={() => setMessages('erase')} />
            <span>{t.erase}</span>
          </label>
        </fieldset>
        <label className="stack">
          <span className="label">{t.confirm({ name })}</span>
          <input
            className="input"
            dir="auto"
            autoComplete="off"
            required
            value={confirm}
            onChange={({ target }) => setConfirm(target.value)}
          />
        </label>
      </MakeForm>
    </Dialog>
  )
}
