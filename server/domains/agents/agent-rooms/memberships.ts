import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { createAgentAccount, nameAgentAccount } from '#server/domains/people/accounts/accounts'
import { forgetProfile } from '#server/domains/people/accounts/profiles'
import { memberIn } from '#server/domains/rooms/room-state/facts'
import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { isDuplicate } from '#server/ports/database/port'
import type { Membership } from '#shared/api/agents/agent-rooms'
import { rooms } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'
import { accountOfAgent } from '#shared/kit/room-agents'
import { alpha, type Ref, roomKey, roomOfKey } from '#shared/kit/room-key'
import { type AgentPlace, roomKinds } from '#shared/kit/room-kinds'
import { AgentMemberships, type StoredMembership } from './model.ts'

/** The room of a type and an id; `global` needs no id. */
export function agentRoomOf(channelType: AgentPlace, channelId: string | null | undefined): Ref {
  if (channelType === 'global') return alpha
  if (!channelId) throw new AppError('VALIDATION_ERROR', { message: `channelId is required for a ${channelType}` })
  return { type: channelType, id: channelId }
}

export const renderMembership = ({ id, agent_id, room, created_at, created_by }: StoredMembership): Membership => {
  const { type, id: channel_id } = roomOfKey(room)
  return {
    id,
    agent_id,
    channel_type: roomKinds[type].agentPlace as AgentPlace,
    channel_id,
    created_at: created_at.toISOString(),
    created_by,
  }
}

const membershipId = (agent: string, room: string) => `${agent} ${room}`

/** Adds an official agent to a room, as a member with an account of its own. */
export async function addAgentToRoom(
  node: Node,
  admin: string,
  agent: StoredAgent,
  room: Ref,
): Promise<StoredMembership> {
  if (agent.visibility !== 'official')
    throw new AppError('VALIDATION_ERROR', { message: 'Only official agents can be in rooms' })
  const key = roomKey(room)
  const account = accountOfAgent(agent._id)
  await createAgentAccount(account, agent.name, agent.avatar_url, node.now())
  const wasThere = (await agentMembersAmong(node, key, [agent._id])).has(agent._id)
  await node.callAs(account, rooms.join, { room })
  const membership = {
    _id: membershipId(agent._id, key),
    id: newId(),
    agent_id: agent._id,
    room: key,
    created_at: new Date(node.now()),
    created_by: admin,
  }
  await AgentMemberships.create(membership).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
    if (wasThere) throw new AppError('VALIDATION_ERROR', { message: 'This agent is in this room already' })
    // The agent was removed meanwhile, and has joined again.
    const { _id, id, created_at, created_by } = membership
    return AgentMemberships.updateOne({ _id }, { $set: { id, created_at, created_by } })
  })
  // Checked again after the insert, as the agent may have been deleted meanwhile.
  if (!(await Agents.exists({ _id: agent._id }))) {
    await removeAgentFromRoom(node, agent._id, room)
    throw new AppError('AGENT_NOT_FOUND')
  }
  return membership
}

export async function removeAgentFromRoom(node: Node, agent: string, room: Ref): Promise<void> {
  await AgentMemberships.deleteOne({ _id: membershipId(agent, roomKey(room)) })
  await leaveQuietly(node, agent, room)
}

/** Removes a deleted agent from all rooms; its messages stay. */
export async function removeAgentFromRooms(node: Node, agent: string): Promise<void> {
  for (const { room } of await AgentMemberships.find({ agent_id: agent }).lean<StoredMembership[]>())
    await removeAgentFromRoom(node, agent, roomOfKey(room))
}

async function leaveQuietly(node: Node, agent: string, room: Ref): Promise<void> {
  await node.callAs(accountOfAgent(agent), rooms.leave, { room }).catch((error: unknown) => {
    // The room is gone or hidden: nothing to leave.
    if (!(error instanceof AppError) || error.status >= 500) throw error
  })
}

export async function agentsIn(node: Node, key: string): Promise<StoredAgent[]> {
  const memberships = await AgentMemberships.find({ room: key }).lean<StoredMembership[]>()
  if (memberships.length === 0) return []
  const present = await agentMembersAmong(
    node,
    key,
    memberships.map(({ agent_id }) => agent_id),
  )
  return Agents.find({ _id: { $in: [...present] }, visibility: 'official' })
    .sort({ name: 1 })
    .lean<StoredAgent[]>()
}

/** The agents among these that are members by the log of the room. */
export const agentMembersAmong = (node: Node, key: string, agents: readonly string[]): Promise<Set<string>> =>
  node.log.ask(key, (view) => new Set(agents.filter((agent) => memberIn(view, accountOfAgent(agent)))))

/** Updates the profile of an agent in its rooms. */
export async function updateAgentProfile(node: Node, { _id, name, avatar_url }: StoredAgent): Promise<void> {
  const account = accountOfAgent(_id)
  if (await nameAgentAccount(account, name, avatar_url)) forgetProfile(node, account)
}
