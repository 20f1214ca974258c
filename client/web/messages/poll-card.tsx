import { type CSSProperties, useCallback, useState } from 'react'
import type { Poll } from '#shared/api/rooms/poll'
import { isSameAccount } from '#shared/kit/accounts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { useOpenRoom } from '../rooms/room-context.ts'
import { messageTexts as t } from '../texts/messages.ts'
import messagesStyles from './messages.module.css'
import styles from './poll-card.module.css'
import { type Group, NamesTip, namesOf, usePointed, WhoDialog } from './who.tsx'

export function PollCard({ poll }: { poll: Poll }) {
  const client = useClient()
  const { live, account, rights } = useOpenRoom()
  const [showsWho, setShowsWho] = useState(false)
  const isOver = poll.is_closed || (poll.ends_at !== null && Date.parse(poll.ends_at) <= Date.now())
  const load = useCallback(async (): Promise<readonly Group[]> => {
    const { voters } = await client.polls.voters({ room: live.ref, pollId: poll.id })
    const groups = poll.options.map((option, index) => ({
      title: isolated(option),
      count: countIn(poll, index),
      people: voters
        .filter(({ options }) => options.includes(index))
        .map(({ user_address, user_name }) => ({ id: user_address, name: user_name })),
    }))
    return groups.filter(({ count }) => count > 0)
  }, [client, live, poll])

  return (
    <section className={styles.poll} aria-label={t.poll.of({ question: isolated(poll.question) })}>
      <p className={styles.pollQuestion} dir="auto">
        {isolated(poll.question)}
      </p>
      <ul>
        {poll.options.map((option, index) => {
          return (
            <li key={option}>
              <PollOption poll={poll} index={index} isOver={isOver} load={load} onWho={() => setShowsWho(true)} />
            </li>
          )
        })}
      </ul>
      <p className={`${messagesStyles.state} numerals`}>
        {[
          t.poll.votes({ count: poll.total_votes }),
          poll.allows_multiple && t.poll.multiple,
          poll.is_anonymous && t.poll.anonymous,
          isOver ? t.poll.closed : poll.ends_at && t.poll.until({ time: fullTimeOf(poll.ends_at) }),
        ]
          .filter(Boolean)
          .join(' · ')}
        {!poll.is_anonymous && poll.total_votes > 0 && (
          <button type="button" className="button small plain" onClick={() => setShowsWho(true)}>
            {t.poll.who}
          </button>
        )}
        {!isOver && (isSameAccount(poll.creator_address, account) || rights.canPin) && (
          <ActButton
            className="button small plain"
            onPress={() => client.polls.update({ room: live.ref, pollId: poll.id, isClosed: true })}
          >
            {t.poll.close}
          </ActButton>
        )}
      </p>
      {showsWho && <WhoDialog title={t.poll.voters} load={load} onClose={() => setShowsWho(false)} />}
    </section>
  )
}

const countIn = (poll: Poll, index: number): number =>
  poll.votes.find(({ option_index }) => option_index === index)?.count ?? 0

function PollOption(props: {
  poll: Poll
  index: number
  isOver: boolean
  load: () => Promise<readonly Group[]>
  onWho: () => void
}) {
  const { poll, index, isOver, load } = props
  const { live, account } = useOpenRoom()
  const attempt = useAttempt()
  const isNamed = !poll.is_anonymous && countIn(poll, index) > 0
  const { isPointed, tip, handlers, tookAsHold } = usePointed(() => {
    if (isNamed) props.onWho()
  })
  const option = poll.options[index] ?? ''
  const share = poll.total_votes > 0 ? Math.round((countIn(poll, index) / poll.total_votes) * 100) : 0
  const isMine = poll.user_votes.includes(index)
  const names = async () => {
    const group = (await load()).find(({ title }) => title === isolated(option))
    return group && group.people.length > 0 ? namesOf(group, account) : ''
  }
  return (
    <>
      <button
        type="button"
        className={`${styles.pollOption} ${isMine ? 'mine' : ''}`}
        style={{ '--share': `${share}%` } as CSSProperties}
        aria-pressed={isMine}
        aria-disabled={isOver}
        {...handlers}
        onClick={() => {
          if (!isOver && !tookAsHold()) attempt(() => live.vote(poll.id, index, poll))
        }}
      >
        <span className="grow" dir="auto">
          {isolated(option)}
        </span>
        {isMine && <Icon name="check" />}
        <span className="numerals">{share} %</span>
      </button>
      {isPointed && isNamed && <NamesTip key={poll.version} id={tip} load={names} />}
    </>
  )
}
