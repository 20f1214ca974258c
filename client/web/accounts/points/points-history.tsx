import { useState } from 'react'
import type { PointsEntry } from '#shared/api/people/points'
import { useClient } from '../../connection/client.ts'
import { ActButton } from '../../kit/act-button.tsx'
import { fullTimeOf } from '../../kit/format.ts'
import { pointTexts as t } from '../../texts/points.ts'
import styles from '../accounts.module.css'

const pageSize = 50

/** What the account was given, newest first: what is known already, and older pages on request. */
export function PointsHistory({ newest }: { newest: readonly PointsEntry[] }) {
  const client = useClient()
  const [older, setOlder] = useState<readonly Row[]>([])
  const [hasOlder, setHasOlder] = useState(newest.length === pageSize)
  const rows = [...newest.map(({ points, ...rest }) => ({ ...rest, amount: points })), ...older]
  const more = async () => {
    const before = rows.at(-1)?.id
    const { transactions } = await client.points.history({ limit: pageSize, ...(before && { before }) })
    setOlder([...older, ...transactions])
    setHasOlder(transactions.length === pageSize)
  }
  return (
    <section className="stack">
      <h3 className="label">{t.history.title}</h3>
      {rows.length === 0 && <p className="hint">{t.history.empty}</p>}
      <ul className="quiet-list" aria-label={t.history.title}>
        {rows.map(({ id, reason, amount, created_at }) => (
          <li key={id} className="row">
            <span className="grow">
              {reason}
              <small className="hint">
                <time dateTime={created_at}>{fullTimeOf(created_at)}</time>
              </small>
            </span>
            <span className={`${styles.pointsWorth} numerals`}>+{amount}</span>
          </li>
        ))}
      </ul>
      {hasOlder && (
        <ActButton className="button small plain" onPress={more}>
          {t.history.older}
        </ActButton>
      )}
    </section>
  )
}

type Row = Pick<PointsEntry, 'id' | 'reason' | 'created_at'> & { amount: number }
