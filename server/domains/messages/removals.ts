import { removeUnnamed } from '#server/domains/files/removal'
import { keyOf } from '#server/domains/room-state/access'
import { actorOf, entryOf } from '#server/domains/room-state/entries'
import { messageDeleted } from '#server/domains/room-state/events/messages'
import { refuseRemark, stateOf } from '#server/domains/room-state/state'
import { type Action, type Context, signedIn } from '#server/kernel/context'
import type { messages as contract } from '#shared/api/messages'
import { AppError } from '#shared/errors'
import { touchable } from './touched.ts'

export const remove: Action<typeof contract.remove> = async ({ room, id, reason, client_action_id }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  const outcome = await removeMessage(context, key, account, id, reason ?? null, client_action_id)
  return { seq: outcome.row?.seq ?? outcome.view.seq }
}

export async function removeMessage(
  { node }: Context,
  key: string,
  account: string,
  id: string,
  reason: string | null,
  cid?: string,
) {
  const actor = await actorOf(node, account)
  let named: readonly string[] = []
  const outcome = await node.log.act(key, {
    sender: account,
    cid,
    makes: messageDeleted,
    isRepeat: (row, body) => body.id === id && row.reason === reason,
    judge: (view, now) => {
      const { message, standing } = touchable(view, account, id, now)
      named = message.body.media ?? []
      if (message.sender !== account && !standing.canDelete)
        throw new AppError('FORBIDDEN', { message: 'You may not delete this message' })
      if (message.body.deleted) return { already: null }
      if (reason !== null && message.sender === account) refuseRemark(reason, stateOf(view, account, now, node))
      const body = { id, at: new Date(now).toISOString(), poll_id: message.body.poll_id }
      return {
        accept: entryOf(view, actor, messageDeleted, body, {
          target: message.sender,
          targetName: message.body.actor.name,
          reason,
        }),
      }
    },
  })
  await removeUnnamed(node, named)
  return outcome
}
