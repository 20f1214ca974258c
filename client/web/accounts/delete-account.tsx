import { useState } from 'react'
import type { MessagesOfErased, ownData } from '#shared/api/own-data'
import type { AnswerOf } from '#shared/kit/contract'
import { useClient } from '../connection/client.ts'
import { Dialog } from '../kit/dialog.tsx'
import { fullTimeOf, plural } from '../kit/format.ts'
import { MakeForm } from '../kit/make-form.tsx'
import { Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useSession } from './session.ts'

type State = AnswerOf<typeof ownData.readErasure>

/** The way to delete this account, and a notice where a sign-in has kept it. */
export function DeleteAccount() {
  const client = useClient()
  const { value, error, reload } = useLoaded('erasure', () => client.ownData.readErasure({}))
  const [isOpen, setOpen] = useState(false)
  return (
    <section className="stack" aria-label="Delete account">
      <h3 className="label">Delete account</h3>
      {value?.kept_at && (
        <p role="status">
          This account was about to be deleted. You kept it by signing in on {fullTimeOf(value.kept_at)}.
        </p>
      )}
      <p className="hint">Removes your account and everything that is yours. Download your data first.</p>
      <Problem error={error} onRetry={reload} />
      <div className="row">
        <button type="button" className="button" disabled={!value} onClick={() => setOpen(true)}>
          Delete account
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
    tell(`Your account will be deleted on ${fullTimeOf(erased_at)}. Sign in before then to keep it.`)
    await signOut()
  }
  return (
    <Dialog title="Delete account" onClose={onClose}>
      <MakeForm label="Delete account" action="Delete account" onMake={erase}>
        <ul>
          {rooms > 0 && (
            <li>{plural(rooms, 'room')}: a moderator or member becomes the owner, or the room is archived.</li>
          )}
          {agents > 0 && <li>{plural(agents, 'agent')}: deleted.</li>}
          {streams > 0 && <li>{plural(streams, 'livestream')}: ended and deleted, with all recordings.</li>}
          {calls > 0 && <li>{plural(calls, 'upcoming call')}: cancelled, with an email to the other person.</li>}
          {webhooks > 0 && <li>{plural(webhooks, 'webhook')}: deleted.</li>}
          {payments > 0 && <li>{plural(payments, 'payment')}: kept without your name, as tax law asks.</li>}
          <li>Your profile, friends, files, devices and settings: deleted.</li>
        </ul>
        <p>
          {state.grace_days > 0
            ? `You are signed out at once. For ${plural(state.grace_days, 'day')} you can sign in to keep the account.`
            : 'This happens at once, and cannot be undone.'}
        </p>
        <fieldset className="stack">
          <legend className="label">Your messages</legend>
          <label className="check">
            <input
              type="radio"
              name="messages"
              checked={messages === 'unlink'}
              onChange={() => setMessages('unlink')}
            />
            <span>Keep them for others, as by “Deleted user”</span>
          </label>
          <label className="check">
            <input type="radio" name="messages" checked={messages === 'erase'} onChange={() => setMessages('erase')} />
            <span>Delete them everywhere</span>
          </label>
        </fieldset>
        <label className="stack">
          <span className="label">Type {name} to confirm</span>
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
