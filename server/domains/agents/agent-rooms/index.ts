import { agentOf, visibleAgent } from '#server/domains/agents/agent-state/access'
import { keyOf, readRoom } from '#server/domains/rooms/room-state/access'
import { messageIn, roomIn } from '#server/domains/rooms/room-state/facts'
import { type Action, type Actions, type Node, signedIn } from '#server/kernel/context'
import type { Stop } from '#server/kernel/domain'
import type { agentRooms as contract } from '#shared/api/agents/agent-rooms'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'
import { roomKey, roomOfKey } from '#shared/kit/room-key'
import type { AgentPlace } from '#shared/kit/room-kinds'
import { writingMessage } from './answers.ts'
import { agentsMentionedIn, answerMention, answerMentions, beginLostQuestions, sendLostAnswers } from './follow.ts'
import {
  addAgentToRoom,
  agentMembersAmong,
  agentRoomOf,
  agentsIn,
  removeAgentFromRoom,
  renderMembership,
} from './memberships.ts'
import { AgentMemberships, type StoredMembership } from './model.ts'

const inRoom: Action<typeof contract.inRoom> = async ({ id }, context) => {
  const { key } = await readRoom(
    context.node,
    context.caller,
    agentRoomOf(id === 'global' ? 'global' : 'channel', id),
    () => null,
  )
  const agents = await agentsIn(context.node, key)
  return {
    agents: agents.map(({ _id, name, avatar_emoji, avatar_url, personality }) => ({
      id: _id,
      name,
      avatar_emoji,
      avatar_url,
      personality,
      isAgent: true as const,
    })),
  }
}

const memberships: Action<typeof contract.memberships> = async ({ id }, context) => {
  const agent = await visibleAgent(signedIn(context).account, id)
  const found = await AgentMemberships.find({ agent_id: agent._id }).sort({ created_at: 1 }).lean<StoredMembership[]>()
  const rows = await Promise.all(found.map((one) => withChannel(context, one)))
  return { memberships: rows.flatMap((row) => row ?? []) }
}

/** Null if the caller cannot see the room, or the agent has left it. */
async function withChannel({ node, caller }: Parameters<typeof memberships>[1], membership: StoredMembership) {
  const ref = roomOfKey(membership.room)
  const seen = await readRoom(node, caller, ref, () => null).catch(() => null)
  if (!seen || !(await agentMembersAmong(node, membership.room, [membership.agent_id])).has(membership.agent_id))
    return null
  const { name, emoji } = seen.room
  const shown = renderMembership(membership)
  const placeIn = (type: AgentPlace) =>
    ref.id !== null && shown.channel_type === type ? { id: ref.id, name, emoji } : null
  return { ...shown, channel: placeIn('channel'), location_chat: placeIn('location') }
}

const joinRoom: Action<typeof contract.joinRoom> = async ({ id, channelType, channelId }, context) => {
  const agent = await agentOf(id)
  const room = agentRoomOf(channelType, channelId)
  await keyOf(room)
  return { membership: renderMembership(await addAgentToRoom(context.node, signedIn(context).account, agent, room)) }
}

const leaveRoom: Action<typeof contract.leaveRoom> = async ({ id, channelType, channelId }, context) => {
  const agent = await agentOf(id)
  await removeAgentFromRoom(context.node, agent._id, agentRoomOf(channelType, channelId))
  return done
}

const respond: Action<typeof contract.respond> = async (input, context) => {
  if (!context.caller.scopes) throw new AppError('FORBIDDEN', { message: 'This is for service tokens' })
  const { messageContent: text, senderAddress: sender, originalMessageId: messageId } = input
  const key = roomKey(agentRoomOf(input.channelType, input.channelId))
  const message = await sentIn(context.node, key, messageId)
  if (!isSameAccount(message.sender, sender))
    throw new AppError('CONFLICT', { message: 'This message is of another sender' })
  const ids = agentsMentionedIn(text)
  const answers = await answerMention(context.node, { key, messageId, sender, text, ids, at: message.at })
  return {
    processed: ids.length > 0,
    ...(ids.length > 0 ? {} : { message: 'No agent is mentioned' }),
    mentionsFound: ids.length,
    responsesGenerated: answers.length,
    responses: answers.map(({ agent, text: response, messageId: id }) => ({
      agentId: agent._id,
      agentName: agent.name,
      response,
      messageId: id,
    })),
  }
}

/** The sender and time of a message. Throws without one. */
const sentIn = (node: Node, key: string, messageId: string): Promise<{ sender: string; at: Date }> =>
  node.log.ask(key, (view) => {
    const message = messageIn(view, messageId)
    if (!roomIn(view)) throw new AppError('ROOM_NOT_FOUND')
    if (!message) throw new AppError('MESSAGE_NOT_FOUND')
    return { sender: message.sender, at: new Date(message.at) }
  })

export const agentRoomActions: Actions<typeof contract> = { inRoom, memberships, joinRoom, leaveRoom, respond }

export const startAgentRooms = (node: Node): readonly Stop[] => [
  writingMessage.follow(node),
  answerMentions(node),
  beginLostQuestions(node),
  sendLostAnswers(node),
]
