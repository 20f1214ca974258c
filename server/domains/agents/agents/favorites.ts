import { agentRefusalsOf, visibleAgent } from '#server/domains/agents/agent-state/access'
import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { type Action, signedIn } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { insertWithinLimit } from '#server/kernel/limited-inserts'
import type { agentDiscovery as contract } from '#shared/api/agents/agent-records'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'
import { renderWithOwners } from './discover.ts'
import { Favorites, type StoredFavorite } from './model.ts'

const favoritesAtMost = 500

const idOf = (account: string, agent: string) => `${account} ${agent}`

export const favorites: Action<typeof contract.favorites> = async (_input, context) => {
  const { account } = signedIn(context)
  const kept = await Favorites.find({ user_address: account })
    .sort({ created_at: -1, favorite_id: -1 })
    .limit(favoritesAtMost)
    .lean<StoredFavorite[]>()
  const found = await Agents.find({ _id: { $in: kept.map(({ agent_id }) => agent_id) } }).lean<StoredAgent[]>()
  const refused = await agentRefusalsOf(account, found)
  const shown = await renderWithOwners(
    context.node,
    found.filter((_, at) => refused[at] === null),
  )
  const byId = new Map(shown.map((agent) => [agent.id, agent]))
  const favorites = kept.flatMap(({ favorite_id, agent_id, created_at }) => {
    const agent = byId.get(agent_id)
    return agent ? [{ id: favorite_id, created_at: created_at.toISOString(), name: agent.name, agent }] : []
  })
  return { favorites, total: favorites.length }
}

export const addFavorite: Action<typeof contract.addFavorite> = async ({ agentId }, context) => {
  const { account } = signedIn(context)
  const agent = await visibleAgent(account, agentId)
  if (isSameAccount(agent.owner_address, account))
    throw new AppError('VALIDATION_ERROR', { message: 'Your own agents are no favorites' })
  const _id = idOf(account, agentId)
  const favorite = {
    _id,
    favorite_id: newId(),
    user_address: account,
    agent_id: agentId,
    created_at: new Date(context.node.now()),
  }
  const inserted = await insertWithinLimit(Favorites, favorite, {
    others: { user_address: account },
    most: favoritesAtMost,
  })
  if (!inserted) throw new AppError('VALIDATION_ERROR', { message: `At most ${favoritesAtMost} favorites` })
  if (inserted.favorite_id !== favorite.favorite_id)
    throw new AppError('CONFLICT', { message: 'This agent is a favorite already' })
  // Checked again after the insert, as the agent may have been deleted meanwhile.
  if (!(await Agents.exists({ _id: agentId }))) {
    await Favorites.deleteOne({ _id })
    throw new AppError('AGENT_NOT_FOUND')
  }
  const { favorite_id: id, created_at } = favorite
  return {
    ...done,
    favorite: { id, user_address: account, agent_id: agentId, created_at: created_at.toISOString() },
  }
}

export const removeFavorite: Action<typeof contract.removeFavorite> = async ({ agentId }, context) => {
  await Favorites.deleteOne({ _id: idOf(signedIn(context).account, agentId) })
  return done
}
