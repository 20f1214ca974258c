import {
  lazy,
  memo,
  type PointerEvent,
  Suspense,
  type TouchEvent,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { mediaIn, type NamedMedia } from '#client/sdk/media'
import type { LocalMessage } from '#client/sdk/types'
import type { Mention, Message } from '#shared/api/rooms/message'
import type { Poll } from '#shared/api/rooms/polls'
import { isSameAccount, serverActor } from '#shared/kit/accounts'
import { isInClear } from '#shared/kit/clear-types'
import { accountOfAgent, agentMentionsIn, withPlainNames } from '#shared/kit/room-agents'
import { useOpenPerson } from '../accounts/person-of-interest.ts'
import { fromBlocked, useBlocked } from '../accounts/use-blocked.ts'
import { lockedText } from '../direct/secrecy-words.ts'
import { fullTimeOf, isolated, nameOf, shortTimeOf, timeOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { type ProblemWords, problemText } from '../kit/problem.ts'
import mediaStyles from '../media/media.module.css'
import { lineOf } from '../media/words.ts'
import { useNamesakes } from '../rooms/namesakes.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { useIsStarred } from '../stars/use-stars.ts'
import { directTexts } from '../texts/direct.ts'
import { messageTexts as t } from '../texts/messages.ts'
import { valueText, valueTexts } from '../texts/values.ts'
import { useDeletions } from './deletions.tsx'
import { InlineText, type Named } from './inline-text.tsx'
import { MessageFiles } from './message-files.tsx'
import { MessageTools, type OpenMenu } from './message-menu.tsx'
import styles from './messages.module.css'
import { PollCard } from './poll-card.tsx'
import { Reactions } from './reactions.tsx'
import { SenderFace } from './sender-face.tsx'

const restMilliseconds = 450

/** What a finger can press by itself. */
const pressable = 'a, button, input, textarea, select, summary, video, audio, .menu'

/** Handlers for an element on which a finger may rest: `onRest` is called while it is still down. Whoever scrolls does not rest. */
function useLongPress(onRest: () => void) {
  const latest = useRef(onRest)
  latest.current = onRest
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const hasRested = useRef(false)
  const lift = useCallback(() => clearTimeout(timer.current), [])
  useEffect(() => lift, [lift])
  return useMemo(() => {
    const press = ({ pointerType, isPrimary, target }: PointerEvent) => {
      lift()
      hasRested.current = false
      if (pointerType !== 'touch' || !isPrimary || !(target instanceof Element) || target.closest(pressable)) return
      timer.current = setTimeout(() => {
        hasRested.current = true
        latest.current()
      }, restMilliseconds)
    }
    /** What has opened below the finger is not pressed when it leaves. */
    const keep = (event: TouchEvent) => {
      if (hasRested.current) event.preventDefault()
      hasRested.current = false
    }
    return { onPointerDown: press, onPointerUp: lift, onPointerCancel: lift, onPointerLeave: lift, onTouchEnd: keep }
  }, [lift])
}

const VerdictCard = lazy(async () => ({ default: (await import('./verdict-card.tsx')).VerdictCard }))

const refusalWords: ProblemWords = { USER_NOT_FOUND: t.composer.deleted }

/** The state of a message: sending, queued, refused, failed, edited or starred. */
function MessageState({ message, clear }: { message: LocalMessage; clear: string }) {
  const { live, rewrite } = useOpenRoom()
  const isStarred = useIsStarred(message.id)
  switch (message.local) {
    case 'sending':
      return <p className={styles.state}>{t.state.sending}</p>
    case 'queued':
      return (
        <p className={styles.state}>
          <Icon name="clock" />
          {t.state.queued}
        </p>
      )
    case 'refused':
      return (
        <LazyBoundary waiting={<p className={`${styles.state} grave`}>{t.verdict.title}</p>}>
          <VerdictCard message={message} clear={clear} />
        </LazyBoundary>
      )
    case 'failed':
      return (
        <p className={`${styles.state} grave`}>
          <Icon name="warn" />
          {message.refusal
            ? t.state.failedBecause({ reason: problemText(message.refusal, refusalWords) })
            : t.state.failed}
          {message.refusal?.code !== 'VALIDATION_ERROR' && (
            <button type="button" className="button small" onClick={() => live.retry(message.client_msg_id)}>
              {t.state.retry}
            </button>
          )}
          {!mediaIn(clear, message.message_type) && (
            <button type="button" className="button small" onClick={() => rewrite(message, clear)}>
              {t.state.edit}
            </button>
          )}
          <button type="button" className="button small plain" onClick={() => live.discard(message.client_msg_id)}>
            {t.state.discard}
          </button>
        </p>
      )
    case 'sent':
      return message.is_deleted ? null : (
        <>
          {message.is_edited && (
            <p className={styles.state} title={message.edited_at ? fullTimeOf(message.edited_at) : ''}>
              {t.state.edited}
            </p>
          )}
          {isStarred && (
            <p className={styles.state}>
              <Icon name="star" />
              {t.state.starred}
            </p>
          )}
        </>
      )
  }
}

const Markdown = lazy(async () => ({ default: (await import('./markdown.tsx')).Markdown }))

/** Characters that Markdown uses; a text without any is shown before the parser is loaded. */
const marks = /[*_~`\\<]|https?:|\]\(|^\s*(>|[-+]\s|\d{1,9}[.)]\s)/m

/** The text of a message, with Markdown, mentions and links. */
export function MessageText(props: { text: string; mentions: readonly Mention[]; account: string }) {
  const { mentions, account } = props
  const text = withPlainNames(props.text)
  const { markOf } = useNamesakes()
  const named = useMemo(() => {
    const agents = agentMentionsIn(props.text).map(
      ({ name }): Named => ({ words: `@${name}`, isMe: false, mark: null }),
    )
    return mentions
      .map(({ start, len, id, kind }): Named => {
        const words = wordsAt(props.text, start, len)
        const whom = kind === 'agent' ? accountOfAgent(id) : id
        return { words, isMe: isSameAccount(id, account), mark: markOf({ id: whom, name: words.replace(/^@/, '') }) }
      })
      .concat(agents)
  }, [props.text, mentions, account, markOf])
  const plain = (
    <p className="text" dir="auto">
      <InlineText text={text} named={named} />
    </p>
  )
  if (!marks.test(text)) return plain
  return (
    <Suspense fallback={plain}>
      <Markdown text={text} named={named} />
    </Suspense>
  )
}

const wordsAt = (text: string, start: number, len: number) => withPlainNames(text.slice(start, start + len))

const MessageMedia = lazy(async () => ({ default: (await import('../media/message-media.tsx')).MessageMedia }))

export const MessageRow = memo(function MessageRow(props: {
  message: LocalMessage
  /** Stays the same when the message is confirmed, unlike its id. */
  rowKey: string
  startsGroup: boolean
  isLast: boolean
  isActive: boolean
  isMarked: boolean
  poll: Poll | undefined
  onHover: (rowKey: string) => void
  onFocus: (rowKey: string) => void
}) {
  const { message, rowKey, startsGroup, isActive } = props
  const { live, account, ownName } = useOpenRoom()
  const blocked = useBlocked()
  const [isShown, setIsShown] = useState(false)
  const open = useOpenPerson()
  const readText = withPlainNames(message.content)
  const { pending, undo } = useDeletions()
  const deletion = pending.find(({ id }) => id === message.id)
  const isRefused = message.local === 'refused' || message.local === 'failed'
  const hasTools = !isRefused && !message.is_deleted && !deletion
  const isEcho = message.local !== 'sent'
  const name = isEcho ? ownName : nameOf(message.sender.name, message.sender_address)
  const isHidden = blocked.has(message.sender_address) && !isShown && !isEcho && !message.is_deleted
  const isMentioned = !isHidden && message.mentions.some(({ id }) => isSameAccount(id, account))
  const about = {
    id: message.sender_address,
    name: message.sender.name,
    role: message.sender.role,
    live,
    messageId: message.id,
    messageText: readText,
  }
  const [menu, setMenu] = useState<OpenMenu>(null)
  useEffect(() => {
    if (!isActive) setMenu(null)
  }, [isActive])
  const touch = useLongPress(() => {
    if (!hasTools) return
    props.onFocus(rowKey)
    setMenu('all')
  })
  const classes = [
    styles.message,
    startsGroup ? 'first' : '',
    message.local,
    props.isMarked ? 'marked' : '',
    isMentioned ? 'mentioned' : '',
    isActive ? 'active' : '',
  ]

  return (
    <li
      id={`m-${message.id}`}
      className={classes.filter(Boolean).join(' ')}
      tabIndex={props.isLast ? 0 : -1}
      onMouseEnter={() => props.onHover(rowKey)}
      onFocus={() => props.onFocus(rowKey)}
      {...touch}
    >
      {startsGroup ? (
        <button
          type="button"
          className={styles.face}
          tabIndex={-1}
          aria-label={t.row.about({ name })}
          onClick={() => open(about)}
        >
          <SenderFace id={message.sender_address} name={name} />
        </button>
      ) : (
        <time className={`${styles.margin} numerals`} dateTime={message.created_at}>
          {shortTimeOf(message.created_at)}
        </time>
      )}
      <div className="bubble">
        {startsGroup && <Byline message={message} name={name} onOpen={() => open(about)} />}
        {deletion ? (
          <p className={styles.tombstone}>
            {t.row.deleted}{' '}
            {deletion.canUndo && (
              <button type="button" className="inline" onClick={() => undo(message.id)}>
                {t.deletion.undo}
              </button>
            )}
          </p>
        ) : isHidden ? (
          <p className={styles.tombstone}>
            {fromBlocked}{' '}
            <button type="button" className="inline" onClick={() => setIsShown(true)}>
              {t.row.show}
            </button>
          </p>
        ) : (
          <>
            {message.reply_to && <ReplyQuote quoted={message.reply_to} id={message.reply_to_id} />}
            <Content message={message} poll={props.poll} />
            <Reactions message={message} isActive={isActive} />
          </>
        )}
        {!deletion && <MessageState message={message} clear={message.content} />}
      </div>
      {hasTools && isActive && (
        <MessageTools
          message={message}
          text={readText}
          open={menu}
          setOpen={setMenu}
          onReport={() => open({ ...about, isReported: true })}
        />
      )}
    </li>
  )
})

function Byline({ message, name, onOpen }: { message: LocalMessage; name: string; onOpen: () => void }) {
  const { role, isAgent } = message.sender
  const { markOf, isLikeStaff } = useNamesakes()
  const sender = message.local === 'sent' ? message.sender : null
  const mark = sender && markOf(sender)
  return (
    <p className={styles.byline}>
      <button type="button" className={styles.who} tabIndex={-1} title={message.sender_address} onClick={onOpen}>
        {name}
      </button>
      {mark && <small className="handle">{mark}</small>}
      {sender && isLikeStaff(sender) && (
        <span className="chip role grave" title={t.row.notModeratorHint}>
          {t.row.notModerator}
        </span>
      )}
      {role && role !== 'member' && <span className={`chip role ${role}`}>{valueText(valueTexts.roles, role)}</span>}
      {isAgent && <span className="chip role">{t.row.agent}</span>}
      <time className="numerals" dateTime={message.created_at}>
        {timeOf(message.created_at)}
      </time>
      {message.local === 'sent' && (
        <span className={`${styles.seq} numerals`} title={t.row.seq}>
          {message.seq}
        </span>
      )}
    </p>
  )
}

function Content({ message, poll }: { message: LocalMessage; poll: Poll | undefined }) {
  const { account, sealed } = useOpenRoom()
  if (message.is_deleted) {
    const { deleted_by, sender_address, delete_reason } = message
    const isByOther = deleted_by && deleted_by !== serverActor && !isSameAccount(deleted_by, sender_address)
    const because = isByOther ? t.row.removedBecause : t.row.deletedBecause
    return (
      <p className={styles.tombstone}>
        {delete_reason ? because({ reason: isolated(delete_reason) }) : isByOther ? t.row.removed : t.row.deleted}
      </p>
    )
  }
  if (poll) return <PollCard poll={poll} />
  const { secrecy } = message
  if (secrecy && secrecy.state !== 'clear') return <p className={styles.tombstone}>{lockedText(secrecy)}</p>
  const media = mediaIn(message.content, message.message_type)
  // For clients that show no attachments, a file has its name as text.
  const isNameAlone = message.attachments.some(({ name }) => name === message.content)
  return (
    <>
      {media ? (
        <LazyBoundary waiting={<div className={`${placeOf(media.kind)} ${media.kind}`} />}>
          <MessageMedia media={media} message={message} />
        </LazyBoundary>
      ) : (
        !isNameAlone && <MessageText text={message.content} mentions={message.mentions} account={account} />
      )}
      <MessageFiles message={message} />
      {secrecy?.isSecret === false && (
        <p className={styles.state}>
          {directTexts.clear[isInClear(message.message_type) ? message.message_type : (sealed ?? 'epoch')]}
        </p>
      )}
    </>
  )
}

/** The place that media take while the code to show them is loaded. */
const placeOf = (kind: NamedMedia['kind']): string =>
  kind === 'voice' ? mediaStyles.voiceFrame : kind === 'place' ? mediaStyles.place : mediaStyles.pictureFrame

export function ReplyQuote({ quoted, id }: { quoted: NonNullable<Message['reply_to']>; id: string | null }) {
  const { live, isSealed, jumpTo } = useOpenRoom()
  const isHidden = useBlocked().has(quoted.sender_address)
  const original = live.state.messages.find((message) => message.id === id)
  const name = nameOf(original?.sender.name, quoted.sender_address)
  const { markOf } = useNamesakes()
  const mark = original ? markOf(original.sender) : null
  return (
    <button type="button" className={styles.quote} tabIndex={-1} onClick={() => id && jumpTo(id, original?.seq)}>
      <Icon name="reply" />
      <strong>{name}</strong>
      {mark && <small className="handle">{mark}</small>}
      <span dir="auto">
        {isHidden
          ? fromBlocked
          : lineOf(quoted.content, quoted.message_type) || (isSealed && !original ? t.row.earlier : t.row.deleted)}
      </span>
    </button>
  )
}
