import { messageFactOf } from '#server/domains/rooms/room-state/facts'
import { membershipsOf } from '#server/domains/rooms/room-state/membership'
import { headsOf } from '#server/domains/rooms/room-state/rows'
import { type Action, signedIn } from '#server/kernel/context'
import { messagesAt } from '#server/log/store'
import type { inbox as contract } from '#shared/api/rooms/inbox'
import { isInClear } from '#shared/kit/clear-types'
import { conversationIdOf } from '#shared/kit/conversation-id'
import { peerIn, roomOfKey } from '#shared/kit/room-key'

export const directPreviews: Action<typeof contract.directPreviews> = async (_input, context) => {
  const { node } = context
  const { account } = signedIn(context)
  const conversations = (await membershipsOf(account)).flatMap((key) => {
    const { type, id } = roomOfKey(key)
    const peer = peerIn({ type, id }, account)
    return peer === null ? [] : [{ key, id, peer }]
  })
  await context.charge(conversations.length)
  const heads = await headsOf(
    node,
    conversations.map(({ key }) => key),
  )
  const newest = await messagesAt([...heads].flatMap(([room, { total }]) => (total > 0 ? { room, n: total } : [])))
  const last = new Map(newest.map((row) => [row.room, row]))
  const previews = conversations.flatMap(({ key, id, peer }) => {
    const row = last.get(key)
    if (!row) return []
    const { body, sender, at } = messageFactOf(row)
    return {
      conversation_id: conversationIdOf({ id }),
      sender_address: sender,
      content: isInClear(body.type) && !body.deleted ? body.text : null,
      message_type: body.type,
      sent_at: new Date(at).toISOString(),
      peer_address: peer,
    }
  })
  return { previews: previews.sort((one, other) => other.sent_at.localeCompare(one.sent_at)) }
}
