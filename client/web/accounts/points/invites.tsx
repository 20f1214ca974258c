import { useEffect, useState } from 'react'
import { table } from '#client/sdk/table'
import { useClient } from '../../connection/client.ts'
import { ActButton } from '../../kit/act-button.tsx'
import { nameOf } from '../../kit/format.ts'
import { Problem, Skeleton } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { useSubmit } from '../../kit/use-submit.ts'
import { pointTexts as t } from '../../texts/points.ts'
import styles from '../accounts.module.css'

/** The codes by which the account invites others, who came by them, and a field for the code of somebody else. */
export function Invites({ onUsed }: { onUsed: () => void }) {
  const client = useClient()
  const tell = useTell()
  const invites = useLoaded('invites', () => client.invites.list({}))
  const { value, error, reload } = invites
  useEffect(() => client.on(table.events.pointsChanged, reload), [client, reload])
  const copy = async (code: string) => {
    await navigator.clipboard.writeText(code)
    tell(t.invites.copied)
  }
  return (
    <section className="stack">
      <h3 className="label">{t.invites.title}</h3>
      <p className="hint">{t.invites.hint}</p>
      <Problem error={error} onRetry={reload} />
      {!value && !error && <Skeleton rows={3} />}
      {value && <p className="numerals">{t.invites.left({ left: value.available, count: value.totalAllocation })}</p>}
      <ul className="quiet-list" aria-label={t.invites.title}>
        {value?.invites.map(({ id, code, used_by, used_by_name }) => (
          <li key={id} className="row">
            <code className={`${styles.address} grow`}>{code}</code>
            {used_by ? (
              <span className="hint">{t.invites.usedBy({ name: nameOf(used_by_name, used_by) })}</span>
            ) : (
              <ActButton className="button small" aria-label={t.invites.copyOf({ code })} onPress={() => copy(code)}>
                {t.invites.copy}
              </ActButton>
            )}
          </li>
        ))}
      </ul>
      <RedeemForm onUsed={onUsed} />
    </section>
  )
}

function RedeemForm({ onUsed }: { onUsed: () => void }) {
  const client = useClient()
  const tell = useTell()
  const [code, setCode] = useState('')
  const { isBusy, problem, submit } = useSubmit(async () => {
    const { message } = await client.invites.redeem({ code })
    tell(message)
    setCode('')
    onUsed()
  })
  return (
    <form className="stack" onSubmit={submit}>
      <div className="row">
        <input
          dir="auto"
          className="input grow"
          aria-label={t.invites.field}
          placeholder={t.invites.example}
          autoComplete="off"
          required
          maxLength={64}
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
        <button type="submit" className="button" aria-disabled={isBusy || undefined}>
          {t.invites.use}
        </button>
      </div>
      <Problem error={problem} />
    </form>
  )
}
