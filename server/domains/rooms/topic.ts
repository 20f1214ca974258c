import { bodyOf } from '#server/domains/events/define'
import { type Action, signedIn } from '#server/kernel/context'
import type { rooms as contract } from '#shared/api/rooms'
import { AppError } from '#shared/errors'
import { actingIn, keyOf } from './access.ts'
import { actorOf, entryOf } from './entries.ts'
import { roomTopicChanged } from './events/rooms.ts'
import { roomAnswer } from './rows.ts'
import { refuseMuted, refuseRemark, stateOf } from './state.ts'

export const setTopic: Action<typeof contract.setTopic> = async ({ room, topic, client_action_id }, context) => {
  const { account } = signedIn(context)
  const { node } = context
  const key = await keyOf(room)
  const actor = await actorOf(node, account)
  const { row } = await node.log.act<null>(key, {
    sender: account,
    cid: client_action_id,
    judge(view, now) {
      const { room: before, standing } = actingIn(view, account, now)
      const state = stateOf(view, account, now, node, standing)
      if (!standing.isModerator)
        throw new AppError('FORBIDDEN', { message: 'Only the owner and moderators may set the topic' })
      refuseMuted(view, account, now)
      if (!before.is_active) throw new AppError('ROOM_ARCHIVED')
      if (before.topic === topic) return { already: null }
      if (topic !== null) refuseRemark(topic, state)
      return { accept: entryOf(view, actor, roomTopicChanged, { topic }) }
    },
  })
  if (row && bodyOf(row, roomTopicChanged).topic !== topic)
    throw new AppError('CONFLICT', { message: 'This key was used for another topic' })
  return { room: await roomAnswer(node, key, account) }
}
