import { useState } from 'react'
import { type AnalyticsBucket, type Period, periods } from '#shared/api/platform/analytics'
import { useClient } from '../connection/client.ts'
import { Problem, Skeleton } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { adminTexts } from '../texts/admin.ts'
import { locale } from '../texts/language.ts'
import styles from './administration.module.css'

const t = adminTexts.analytics

const figures = [
  'totalUsers',
  'newUsersCount',
  'activeUsers',
  'totalMessages',
  'acceptedFriendships',
  'totalCalls',
  'streamsStarted',
  'totalAgents',
  'agentMessagesInPeriod',
  'invitesUsed',
  'betaPendingCount',
] as const
const plots = ['newUsers', 'groups', 'friendRequests', 'agentChats'] as const

/** What can be counted of the installation, over a period. */
export function Analytics() {
  const client = useClient()
  const [period, setPeriod] = useState<Period>('7d')
  const { value, error, reload } = useLoaded(period, () => client.analytics.read({ period }))
  const number = new Intl.NumberFormat(locale)
  return (
    <>
      <fieldset className="row wrap">
        <legend className="unseen">{t.period}</legend>
        {periods.map((one) => (
          <button key={one} type="button" className="chip" aria-pressed={one === period} onClick={() => setPeriod(one)}>
            {t.periods[one]}
          </button>
        ))}
      </fieldset>
      <Problem error={error} onRetry={reload} />
      {!value && !error && <Skeleton rows={6} />}
      {value && (
        <>
          <dl className={styles.figures}>
            {figures.map((name) => {
              const counted = value.summary[name]
              return counted === undefined ? null : (
                <div key={name}>
                  <dt>{t.figures[name]}</dt>
                  <dd className="numerals">{number.format(counted)}</dd>
                </div>
              )
            })}
          </dl>
          <div className={styles.plots}>
            {plots.map((name) => (
              <Plot key={name} title={t.plots[name]} buckets={value.timeSeries} of={name} />
            ))}
          </div>
        </>
      )}
    </>
  )
}

const [width, height] = [320, 80]

/** A bar for each part of the period; a pointer over one, and a screen reader, tell its value. */
function Plot(props: { title: string; buckets: readonly AnalyticsBucket[]; of: (typeof plots)[number] }) {
  const { title, buckets, of } = props
  const total = buckets.reduce((sum, bucket) => sum + bucket[of], 0)
  const most = Math.max(1, ...buckets.map((bucket) => bucket[of]))
  const step = width / Math.max(1, buckets.length)
  const label = t.plot({ title, total, most: total === 0 ? 0 : most })
  return (
    <figure className={styles.plot}>
      <figcaption>{label}</figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <line x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} />
        {buckets.map((bucket, at) => {
          const length = (bucket[of] / most) * (height - 2)
          return (
            <rect key={bucket.date} x={at * step + step * 0.1} y={height - length} width={step * 0.8} height={length}>
              <title>{t.bar({ label: bucket.label, value: bucket[of] })}</title>
            </rect>
          )
        })}
      </svg>
      <div className={styles.ends} aria-hidden="true">
        <span>{buckets[0]?.label}</span>
        <span>{buckets.at(-1)?.label}</span>
      </div>
    </figure>
  )
}
