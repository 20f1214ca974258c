import { type CSSProperties, type FormEvent, useCallback, useRef, useState } from 'react'
import type { Poll } from '#shared/api/rooms/polls'
import { isSameAccount } from '#shared/kit/accounts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { fullTimeOf, isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
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

const mostOptions = 10

export function PollForm({ onSent, onClose }: { onSent: () => void; onClose: () => void }) {
  const client = useClient()
  const { live } = useOpenRoom()
  const [question, setQuestion] = useState('')
  const [options, setOptions] = useState<readonly { key: number; text: string }[]>([
    { key: 0, text: '' },
    { key: 1, text: '' },
  ])
  const [allowsMultiple, setMultiple] = useState(false)
  const [isAnonymous, setAnonymous] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const added = useRef<number | null>(null)
  const given = options.map(({ text }) => text.trim()).filter(Boolean)
  const isRepeated = new Set(given).size < given.length

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isRepeated) return setError(new Error(t.poll.repeated))
    try {
      await client.polls.create({
        room: live.ref,
        question: question.trim(),
        options: given,
        allowsMultiple,
        isAnonymous,
      })
      onSent()
      onClose()
    } catch (cause) {
      setError(cause)
    }
  }

  return (
    <Dialog title={t.poll.create} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>{t.poll.question}</span>
          <input
            dir="auto"
            className="input"
            required
            maxLength={500}
            value={question}
            onChange={(event) => setQuestion(event.target.value)}
          />
        </label>
        <fieldset className="stack">
          <legend className="label">{t.poll.answers}</legend>
          {options.map(({ key, text }, at) => (
            <input
              dir="auto"
              key={key}
              ref={(element) => {
                if (added.current === key) element?.focus()
                if (element && added.current === key) added.current = null
              }}
              className="input"
              maxLength={200}
              aria-label={t.poll.answer({ number: at + 1 })}
              value={text}
              onChange={(event) =>
                setOptions(options.map((option) => (option.key === key ? { key, text: event.target.value } : option)))
              }
            />
          ))}
          {options.length < mostOptions && (
            <div>
              <button
                type="button"
                className="button small plain"
                onClick={() => {
                  added.current = options.length
                  setOptions([...options, { key: options.length, text: '' }])
                }}
              >
                <Icon name="plus" />
                {t.poll.add}
              </button>
            </div>
          )}
        </fieldset>
        <label className="check">
          <input type="checkbox" checked={allowsMultiple} onChange={(event) => setMultiple(event.target.checked)} />
          {t.poll.allowMultiple}
        </label>
        <label className="check">
          <input type="checkbox" checked={isAnonymous} onChange={(event) => setAnonymous(event.target.checked)} />
          {t.poll.hideVoters}
        </label>
        <Problem error={error} />
        <div className="row end">
          <button type="submit" className="button main" disabled={!question.trim() || given.length < 2}>
            {t.poll.create}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
