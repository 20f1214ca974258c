import { keyOf } from '#server/domains/rooms/room-state/access'
import { actorOf, entryOf } from '#server/domains/rooms/room-state/entries'
import { messagePinned, messageUnpinned } from '#server/domains/rooms/room-state/events/messages'
import { messageIn, pinsIn } from '#server/domains/rooms/room-state/facts'
import { kindOf } from '#server/domains/rooms/room-state/kinds'
import { messageOf } from '#server/domains/rooms/room-state/rendered'
import { type Action, type Context, signedIn } from '#server/kernel/context'
import type { messages as contract } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { roomOfKey } from '#shared/kit/primitives'
import { planExpiryOf } from './retention.ts'
import { presentMessage, touchableMessage } from './touchable-message.ts'

const maxPins = 50

export const pin: Action<typeof contract.pin> = async ({ room, id, pinned, client_action_id }, context) => {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  return pinMessage(context, key, account, id, pinned, client_action_id)
}

export async function pinMessage(
  { node }: Context,
  key: string,
  account: string,
  id: string,
  pinned: boolean,
  cid?: string,
) {
  const actor = await actorOf(node, account)
  if (!pinned) await planExpiryOf(node, key, id)
  const outcome = await node.log.act(key, {
    sender: account,
    cid,
    makes: pinned ? messagePinned : messageUnpinned,
    isRepeat: (_row, body) => body.id === id,
    judge: (view, now) => {
      const pins = pinsIn(view)
      const touched = touchableMessage(view, account, id, now)
      const message = presentMessage(touched)
      if (!touched.standing.canPin && kindOf(key).hasModerators)
        throw new AppError('FORBIDDEN', { message: 'You may not pin messages here' })
      if ((message.body.pinned !== null) === pinned) return { already: null }
      if (pinned && pins.length >= maxPins)
        throw new AppError('CONFLICT', { message: `A room holds at most ${maxPins} pins` })
      const about = { target: message.sender, targetName: message.body.actor.name }
      if (!pinned) return { accept: entryOf(view, actor, messageUnpinned, { id }, about) }
      return { accept: entryOf(view, actor, messagePinned, { id, at: new Date(now).toISOString() }, about) }
    },
  })
  const message = await node.log.ask(key, (view) => messageIn(view, id))
  if (!message) throw new AppError('MESSAGE_NOT_FOUND')
  return {
    seq: outcome.row?.seq ?? outcome.view.seq,
    message: messageOf(roomOfKey(key), message),
    row: outcome.row,
    pendingNodes: outcome.row ? outcome.pendingNodes : 0,
  }
}
