import { useState } from 'react'
import { type BugReport, type BugState, bugStates } from '#shared/api/platform/bug-reports'
import { useNames } from '../accounts/names.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf } from '../kit/format.ts'
import { Blank, Listed } from '../kit/notice.tsx'
import { usePages } from '../kit/use-pages.ts'
import { controlTexts } from '../texts/controls.ts'
import { supportTexts as t } from '../texts/support.ts'
import { valueText, valueTexts } from '../texts/values.ts'
import styles from './bug-list.module.css'

/** The problem reports of people, for admins. */
export function BugList() {
  const client = useClient()
  const [status, setStatus] = useState<BugState>('open')
  const reports = usePages(status, async (cursor) => {
    const { bugReports: items, next_cursor } = await client.bugReports.list({ status, ...(cursor && { cursor }) })
    return { items, next_cursor }
  })
  const nameFor = useNames(reports.value?.map(({ user_address }) => user_address) ?? [])
  const turn = async (id: string, to: BugState) => {
    await client.bugReports.update({ id, status: to })
    reports.change((shown) => shown.filter((report) => report.id !== id))
  }
  return (
    <>
      <fieldset className="row wrap">
        <legend className="unseen">{t.reports.filter}</legend>
        {bugStates.map((one) => (
          <button key={one} type="button" className="chip" aria-pressed={one === status} onClick={() => setStatus(one)}>
            {t.states[one]}
          </button>
        ))}
      </fieldset>
      <Listed
        loaded={reports}
        empty={
          <Blank icon="check" title={t.reports.empty}>
            <p>{t.reports.emptyHint}</p>
          </Blank>
        }
      >
        {(all) => (
          <ul className="cards" aria-label={t.reports.list}>
            {all.map((report) => (
              <BugCard key={report.id} report={report} name={nameFor(report.user_address)} onTurn={turn} />
            ))}
          </ul>
        )}
      </Listed>
      {reports.more && (
        <ActButton className="button small" onPress={reports.more}>
          {controlTexts.showMore}
        </ActButton>
      )}
    </>
  )
}

function BugCard(props: { report: BugReport; name: string; onTurn: (id: string, to: BugState) => Promise<void> }) {
  const { report, name, onTurn } = props
  return (
    <li className="card">
      <p className="row wrap">
        <span className="chip warm">{valueText(valueTexts.bugs, report.category)}</span>
        <time className="hint" dateTime={report.created_at}>
          {fullTimeOf(report.created_at)}
        </time>
      </p>
      <p className={styles.asWritten} dir="auto">
        {report.description}
      </p>
      {report.replication_steps && (
        <blockquote className={`quoted ${styles.asWritten}`}>{report.replication_steps}</blockquote>
      )}
      {report.media_urls.length > 0 && (
        <p className="row wrap">
          {report.media_urls.map((url, at) => (
            <a key={url} href={url} target="_blank" rel="noreferrer">
              {t.reports.file({ number: at + 1 })}
            </a>
          ))}
        </p>
      )}
      <p className="hint">
        {t.reports.from({ name, who: (shown) => <span title={report.user_address}>{shown}</span> })}
      </p>
      <div className="row wrap">
        {bugStates
          .filter((state) => state !== report.status)
          .map((state) => (
            <ActButton key={state} className="button small" onPress={() => onTurn(report.id, state)}>
              {t.states[state]}
            </ActButton>
          ))}
      </div>
    </li>
  )
}
