import { useEffect, useState } from 'react'
import { table } from '#client/sdk/table'
import type { social } from '#shared/api/moderation/social'
import type { AnswerOf } from '#shared/kit/contract'
import { roomOfConversation } from '#shared/kit/room-key'
import { conversations } from '#shared/kit/room-kinds'
import { useNames } from '../accounts/names.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf } from '../kit/format.ts'
import { Blank, Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { usePages } from '../kit/use-pages.ts'
import { evidenceOf } from '../media/words.ts'
import { OfRoom, QueueCards } from '../moderation/queue-tab.tsx'
import { withItem } from '../moderation/use-moderation.ts'
import { adminTexts } from '../texts/admin.ts'
import { controlTexts } from '../texts/controls.ts'
import { valueText, valueTexts } from '../texts/values.ts'

type Report = AnswerOf<typeof social.reports>['reports'][number]

const t = adminTexts.reports
const states = ['pending', 'action_taken', 'dismissed', 'reviewed'] as const
type State = (typeof states)[number]

/** Reports from all rooms and direct messages: those to decide, and those that were decided. */
export function Reports() {
  const [state, setState] = useState<State>('pending')
  return (
    <>
      <fieldset className="row wrap">
        <legend className="unseen">{t.state}</legend>
        {states.map((one) => (
          <button key={one} type="button" className="chip" aria-pressed={one === state} onClick={() => setState(one)}>
            {t.states[one]}
          </button>
        ))}
      </fieldset>
      {state === 'pending' ? <OpenReports /> : <DecidedReports state={state} />}
    </>
  )
}

function OpenReports() {
  const client = useClient()
  const queue = usePages('queue', async (cursor) => {
    const { queue: items, next_cursor } = await client.moderation.queue({
      scope: 'global',
      ...(cursor !== undefined && { cursor }),
    })
    return { items, next_cursor }
  })
  const { change } = queue
  useEffect(
    () => client.on(table.events.queued, ({ item }) => change((items) => withItem(items, item))),
    [client, change],
  )
  return (
    <>
      <Listed loaded={queue} empty={<Blank icon="check" title={t.none} />}>
        {(items) => <QueueCards items={items} />}
      </Listed>
      {queue.more && (
        <ActButton className="button small" onPress={queue.more}>
          {controlTexts.showMore}
        </ActButton>
      )}
    </>
  )
}

function DecidedReports({ state }: { state: Exclude<State, 'pending'> }) {
  const client = useClient()
  const loaded = useLoaded(state, async () => (await client.social.reports({ admin: true, status: state })).reports)
  const people = loaded.value?.flatMap((one) => [one.reporter_address, one.reported_address, one.reviewed_by ?? ''])
  const nameFor = useNames(people?.filter(Boolean) ?? [])
  return (
    <Listed loaded={loaded} empty={<Blank icon="flag" title={t.noneSuch} />}>
      {(reports) => (
        <ul className="cards" aria-label={t.states[state]}>
          {reports.map((report) => (
            <DecidedReport key={report.id} report={report} nameFor={nameFor} />
          ))}
        </ul>
      )}
    </Listed>
  )
}

function DecidedReport({ report, nameFor }: { report: Report; nameFor: (id: string) => string }) {
  const about = { from: nameFor(report.reporter_address), name: nameFor(report.reported_address) }
  const { conversation_type, conversation_id: id } = report
  const type = conversations.find((one) => one === conversation_type)
  const room = type && id !== null ? roomOfConversation(type, id, report.reporter_address) : null
  return (
    <li className="card">
      <p className="row wrap">
        <span className="chip">{valueText(valueTexts.reports, report.report_type)}</span>
        <time className="hint" dateTime={report.created_at}>
          {fullTimeOf(report.created_at)}
        </time>
      </p>
      {report.message_content && (
        <blockquote className="quoted" dir="auto">
          {evidenceOf(report.message_content)}
        </blockquote>
      )}
      {report.description && <p dir="auto">{report.description}</p>}
      {room && <OfRoom room={room} />}
      <p className="hint">{t.about(about)}</p>
      {report.reviewed_at && report.reviewed_by && (
        <p className="hint">{t.decided({ name: nameFor(report.reviewed_by), time: fullTimeOf(report.reviewed_at) })}</p>
      )}
      {report.admin_notes && <p dir="auto">{report.admin_notes}</p>}
    </li>
  )
}
