import type { CSSProperties } from 'react'
import type { Poll } from '#shared/api/poll'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, isolated, plural } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'

export function PollCard({ poll }: { poll: Poll }) {
  const client = useClient()
  const { live, account, rights } = useOpenRoom()
  const attempt = useAttempt()
  const isOver = poll.is_closed || (poll.ends_at !== null && Date.parse(poll.ends_at) <= Date.now())
  const countOf = (index: number) => poll.votes.find(({ option_index }) => option_index === index)?.count ?? 0

  return (
    <section className="poll" aria-label={`Poll: ${isolated(poll.question)}`}>
      <p className="poll-question">{isolated(poll.question)}</p>
      <ul>
        {poll.options.map((option, index) => {
          const share = poll.total_votes > 0 ? Math.round((countOf(index) / poll.total_votes) * 100) : 0
          const isMine = poll.user_votes.includes(index)
          return (
            <li key={option}>
              <button
                type="button"
                className={`poll-option ${isMine ? 'mine' : ''}`}
                style={{ '--share': `${share}%` } as CSSProperties}
                aria-pressed={isMine}
                disabled={isOver}
                onClick={() => attempt(() => live.vote(poll.id, index))}
              >
                <span className="grow">{isolated(option)}</span>
                {isMine && <Icon name="check" />}
                <span className="numerals">{share} %</span>
              </button>
            </li>
          )
        })}
      </ul>
      <p className="state numerals">
        {plural(poll.total_votes, 'vote')}
        {poll.allows_multiple && ' · several answers'}
        {poll.is_anonymous && ' · anonymous'}
        {isOver ? ' · closed' : poll.ends_at ? ` · until ${fullTimeOf(poll.ends_at)}` : ''}
        {!isOver && (poll.creator_address === account || rights.canPin) && (
          <ActButton
            className="button small plain"
            onPress={() => client.polls.update({ room: live.ref, pollId: poll.id, isClosed: true })}
          >
            Close poll
          </ActButton>
        )}
      </p>
    </section>
  )
}
