import { actingRoom, keyOf } from '#server/domains/rooms/room-state/access'
import { roomTopicChanged } from '#server/domains/rooms/room-state/events/rooms'
import { refuseMuted, refuseNames, refuseRemark } from '#server/domains/rooms/room-state/judge-draft'
import { roomAnswer } from '#server/domains/rooms/room-state/rows'
import { actorOf, entryOf } from '#server/domains/rooms/room-state/standing'
import { type Action, signedIn } from '#server/kernel/context'
import type { rooms as contract } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'

export const setTopic: Action<typeof contract.setTopic> = async ({ room, topic, client_action_id }, context) => {
  const { account } = signedIn(context)
  const { node } = context
  const key = await keyOf(room)
  const actor = await actorOf(node, account)
  await node.log.act(key, {
    sender: account,
    cid: client_action_id,
    makes: roomTopicChanged,
    isRepeat: (_row, before) => before.topic === topic,
    judge(view, now) {
      const { room: before, standing } = actingRoom(view, account, now)
      if (!standing.isModerator)
        throw new AppError('FORBIDDEN', { message: 'Only the owner and moderators may set the topic' })
      refuseMuted(view, account, now)
      if (!before.is_active) throw new AppError('ROOM_ARCHIVED')
      if (before.topic === topic) return { already: null }
      if (topic !== null) {
        refuseNames(node, view, account, { topic })
        refuseRemark(view, topic, { node, account, now, standing })
      }
      return { accept: entryOf(view, actor, roomTopicChanged, { topic }) }
    },
  })
  return { room: await roomAnswer(node, key, account) }
}
