import { isKnownRoom } from '#server/domains/rooms/room-state/kinds'
import { type Action, signedIn } from '#server/kernel/context'
import { directMessageOf, directReactionOf } from '#shared/api/rooms/direct-messages'
import type { messages as contract } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { conversationIdOf, dmOfConversation } from '#shared/kit/conversation-id'
import { dmOf, done, type RoomRef, roomOfKey } from '#shared/kit/primitives'
import { peersOf } from '#shared/kit/room-key'
import { isBetweenTwo } from '#shared/kit/room-kinds'
import { editMessage } from './edits.ts'
import { pageOf } from './history.ts'
import { setTyping } from './presence.ts'
import { reactTo } from './reactions.ts'
import { markRead, seqOfMessage } from './reads.ts'
import { roomKeyOfMessage } from './removals.ts'
import { sendTo } from './send.ts'

/** The caller's conversation, named by its other person or its id. */
function conversationNamed(
  account: string,
  { peer, conversationId }: { peer?: string | undefined; conversationId?: string | undefined },
): RoomRef {
  const byId = conversationId === undefined ? undefined : dmOfConversation(conversationId, account)
  if (byId === null) throw new AppError('ROOM_NOT_FOUND')
  const byPeer = peer === undefined ? undefined : dmOf(account, peer)
  if (byId && byPeer && byId.id !== byPeer.id)
    throw namingError('conversationId: the conversation with somebody else than `peer`')
  const room = byId ?? byPeer
  if (!room) throw namingError('peer: whose conversation with you it is, or its conversationId')
  return room
}

/** The caller's conversation that contains a message; other messages are not found. */
async function conversationOf(account: string, messageId: string): Promise<RoomRef> {
  const key = await roomKeyOfMessage(messageId)
  const room = roomOfKey(key)
  const isTheirs = isKnownRoom(key) && isBetweenTwo(room.type) && peersOf(room.id).includes(account)
  if (!isTheirs) throw new AppError('MESSAGE_NOT_FOUND')
  return room
}

const namingError = (message: string) => new AppError('VALIDATION_ERROR', { message })

export const directHistory: Action<typeof contract.directHistory> = async (input, context) => {
  const { userAddress: _, peer, conversationId, ...bounds } = input
  const room = conversationNamed(signedIn(context).account, { peer, conversationId })
  const { messages, reactions, has_more } = await pageOf(context, { room, ...bounds })
  const conversation = conversationIdOf(room)
  return {
    messages: messages.map(directMessageOf),
    reactions: reactions.map((reaction) => directReactionOf(conversation, reaction)),
    hasMore: has_more,
  }
}

export const directSend: Action<typeof contract.directSend> = async (input, context) => {
  const { recipientAddress, encryptedContent: text, messageId: client_msg_id, ...fields } = input
  const room = dmOf(signedIn(context).account, recipientAddress)
  const { message, duplicate } = await sendTo(context, { ...fields, room, text, client_msg_id })
  return { ...done, message: directMessageOf(message), ...(duplicate ? { duplicate } : {}) }
}

export const directEdit: Action<typeof contract.directEdit> = async (input, context) => {
  const { encryptedContent: text, ...fields } = input
  const room = await conversationOf(signedIn(context).account, input.id)
  const { message } = await editMessage(context, { ...fields, room, text })
  return { ...done, message: directMessageOf(message) }
}

export const directReact: Action<typeof contract.directReact> = async (input, context) => {
  const room = await conversationOf(signedIn(context).account, input.id)
  const { on, counts } = await reactTo(context, { ...input, room })
  return { ...done, action: on ? 'added' : 'removed', counts }
}

export const directRead: Action<typeof contract.directRead> = async ({ messageId, ...input }, context) => {
  const { account } = signedIn(context)
  const isNamed = input.peer !== undefined || input.conversationId !== undefined || messageId === undefined
  const room = isNamed ? conversationNamed(account, input) : await conversationOf(account, messageId)
  await markRead(context, room, messageId === undefined ? ({ seq }) => seq : seqOfMessage(messageId))
  return done
}

export const directTyping: Action<typeof contract.directTyping> = async ({ isTyping = true, ...input }, context) => {
  await setTyping(context, conversationNamed(signedIn(context).account, input), isTyping)
  return done
}
