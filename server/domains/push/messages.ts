import { previewOf } from '#server/domains/inbox/previews'
import type { MessageFact } from '#server/domains/room-state/facts'
import { kindOf } from '#server/domains/room-state/kinds'
import { Rooms } from '#server/domains/room-state/model'
import { isUnreadable } from '#server/domains/verdict/sealed-text'
import type { RoomKey } from '#server/log/types'
import { isInClear } from '#shared/kit/clear-types'
import { roomOfKey } from '#shared/kit/room-key'
import { isBetweenTwo, sealedBy } from '#shared/kit/room-kinds'
import type { Notice } from './notice.ts'

/** All that is said of a message that is sealed. */
export const sealedWords = 'New message'

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
  const { id } = roomOfKey(key)
  const parts = kindOf(key).shownAs === 'broadcast' ? ['live', id ?? ''] : [key]
  return `/#/${parts.map(encodeURIComponent).join('/')}`
}
