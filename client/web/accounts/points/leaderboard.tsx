import { isSameAccount } from '#shared/kit/accounts'
import { useClient } from '../../connection/client.ts'
import { nameOf } from '../../kit/format.ts'
import { Problem, Skeleton } from '../../kit/notice.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { pointTexts as t } from '../../texts/points.ts'
import styles from './leaderboard.module.css'

const shownAtMost = 10

/** Who has most points, and the place of the account; looked at again when its points change. */
export function Leaderboard({ points }: { points: number }) {
  const client = useClient()
  const ranks = useLoaded(`ranks ${points}`, async () => {
    const [{ entries, total }, { entry }] = await Promise.all([
      client.points.leaderboard({ limit: shownAtMost }),
      client.points.ownRank({}),
    ])
    const isAmong = entries.some(({ address }) => isSameAccount(address, entry?.address))
    return { shown: entry && !isAmong ? [...entries, entry] : entries, own: entry?.address, total }
  })
  const { value, error, reload } = ranks
  return (
    <section className="stack">
      <h3 className="label">{t.ranks.title}</h3>
      <Problem error={error} onRetry={reload} />
      {!value && !error && <Skeleton rows={3} />}
      {value?.shown.length === 0 && <p className="hint">{t.ranks.empty}</p>}
      <ol className={`quiet-list ${styles.ranks}`} aria-label={t.ranks.title}>
        {value?.shown.map(({ rank, address, username, display_name, score }) => (
          <li key={address} className="row">
            <span className={`${styles.rank} numerals`}>{rank}</span>
            <strong className="grow">{nameOf(username ?? display_name, address)}</strong>
            {isSameAccount(address, value.own) && <span className="chip">{t.ranks.you}</span>}
            <span className="numerals">{t.count({ count: score })}</span>
          </li>
        ))}
      </ol>
      {value && value.total > shownAtMost && <p className="hint">{t.ranks.people({ count: value.total })}</p>}
    </section>
  )
}
