import type { LocalMessage } from '#client/sdk/types'
import type { Notice } from '#shared/api/rooms/room-events'
import { isSameAccount } from '#shared/kit/accounts'
import { dayKeyOf, dayOf } from '../kit/format.ts'

const groupedMilliseconds = 5 * 60_000

export type Row =
  | { kind: 'day'; key: string; text: string }
  | { kind: 'new'; key: string }
  | { kind: 'notice'; key: string; event: Notice }
  | { kind: 'message'; key: string; message: LocalMessage; startsGroup: boolean }

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
  return rows
}

function follows(before: LocalMessage | null, message: LocalMessage): boolean {
  return (
    before !== null &&
    isSameAccount(before.sender_address, message.sender_address) &&
    message.reply_to_id === null &&
    before.local !== 'refused' &&
    Date.parse(message.created_at) - Date.parse(before.created_at) < groupedMilliseconds
  )
}
