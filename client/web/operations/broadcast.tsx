import { useId, useState } from 'react'
import { type BroadcastTarget, broadcastLength } from '#shared/api/platform/broadcasts'
import { useClient } from '../connection/client.ts'
import { fullTimeOf } from '../kit/format.ts'
import { Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { ConfirmButton } from '../moderation/confirm-button.tsx'
import { operationTexts as t } from '../texts/operations.ts'

const targets: readonly BroadcastTarget[] = ['all_users', 'friends']

/** Tells many people something by a direct message to each; the button says how many before it is pressed again. */
export function Broadcast() {
  const client = useClient()
  const tell = useTell()
  const title = useId()
  const [text, setText] = useState('')
  const [target, setTarget] = useState<BroadcastTarget>('all_users')
  const [key, setKey] = useState(() => crypto.randomUUID())
  const loaded = useLoaded(target, () => client.broadcasts.read({ target }))
  const send = async () => {
    const { sent, total } = await client.broadcasts.send({ message: text, target, idempotency_key: key })
    setText('')
    setKey(crypto.randomUUID())
    tell(sent < total ? t.broadcast.sending({ sent, total }) : t.broadcast.sent({ count: sent }))
    loaded.reload()
  }
  return (
    <section className="stack" aria-labelledby={title}>
      <h3 className="label" id={title}>
        {t.broadcast.title}
      </h3>
      <select
        className="input"
        aria-label={t.broadcast.to}
        value={target}
        onChange={(event) => setTarget(event.target.value === 'friends' ? 'friends' : 'all_users')}
      >
        {targets.map((one) => (
          <option key={one} value={one}>
            {t.broadcast[one]}
          </option>
        ))}
      </select>
      <textarea
        dir="auto"
        className="input"
        aria-label={t.broadcast.text}
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
          <ConfirmButton title={t.broadcast.send({ count: loaded.value.total })} onConfirm={send} />
        </div>
      )}
      {loaded.value?.broadcasts.map(({ id, message, created_at, sent, failed, total, finished_at }) => (
        <p key={id} className="hint">
          <bdi>{message}</bdi> · {fullTimeOf(created_at)} · {t.broadcast.reached({ sent, total })}
          {failed > 0 && ` · ${t.broadcast.failed({ count: failed })}`}
          {finished_at === null && ` · ${t.broadcast.underWay}`}
        </p>
      ))}
    </section>
  )
}
