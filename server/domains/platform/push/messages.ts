import { isUnreadable } from '#server/domains/moderation/verdict/sealed-text'
import { previewOf } from '#server/domains/rooms/inbox/previews'
import { hasRead } from '#server/domains/rooms/messages/reads'
import { isBarred, mayListen, readBy } from '#server/domains/rooms/room-state/access'
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

/** All that is said of a message that is sealed. */
export const sealedWords = 'New message'

/** Are the members of such a room told of all that is said there? */
export const isForAll = (key: RoomKey): boolean => kindOf(key).pushed.of === 'all'

/** Whom a message names, or answers. */
export const namedIn = ({ body: { mentions, reply_to } }: MessageFact): string[] => [
  ...mentions.flatMap(({ kind, id }) => (kind === 'user' ? [id] : [])),
  ...(reply_to ? [reply_to.sender_address] : []),
]

/** What an account is told of a message now: nothing, once it is read or gone, or they hear no more of the room. */
export async function noticeNow(node: Node, account: string, key: RoomKey, id: string): Promise<Notice | null> {
  const message = await node.log.ask(key, (view, now) => {
    const found = messageIn(view, id)
    const isThere = isHeardBy(view, account, now) && found !== null && !found.body.deleted
    return isThere && (isForAll(key) || namedIn(found).includes(account)) ? found : null
  })
  if (!message || (await hasRead(key, account, message.n))) return null
  return (await noticesOf(key, new Map([[account, message]]))).get(account) ?? null
}

/** Is somebody in the room, and neither banned there nor blocked? */
function isHeardBy(view: View, account: string, now: number): boolean {
  try {
    return readBy(view, account, now).standing?.isMember === true && mayListen(view, account, now) && !isBarred(view)
  } catch {
    return false
  }
}

/** What each account is told of its message in a room. */
export async function noticesOf(key: RoomKey, newest: ReadonlyMap<string, MessageFact>): Promise<Map<string, Notice>> {
  if (newest.size === 0) return new Map()
  const room = await Rooms.findOne({ _id: key }, { name: 1, messaging_type: 1 }).lean()
  const { type } = roomOfKey(key)
  const by = sealedBy({ type, messaging_type: room?.messaging_type })
  return new Map(
    [...newest].map(([account, { sender, body }]) => [
      account,
      {
        title: isBetweenTwo(type) || !room ? body.actor.name : `${body.actor.name} in ${room.name}`,
        body: !isInClear(body.type) && isUnreadable(by, body.text) ? sealedWords : previewOf(body, by) || sealedWords,
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

/** Where the page shows a room. */
function urlOf(key: RoomKey): string {
  const isStream = kindOf(key).shownAs === 'broadcast'
  return isStream ? linkTo('stream', { stream: roomOfKey(key).id ?? '' }) : linkTo('room', { room: key })
}
