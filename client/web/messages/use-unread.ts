import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { LiveRoom, LocalMessage, RoomState } from '#client/sdk/types'
import type { Notice } from '#shared/api/rooms/room-events'
import { isSameAccount } from '#shared/kit/accounts'
import { useBlocked } from '../accounts/use-blocked.ts'
import { dayKeyOf, dayOf } from '../kit/format.ts'
import { useRoomList } from '../rooms/use-rooms.ts'
import styles from './messages.module.css'
import timelineStyles from './timeline.module.css'

const groupedMilliseconds = 5 * 60_000

export type Row =
  | { kind: 'day'; key: string; text: string }
  | { kind: 'new'; key: string }
  | { kind: 'notice'; key: string; event: Notice }
  | { kind: 'message'; key: string; message: LocalMessage; startsGroup: boolean }
  /** Neighbouring messages of one person that were deleted at once. */
  | { kind: 'purged'; key: string; first: LocalMessage; count: number }

/** The rows of the timeline: messages and notices in their order, with the days and the "new" mark between them. */
export function rowsOf(input: {
  messages: readonly LocalMessage[]
  notices: readonly Notice[]
  /** The last seq that was read before the room was opened; null if there is nothing to mark. */
  readSeq: number | null
  account: string
  /** Whether messages older than these exist: then the notices before the first one are not shown yet. */
  hasOlder: boolean
}): Row[] {
  const rows: Row[] = []
  const first = input.hasOlder ? input.messages.find(({ local }) => local === 'sent') : undefined
  const notices = input.notices.filter((event) => !first || event.seq >= first.seq)
  let nextNotice = 0
  let before: LocalMessage | null = null
  // Where older messages are not loaded, the first that is unread may be among them.
  const begins = input.messages[0]?.local === 'sent' ? input.messages[0].seq : 0
  let isNewMarked = input.readSeq === null || (input.hasOlder && begins > input.readSeq + 1)

  const tellNotices = (untilSeq: number) => {
    for (let event = notices[nextNotice]; event && event.seq < untilSeq; event = notices[nextNotice]) {
      rows.push({ kind: 'notice', key: `notice-${event.seq}`, event })
      nextNotice += 1
      before = null
    }
  }

  for (const message of input.messages) {
    tellNotices(message.local === 'sent' ? message.seq : Number.POSITIVE_INFINITY)
    if (before === null || dayKeyOf(before.created_at) !== dayKeyOf(message.created_at)) {
      const isNewDay = !rows.some((row) => row.kind === 'day' && row.key === `day-${dayKeyOf(message.created_at)}`)
      if (isNewDay)
        rows.push({ kind: 'day', key: `day-${dayKeyOf(message.created_at)}`, text: dayOf(message.created_at) })
    }
    const isOthers = !isSameAccount(message.sender_address, input.account)
    if (!isNewMarked && isOthers && message.seq > (input.readSeq ?? 0)) {
      rows.push({ kind: 'new', key: 'new' })
      isNewMarked = true
      before = null
    }
    rows.push({
      kind: 'message',
      key: message.client_msg_id + message.sender_address,
      message,
      startsGroup: !follows(before, message),
    })
    before = message
  }
  tellNotices(Number.POSITIVE_INFINITY)
  return rows.reduce<Row[]>(withFolded, [])
}

/** The rows with the next one, which joins the row before it if one purge took the messages of both. */
function withFolded(rows: Row[], row: Row): Row[] {
  const last = rows.at(-1)
  const before = last?.kind === 'purged' ? last.first : last?.kind === 'message' ? last.message : null
  if (row.kind !== 'message' || !last || !before) rows.push(row)
  else if (isOfOnePurge(before, row.message)) {
    const count = last.kind === 'purged' ? last.count + 1 : 2
    rows[rows.length - 1] = { kind: 'purged', key: `purged-${before.id}`, first: before, count }
  } else rows.push(last.kind === 'purged' ? { ...row, startsGroup: true } : row)
  return rows
}

const isOfOnePurge = (one: LocalMessage, other: LocalMessage): boolean =>
  one.is_deleted &&
  other.is_deleted &&
  one.deleted_at === other.deleted_at &&
  one.deleted_by === other.deleted_by &&
  isSameAccount(one.sender_address, other.sender_address)

function follows(before: LocalMessage | null, message: LocalMessage): boolean {
  return (
    before !== null &&
    isSameAccount(before.sender_address, message.sender_address) &&
    message.reply_to_id === null &&
    before.local !== 'refused' &&
    Date.parse(message.created_at) - Date.parse(before.created_at) < groupedMilliseconds
  )
}

type FirstUnread = RoomState['me']['first_unread']

/** So many pages of older messages are loaded on the way to the first unread one; where that is further, only what is around it. */
const mostPages = 20
/** Parts of pixels. */
const rounding = 2

/** The first message that was unread when the room was opened: the "new" mark stays there while the room is open. */
export function useFirstUnread(state: RoomState): FirstUnread {
  const first = useRef<FirstUnread>(null)
  const isKnown = useRef(false)
  if (!isKnown.current && state.status === 'live') {
    isKnown.current = true
    first.current = state.me.unread > 0 ? state.me.first_unread : null
  }
  return first.current
}

/** How many messages were unread when the room was opened, without those that were deleted since. */
function countNew(
  { messages, notices }: RoomState,
  from: number,
  opened: Opened,
  isUncounted: (sender: string) => boolean,
): number {
  const purges = notices.flatMap(({ data, seq }) =>
    'to_seq' in data && seq > opened.seq && data.to_seq >= from && !isUncounted(data.target.id) ? [data] : [],
  )
  const isPurged = ({ sender_address, deleted_at }: LocalMessage) =>
    purges.some(({ target, deleted_at: at }) => at === deleted_at && isSameAccount(target.id, sender_address))
  const counted = messages.filter(
    ({ seq, sender_address }) => seq >= from && seq <= opened.seq && !isUncounted(sender_address),
  )
  const left = counted.filter(({ is_deleted }) => !is_deleted)
  for (const { id } of left) opened.seen.add(id)
  const deleted = counted.filter((one) => one.is_deleted && opened.seen.has(one.id) && !isPurged(one))
  const gone = purges.reduce((sum, { count }) => sum + count, deleted.length)
  return Math.min(opened.unread, Math.max(left.length, opened.unread - gone))
}

interface Opened {
  unread: number
  seq: number
  /** The unread messages that were loaded before they were deleted. */
  seen: Set<string>
}

/** How many rows are shown if those from this seq on are. */
export const countFrom = ({ messages }: RoomState, seq: number): number =>
  messages.filter((message) => message.local !== 'sent' || message.seq >= seq).length + 1

/**
 * Reads as the person does: at the newest message all is read; further up, from the first unread message on, only what was in the viewport
 * of a visible page. Until that message was seen, `isBarShown` says that it is further up.
 */
export function useUnread(input: {
  box: RefObject<HTMLDivElement | null>
  state: RoomState
  live: LiveRoom
  account: string
  first: FirstUnread
  isAtEnd: boolean
  rows: readonly Row[]
  toRow: (row: Element) => void
  showFrom: (seq: number) => void
}) {
  const { box, state, live, first, isAtEnd, rows, toRow } = input
  const { see } = useRoomList()
  const blocked = useBlocked()
  const [isReading, setReading] = useState(false)
  const [jumps, setJumps] = useState(0)
  const jumped = useRef(0)
  const hasBegun = useRef(false)
  const opened = useRef<Opened | null>(null)
  if (first !== null) opened.current ??= { unread: state.me.unread, seq: state.seq, seen: new Set() }
  const isUncounted = (sender: string) => isSameAccount(sender, input.account) || blocked.has(sender)
  const count = first && opened.current ? countNew(state, first.seq, opened.current, isUncounted) : 0
  const now = useRef(input)
  now.current = input

  const read = useCallback(
    (seq: number) => {
      live.markRead(seq)
      see(live.ref, seq)
    },
    [live, see],
  )

  const look = useCallback(() => {
    const { state: shown, isAtEnd: isEnd, first: from } = now.current
    const frame = box.current?.getBoundingClientRect()
    if (!frame || document.hidden || shown.status !== 'live' || shown.messages.length === 0) return
    const isNewest = isEnd && shown.atNewest
    if (isNewest) read(shown.seq)
    if (from !== null && !isReadingFrom(box.current, frame)) return
    setReading(true)
    const seq = isNewest ? 0 : lastSeen(box.current, frame, shown)
    if (seq > 0) read(seq)

    function isReadingFrom(element: HTMLElement | null, { top }: DOMRect): boolean {
      if (hasBegun.current) return true
      const mark = element?.querySelector(`.${timelineStyles.divider}.new`)
      hasBegun.current = mark ? mark.getBoundingClientRect().bottom >= top - rounding : false
      return hasBegun.current
    }
  }, [box, read])
  // biome-ignore lint/correctness/useExhaustiveDependencies: looked at again with each change of what is shown
  useEffect(look, [look, isAtEnd, rows, state.status])
  useEffect(() => {
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [look])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the mark is there once the rows are
  useLayoutEffect(() => {
    const mark = jumps > jumped.current ? box.current?.querySelector(`.${timelineStyles.divider}.new`) : null
    if (!mark) return
    jumped.current = jumps
    toRow(mark)
    const row = mark.nextElementSibling
    if (row instanceof HTMLElement) row.focus({ preventScroll: true })
  }, [jumps, rows, toRow])

  const jump = () => {
    if (!first) return
    const isHere = () => live.state.messages.some((row) => row.seq > 0 && row.seq <= first.seq) || !live.state.hasOlder
    const load = async () => {
      for (let page = 0; page < mostPages && !isHere(); page += 1) await live.loadOlder()
      if (!isHere()) await live.loadAround(first.seq)
      input.showFrom(first.seq)
      setJumps((count) => count + 1)
    }
    load().catch(() => {})
  }
  const markAll = () => {
    hasBegun.current = true
    setReading(true)
    live.markRead(live.state.seq)
    see(live.ref, live.state.seq)
  }
  return { look, jump, markAll, isBarShown: count > 0 && !isReading, count }
}

/** The seq of the newest message of which the end was seen; 0 where there is none. */
function lastSeen(element: HTMLElement | null, { bottom }: DOMRect, { messages }: RoomState): number {
  const seen = [...(element?.querySelectorAll(`.${styles.message}`) ?? [])].findLast(
    (row) => row.getBoundingClientRect().bottom <= bottom + rounding,
  )
  return messages.find(({ id }) => seen?.id === `m-${id}`)?.seq ?? 0
}
