import { messageFactOf } from '#server/domains/room-state/facts'
import { membershipsOf } from '#server/domains/room-state/membership'
import { headsOf } from '#server/domains/room-state/rows'
import { type Action, signedIn } from '#server/kernel/context'
import { payFor } from '#server/kernel/pay-for'
import { messages as rowsBetween } from '#server/log/store'
import type { inbox as contract } from '#shared/api/inbox'
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
  await payFor(node, account, conversations.length, 'general')
  const heads = await headsOf(
    node,
    conversations.map(({ key }) => key),
  )
  const previews = await Promise.all(
    conversations.map(async ({ key, id, peer }) => {
      const total = heads.get(key)?.total ?? 0
      const [row] = total > 0 ? await rowsBetween(key, total, total) : []
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
    }),
  )
  return { previews: previews.flat().sort((one, other) => other.sent_at.localeCompare(one.sent_at)) }
}
