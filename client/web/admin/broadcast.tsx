import { useState } from 'react'
import { type BroadcastTarget, broadcastLength, broadcastTargets } from '#shared/api/platform/broadcasts'
import { useClient } from '../connection/client.ts'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { fullTimeOf, isolated } from '../kit/format.ts'
import { Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { adminTexts } from '../texts/admin.ts'
import { confirmationTexts } from '../texts/confirmations.ts'

const t = adminTexts.broadcasts

/** Sends many people a direct message; the button says how many. */
export function Broadcast() {
  const client = useClient()
  const tell = useTell()
  const [text, setText] = useState('')
  const [target, setTarget] = useState<BroadcastTarget>('all_users')
  const [key, setKey] = useState(() => crypto.randomUUID())
  const loaded = useLoaded(target, () => client.broadcasts.read({ target }))
  const send = async () => {
    const { sent, total } = await client.broadcasts.send({ message: text, target, idempotency_key: key })
    setText('')
    setKey(crypto.randomUUID())
    tell(sent < total ? t.begun({ sent, total }) : t.sent({ count: sent }))
    loaded.reload()
  }
  return (
    <>
      <select
        className="input"
        aria-label={t.recipients}
        value={target}
        onChange={(event) => setTarget(event.target.value === 'friends' ? 'friends' : 'all_users')}
      >
        {broadcastTargets.map((one) => (
          <option key={one} value={one}>
            {t.targets[one]}
          </option>
        ))}
      </select>
      <textarea
        dir="auto"
        className="input"
        aria-label={t.message}
        rows={3}
        maxLength={broadcastLength}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setKey(crypto.randomUUID())
        }}
      />
      <Problem error={loaded.error} onRetry={loaded.reload} />
      {loaded.value && text.trim() !== '' && (
        <div className="row end">
          <ConfirmButton
            title={t.send({ count: loaded.value.total })}
            question={confirmationTexts.broadcast}
            onConfirm={send}
          />
        </div>
      )}
      {loaded.value?.broadcasts.map(({ id, message, created_at, sent, failed, total, finished_at }) => (
        <p key={id} className="hint">
          {t.past({ message: isolated(message), time: fullTimeOf(created_at), sent, total })}
          {failed > 0 && ` · ${t.failed({ count: failed })}`}
          {finished_at === null && ` · ${t.sending}`}
        </p>
      ))}
    </>
  )
}
