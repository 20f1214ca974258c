import { useState } from 'react'
import type { LogEntry } from '#shared/api/moderation/moderation-records'
import { useNames } from '../accounts/names.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Blank, Listed, Problem } from '../kit/notice.tsx'
import { saveFile } from '../kit/save-file.ts'
import { usePages } from '../kit/use-pages.ts'
import { useSubmit } from '../kit/use-submit.ts'
import { actText, loggedActs } from '../moderation/acts.ts'
import { LogList } from '../moderation/log-tab.tsx'
import { findPeople } from '../rooms/people-form.tsx'
import { adminTexts } from '../texts/admin.ts'
import { controlTexts } from '../texts/controls.ts'
import styles from './administration.module.css'

const t = adminTexts.audit
const pageLength = 50

/** What moderators and admins did in all rooms, by act, by person and by day. */
export function AuditLog() {
  const client = useClient()
  const [action, setAction] = useState('')
  const [since, setSince] = useState('')
  const [written, setWritten] = useState('')
  const [actor, setActor] = useState('')
  const log = usePages<LogEntry>(`${action} ${since} ${actor}`, async (until) => {
    const answer = await client.moderation.inspect({
      action: 'mod-log',
      limit: pageLength,
      ...(action && { actionType: action }),
      ...(since && { since: new Date(`${since}T00:00`).toISOString() }),
      ...(actor && { actor }),
      ...(until !== undefined && { until }),
    })
    const items = 'logs' in answer ? answer.logs : []
    return { items, next_cursor: items.length < pageLength ? null : (items.at(-1)?.created_at ?? null) }
  })
  const { isBusy, problem, submit } = useSubmit(async () => {
    const [found = ''] = written.trim() ? await findPeople(client, written) : []
    setActor(found)
  })
  const entries = log.value && withoutRepeats(log.value)
  const nameFor = useNames(entries?.flatMap((one) => [one.moderator_address, one.target_user_address ?? '']) ?? [])

  return (
    <>
      <form className={styles.fields} aria-label={t.filter} onSubmit={submit}>
        <label className="field">
          <span>{t.action}</span>
          <select className="input" value={action} onChange={({ target }) => setAction(target.value)}>
            <option value="">{t.allActions}</option>
            {loggedActs.map((name) => (
              <option key={name} value={name}>
                {actText(name)}
              </option>
            ))}
          </select>
        </label>
        <label className="field">
          <span>{t.since}</span>
          <input type="date" className="input" value={since} onChange={({ target }) => setSince(target.value)} />
        </label>
        <label className="field">
          <span>{t.actor}</span>
          <input
            type="search"
            dir="auto"
            className="input"
            placeholder={t.actorHint}
            maxLength={160}
            value={written}
            onChange={({ target }) => setWritten(target.value)}
          />
        </label>
        <div className="row">
          <button type="submit" className="button" aria-disabled={isBusy || undefined}>
            {t.find}
          </button>
          <button
            type="button"
            className="button plain"
            disabled={!entries?.length}
            onClick={() => saveFile(tableOf(entries ?? []), 'audit-log.csv')}
          >
            {t.download}
          </button>
        </div>
      </form>
      <Problem error={problem} />
      <Listed loaded={{ ...log, value: entries }} empty={<Blank icon="shield" title={t.none} />}>
        {(all) => <LogList label={adminTexts.tabs.audit} entries={all} nameFor={nameFor} />}
      </Listed>
      {log.more && (
        <ActButton className="button small" onPress={log.more}>
          {controlTexts.showMore}
        </ActButton>
      )}
    </>
  )
}

/** The last entries of a page are on the next one too, as that begins at their time. */
const withoutRepeats = (entries: readonly LogEntry[]): readonly LogEntry[] => [
  ...new Map(entries.map((entry) => [entry.id, entry])).values(),
]

const columns = [
  'created_at',
  'action_type',
  'moderator_address',
  'target_user_address',
  'channel_id',
  'reason',
  'hash',
] as const

/** A table of the entries in the form of CSV, with the names of their fields. */
function tableOf(entries: readonly LogEntry[]): Blob {
  const rows = entries.map((entry) => columns.map((column) => entry[column] ?? ''))
  const lines = [columns, ...rows].map((row) => row.map(cellOf).join(','))
  return new Blob([`\uFEFF${lines.join('\r\n')}\r\n`], { type: 'text/csv' })
}

/** A cell that begins like a formula would be run by a spreadsheet. */
function cellOf(value: string): string {
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return `"${text.replaceAll('"', '""')}"`
}
