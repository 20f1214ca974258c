import type { QueueItem } from '#shared/api/moderation-records'
import { useNames } from '../accounts/names.ts'
import { useOpenPerson } from '../accounts/person-of-interest.ts'
import { useClient } from '../connection/client.ts'
import { fullTimeOf } from '../kit/format.ts'
import { Blank, Listed } from '../kit/notice.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import type { Listing } from '../kit/use-loaded.ts'
import { useOpenRoom } from '../rooms/room-context.ts'

export function QueueTab({ queue }: { queue: Listing<readonly QueueItem[]> }) {
  const empty = (
    <Blank icon="check" title="Nothing waits">
      <p>Reports and flagged messages come here.</p>
    </Blank>
  )
  return (
    <Listed loaded={queue} empty={empty}>
      {(items) => (
        <ul className="cards">
          {items.map((item) => (
            <QueueCard key={item.id} item={item} />
          ))}
        </ul>
      )}
    </Listed>
  )
}

function QueueCard({ item }: { item: QueueItem }) {
  const client = useClient()
  const attempt = useAttempt()
  const open = useOpenPerson()
  const { live, account, jumpTo } = useOpenRoom()
  const nameFor = useNames([item.reporter_address, item.reported_address, item.claimed_by].filter((id) => id !== null))
  const isMine = item.claimed_by === account
  const decide = (decision: 'action_taken' | 'dismissed') =>
    attempt(() => client.moderation.decide({ item: item.id, decision }))

  return (
    <li className="card">
      <p className="row wrap">
        <span className={`chip ${item.kind === 'flag' ? 'warm' : 'grave'}`}>
          {item.report_type.replaceAll('_', ' ')}
        </span>
        <time className="hint" dateTime={item.created_at}>
          {fullTimeOf(item.created_at)}
        </time>
      </p>
      {item.message_content && <blockquote className="quoted">{item.message_content}</blockquote>}
      {item.description && <p>{item.description}</p>}
      <p className="hint">
        {item.reporter_address && (
          <>
            From <span title={item.reporter_address}>{nameFor(item.reporter_address)}</span>,{' '}
          </>
        )}
        about{' '}
        <button
          type="button"
          className="inline"
          title={item.reported_address}
          onClick={() => open({ id: item.reported_address, name: nameFor(item.reported_address), role: null, live })}
        >
          {nameFor(item.reported_address)}
        </button>
        {item.claimed_by && ` · ${isMine ? 'you look at this' : `${nameFor(item.claimed_by)} looks at this`}`}
      </p>
      <div className="row wrap">
        <button
          type="button"
          className="button small"
          aria-pressed={isMine}
          onClick={() => attempt(() => client.moderation.claim({ item: item.id, on: !isMine }))}
        >
          {isMine ? 'Let go' : 'Claim'}
        </button>
        <button type="button" className="button small" onClick={() => decide('action_taken')}>
          Done
        </button>
        <button type="button" className="button small plain" onClick={() => decide('dismissed')}>
          Dismiss
        </button>
        {item.message_id && (
          <button type="button" className="button small plain" onClick={() => jumpTo(item.message_id ?? '')}>
            Show
          </button>
        )}
      </div>
    </li>
  )
}
