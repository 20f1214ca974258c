import { isUnreadable } from '#server/domains/moderation/verdict/sealed-text'
import { previewOf } from '#server/domains/rooms/inbox/previews'
import { hasRead } from '#server/domains/rooms/messages/reads'
import { hasBlock, mayListen, readableRoomOf } from '#server/domains/rooms/room-state/access'
import { type MessageFact, messageIn } from '#server/domains/rooms/room-state/facts'
import { kindOf } from '#server/domains/rooms/room-state/kinds'
import { Rooms } from '#server/domains/rooms/room-state/model'
import type { Node } from '#server/kernel/context'
import type { RoomKey, View } from '#server/log/types'
import { isInClear } from '#shared/kit/clear-types'
import { linkTo } from '#shared/kit/pages'
import { roomOfKey } from '#shared/kit/room-key'
import { isBetweenTwo, sealedBy } from '#shared/kit/room-kinds'
import type { Notice } from './notice.ts'

/** The text for a sealed message. */
export const sealedText = 'New message'

/** Whether members of such a room are notified of every message. */
export const notifiesAll = (key: RoomKey): boolean => kindOf(key).pushed.of === 'all'

/** The accounts that a message mentions or replies to. */
export const accountsNamedIn = ({ body: { mentions, reply_to } }: MessageFact): string[] => [
  ...mentions.flatMap(({ kind, id }) => (kind === 'user' ? [id] : [])),
  ...(reply_to ? [reply_to.sender_address] : []),
]

/** The current notice of a message for an account; null if it is read, gone or no longer for them. */
export async function currentMessageNotice(
  node: Node,
  account: string,
  key: RoomKey,
  id: string,
): Promise<Notice | null> {
  const message = await node.log.ask(key, (view, now) => {
    const found = messageIn(view, id)
    const isThere = isMemberWhoListens(view, account, now) && found !== null && !found.body.deleted
    return isThere && (notifiesAll(key) || accountsNamedIn(found).includes(account)) ? found : null
  })
  if (!message || (await hasRead(key, account, message.n))) return null
  return (await messageNotices(key, new Map([[account, message]]))).get(account) ?? null
}

/** Whether an account is a member, and neither banned nor blocked. */
function isMemberWhoListens(view: View, account: string, now: number): boolean {
  try {
    return (
      readableRoomOf(view, account, now).standing?.isMember === true && mayListen(view, account, now) && !hasBlock(view)
    )
  } catch {
    return false
  }
}

/** The notice of each account's message. */
export async function messageNotices(
  key: RoomKey,
  newest: ReadonlyMap<string, MessageFact>,
): Promise<Map<string, Notice>> {
  if (newest.size === 0) return new Map()
  const room = await Rooms.findOne({ _id: key }, { name: 1, messaging_type: 1 }).lean()
  const { type } = roomOfKey(key)
  const by = sealedBy({ type, messaging_type: room?.messaging_type })
  return new Map(
    [...newest].map(([account, { sender, body }]) => [
      account,
      {
        title: isBetweenTwo(type) || !room ? body.actor.name : `${body.actor.name} in ${room.name}`,
        body: !isInClear(body.type) && isUnreadable(by, body.text) ? sealedText : previewOf(body, by) || sealedText,
        type: kindOf(key).pushed.as,
        callerId: null,
        callerName: null,
        senderAddress: sender,
        url: urlOf(key),
        tag: key,
      },
    ]),
  )
}

/** The path of a room. */
function urlOf(key: RoomKey): string {
  const isStream = kindOf(key).shownAs === 'broadcast'
  return isStream ? linkTo('stream', { stream: roomOfKey(key).id ?? '' }) : linkTo('room', { room: key })
}
