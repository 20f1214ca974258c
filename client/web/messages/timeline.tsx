import {
  Component,
  type FocusEvent,
  type KeyboardEvent,
  type MouseEvent,
  memo,
  type ReactNode,
  type Ref,
  useCallback,
  useEffect,
  useImperativeHandle,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { LocalMessage, RoomState, Writing } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import { cut } from '#shared/kit/cut'
import { accountOfAgent } from '#shared/kit/room-agents'
import { fromBlocked, useBlocked } from '../accounts/use-blocked.ts'
import { AgentFace } from '../agents/agent-face.tsx'
import { useConnectionState } from '../connection/client.ts'
import { isPressOf } from '../keys/key-table.ts'
import { useKey } from '../keys/use-key.ts'
import { dayOf, isolated, nameOf, timeOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Problem, Skeleton } from '../kit/notice.tsx'
import { lineOf } from '../media/words.ts'
import { rowActs } from '../moderation/person-acts.ts'
import { kindOf } from '../rooms/kind.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { TopicDialog } from '../rooms/room-topic.tsx'
import { linkToRoomSettings, openDialog } from '../rooms/route.ts'
import { kitTexts } from '../texts/kit.ts'
import { messageTexts as t } from '../texts/messages.ts'
import { roomTexts } from '../texts/rooms.ts'
import { useDeletions } from './deletions.tsx'
import { MessageRow, MessageText, ReplyQuote } from './message-row.tsx'
import messagesStyles from './messages.module.css'
import { noticeText } from './notice-text.ts'
import styles from './timeline.module.css'
import unreadBarStyles from './unread-bar.module.css'
import { useScroll } from './use-scroll.ts'
import { countFrom, type Row, rowsOf, useFirstUnread, useUnread } from './use-unread.ts'

const pauseMilliseconds = 1_500

/** Announces new messages of other people to screen readers, at a limited rate. */
function Announcer({ messages }: { messages: readonly LocalMessage[] }) {
  const { account, isSealed } = useOpenRoom()
  const blocked = useBlocked()
  const [said, setSaid] = useState('')
  const lastSeq = useRef<number | null>(null)
  const newest = messages.findLast(({ local, sender_address }) => local === 'sent' && !blocked.has(sender_address))

  useEffect(() => {
    if (!newest) return
    if (lastSeq.current === null) lastSeq.current = newest.seq
    if (newest.seq <= lastSeq.current || isSameAccount(newest.sender_address, account)) return
    const timer = setTimeout(() => {
      lastSeq.current = newest.seq
      const who = nameOf(newest.sender.name, newest.sender_address)
      setSaid(
        isSealed
          ? t.newFrom({ name: who })
          : `${who}: ${isolated(cut(lineOf(newest.content, newest.message_type), 200))}`,
      )
    }, pauseMilliseconds)
    return () => clearTimeout(timer)
  }, [newest, account, isSealed])

  return (
    <div className="unseen" role="log" aria-live="polite" aria-label={t.news}>
      {said}
    </div>
  )
}

/** A row that cannot be shown is told in its place, and takes no other away. Another content is tried anew. */
class RowBoundary extends Component<{ of: object; children: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false }

  static getDerivedStateFromError() {
    return { isBroken: true }
  }

  override componentDidUpdate(before: { of: object }) {
    if (this.state.isBroken && before.of !== this.props.of) this.setState({ isBroken: false })
  }

  override render() {
    return this.state.isBroken ? <li className={styles.notice}>{t.broken}</li> : this.props.children
  }
}

/** What agents write now, below the messages and as they will look. Screen readers are told the message, once it stands. */
function WritingRows({ writing }: { writing: readonly Writing[] }) {
  const blocked = useBlocked()
  return (
    <div className="writing">
      {writing.length > 0 && (
        <ol aria-label={t.writing.list}>
          {writing.map((one) => (
            <WritingRow key={one.runId} writing={one} isHidden={blocked.has(accountOfAgent(one.agent.id))} />
          ))}
        </ol>
      )}
    </div>
  )
}

const WritingRow = memo(function WritingRow({ writing, isHidden }: { writing: Writing; isHidden: boolean }) {
  const { live, account } = useOpenRoom()
  const { agent, replyTo, from, text } = writing
  const asked = live.state.messages.find(({ id }) => id === replyTo)
  return (
    <li className={`${messagesStyles.message} first ${messagesStyles.beingWritten}`}>
      <AgentFace emoji={agent.avatar_emoji} />
      <div className="bubble">
        <p className={messagesStyles.byline}>
          <span className={messagesStyles.who}>{isolated(agent.name)}</span>
          <span className="chip role">{t.writing.agent}</span>
          <span className={messagesStyles.writes}>{t.writing.now}</span>
        </p>
        {asked && <ReplyQuote quoted={asked} id={asked.id} />}
        {isHidden ? (
          <p className={messagesStyles.tombstone}>{fromBlocked}</p>
        ) : (
          <MessageText text={`${from > 0 ? '… ' : ''}${text}`} mentions={nobody} account={account} />
        )}
      </div>
    </li>
  )
})

const nobody: readonly never[] = []

const shownAtFirst = 200
const shownMore = 100
const none: readonly never[] = []

export interface TimelineHandle {
  toNewest(): void
}

export function Timeline(props: {
  state: RoomState
  marked: { id: string; at: number } | null
  onReopen: () => void
  ref: Ref<TimelineHandle>
}) {
  const { state, marked, ref } = props
  const room = useOpenRoom()
  const { live, account } = room
  const { pending } = useDeletions()
  const [shown, setShown] = useState(shownAtFirst)
  const [activeKey, setActiveKey] = useState<string | null>(null)
  const first = useFirstUnread(state)
  const readSeq = first && first.seq - 1

  const hasMore = state.hasOlder || state.messages.length > shown
  const rows = useMemo(
    () =>
      rowsOf({ messages: state.messages.slice(-shown), notices: state.notices, readSeq, account, hasOlder: hasMore }),
    [state.messages, state.notices, shown, readSeq, account, hasMore],
  )
  /** The row that the mouse gave the focus: a key pressed there belongs to the message field. */
  const clicked = useRef<Element | null>(null)
  const focusedRow = () => {
    const row = document.activeElement?.closest(`.${messagesStyles.message}`) ?? null
    return row === clicked.current ? null : row
  }
  const older = () => {
    if (state.messages.length > shown) return setShown(shown + shownMore)
    setShown(shown + shownMore)
    live.loadOlder().catch(() => {})
  }
  const { box, isAtEnd, toEnd, toRow, onScroll } = useScroll({ rows, marked, hasMore, onOlder: older, focusedRow })
  const isFolded = rows.some(({ kind }) => kind === 'purged')
  useEffect(() => {
    // What cannot be scrolled is never scrolled up to.
    const isFilled = !box.current || box.current.scrollHeight > box.current.clientHeight
    if (!isFolded || !hasMore || isFilled) return
    if (state.messages.length > shown) setShown((count) => count + shownMore)
    else live.loadOlder().catch(() => {})
  }, [box, isFolded, hasMore, state.messages, shown, live])
  const showFrom = (seq: number) => setShown((count) => Math.max(count, countFrom(live.state, seq)))
  const unread = useUnread({ box, state, live, account, first, isAtEnd, rows, toRow, showFrom })

  useKey('markRead', unread.isBarShown ? unread.markAll : null)

  const hover = useCallback((key: string | null) => {
    if (!isTouchOnly()) setActiveKey((active) => (active !== null && isHeld() ? active : key))
  }, [])

  const click = ({ target }: MouseEvent) => {
    clicked.current = target instanceof Element ? target.closest(`.${messagesStyles.message}`) : null
  }
  const focus = ({ target }: FocusEvent) => {
    if (target !== clicked.current) clicked.current = null
  }
  const blur = ({ target, currentTarget, relatedTarget }: FocusEvent) => {
    const isWindowLeft = target === document.activeElement
    if (isWindowLeft) return
    if (target === clicked.current) clicked.current = null
    if (isTouchOnly() && !currentTarget.contains(relatedTarget)) setActiveKey((active) => (isHeld() ? active : null))
  }

  const press = (event: KeyboardEvent<HTMLOListElement>) => {
    const row = event.target
    if (!(row instanceof HTMLElement) || !row.matches(`.${messagesStyles.message}`)) return
    walkRows(event, row)
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return
    if (row === clicked.current) {
      if (event.key.length === 1) row.blur()
      return
    }
    const message = state.messages.find(({ id }) => row.id === `m-${id}`)
    if (!message || pending.some(({ id }) => id === message.id)) return
    const act = rowActs(message, room).find(({ key }) => key !== null && isPressOf(key, event))
    if (!act) return
    event.preventDefault()
    room.moderate(act)
  }

  const toNewest = () => {
    setShown(shownAtFirst)
    if (!state.atNewest) live.loadNewest().catch(() => {})
    toEnd()
  }
  useImperativeHandle(ref, () => ({ toNewest }))

  return (
    <div className="timeline-frame">
      <div
        className="timeline"
        ref={box}
        onScroll={() => {
          onScroll()
          unread.look()
        }}
      >
        {hasMore && state.messages.length > 0 && <p className={styles.older}>{t.loadingOlder}</p>}
        <Opening state={state} onReopen={props.onReopen} />
        <ol
          className={styles.rows}
          aria-label={t.list}
          onMouseDown={click}
          onFocus={focus}
          onBlur={blur}
          onKeyDown={press}
          onMouseLeave={() => hover(null)}
        >
          {rows.map((row, at) => (
            <RowLine
              key={row.key}
              row={row}
              isLast={at === rows.length - 1}
              isActive={row.key === activeKey}
              isMarked={row.kind === 'message' && row.message.id === marked?.id}
              poll={row.kind === 'message' && row.message.poll_id ? state.polls.get(row.message.poll_id) : undefined}
              onHover={hover}
              onFocus={setActiveKey}
            />
          ))}
        </ol>
        <WritingRows writing={state.atNewest ? state.writing : none} />
      </div>
      {unread.isBarShown && first && (
        <UnreadBar count={unread.count} since={first.created_at} onJump={unread.jump} onRead={unread.markAll} />
      )}
      {(!isAtEnd || !state.atNewest) && state.messages.length > 0 && (
        <button type="button" className={`button small ${styles.toNewest}`} onClick={toNewest}>
          <Icon name="down" />
          {t.toNewest}
        </button>
      )}
      <Announcer messages={state.messages} />
    </div>
  )
}

type LineProps = Omit<Parameters<typeof MessageRow>[0], 'message' | 'rowKey' | 'startsGroup'> & { row: Row }

function RowLine({ row, ...rest }: LineProps) {
  if (row.kind === 'day') return <li className={styles.divider}>{row.text}</li>
  if (row.kind === 'new') return <li className={`${styles.divider} new`}>{t.new}</li>
  if (row.kind === 'message')
    return (
      <RowBoundary of={row.message}>
        <MessageRow message={row.message} rowKey={row.key} startsGroup={row.startsGroup} {...rest} />
      </RowBoundary>
    )
  return (
    <li className={styles.notice}>
      <Icon name="shield" />
      {row.kind === 'purged' ? purgedText(row.first, row.count) : noticeText(row.event)}
    </li>
  )
}

const purgedText = ({ sender, sender_address }: LocalMessage, count: number): string =>
  t.row.purged({ count, name: nameOf(sender.name, sender_address) })

function Opening({ state, onReopen }: { state: RoomState; onReopen: () => void }) {
  const connection = useConnectionState()
  if (state.messages.length > 0) return null
  if (state.error) return <Problem error={state.error} onRetry={onReopen} />
  if (connection === 'offline' || connection === 'closed') {
    return (
      <Blank icon="plug" title={t.offline}>
        <p>{t.offlineHint}</p>
      </Blank>
    )
  }
  if (state.status !== 'live') return <Skeleton rows={9} label={t.loading} />
  return (
    <Blank icon="message" title={t.empty}>
      <p>{t.emptyHint}</p>
      <FirstSteps state={state} />
    </Blank>
  )
}

/** Does the row that shows its toolbar have the keyboard's focus or an open menu, or will a dialog return the focus there? The pointer does not hide it then. */
function isHeld(): boolean {
  const row = document.querySelector(`.${messagesStyles.message}.active`)
  if (!row) return false
  return row.matches(':focus-visible, :has(:focus-visible, .menu)') || document.querySelector('dialog[open]') !== null
}

/** After a tap the browser keeps a pointer at its place, and a row that moves away from there is left by it. Such devices show the toolbar of the row with the focus. */
const isTouchOnly = () => matchMedia('(hover: none)').matches

function walkRows(event: KeyboardEvent<HTMLOListElement>, row: HTMLElement) {
  const step = isPressOf('nextMessage', event) ? 1 : isPressOf('previousMessage', event) ? -1 : 0
  if (step === 0) return
  event.preventDefault()
  const rows = [...event.currentTarget.querySelectorAll<HTMLElement>(`.${messagesStyles.message}`)]
  rows[rows.indexOf(row) + step]?.focus()
}

/** What is unread above what is seen: how much, since when, and the way there. */
function UnreadBar(props: { count: number; since: string; onJump: () => void; onRead: () => void }) {
  const { count } = props
  const day = dayOf(props.since)
  const since = timeOf(props.since)
  const isAsked = useRef(false)
  const jump = () => {
    if (isAsked.current) return
    isAsked.current = true
    props.onJump()
  }
  return (
    <section className={unreadBarStyles.unreadBar} aria-label={t.unread.title}>
      <button
        type="button"
        className={`${unreadBarStyles.unreadAct} grow`}
        title={t.unread.count({ count })}
        onClick={jump}
      >
        <Icon name="down" />
        <span className="numerals">
          {day === kitTexts.today
            ? t.unread.since({ count, since })
            : t.unread.sinceDay({ count, since, day: day === kitTexts.yesterday ? t.unread.yesterday : day })}
        </span>
        <strong>{t.unread.jump}</strong>
      </button>
      <button type="button" className={unreadBarStyles.unreadAct} onClick={props.onRead}>
        {t.unread.read}
      </button>
    </section>
  )
}

/** In an empty room, what its manager does first. Each button is gone once that is done. */
function FirstSteps({ state }: { state: RoomState }) {
  const { live, rights } = useOpenRoom()
  const [showsTopic, setShowsTopic] = useState(false)
  const invites = rights.canManage && kindOf(live.ref).joining !== 'from the id' && state.membersCount < 2
  const writesTopic = rights.canSetTopic && state.room !== null && state.room.topic === null
  if (!invites && !writesTopic) return null
  return (
    <div className="row wrap">
      {invites && (
        <button
          type="button"
          className="button"
          onClick={() => openDialog(linkToRoomSettings(live.ref, 'invitations'))}
        >
          <Icon name="people" />
          {roomTexts.firstSteps.invite}
        </button>
      )}
      {writesTopic && (
        <button type="button" className="button" onClick={() => setShowsTopic(true)}>
          <Icon name="pencil" />
          {roomTexts.firstSteps.topic}
        </button>
      )}
      {showsTopic && <TopicDialog topic={null} onClose={() => setShowsTopic(false)} />}
    </div>
  )
}
