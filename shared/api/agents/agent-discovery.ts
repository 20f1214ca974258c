import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import {
  CallerAddress,
  count,
  Done,
  Id,
  Link,
  onceByKey,
  pageSize,
  repeatable,
  Time,
  text,
} from '#shared/kit/primitives'
import { visibleAgentErrors } from './agent-access.ts'
import { visibilities } from './agent-records.ts'

const Owner = z.object({ username: z.string().nullable(), ensName: z.string().nullable() })

const Found = z.object({
  id: z.string(),
  owner_address: z.string(),
  name: z.string(),
  personality: z.string(),
  avatar_emoji: z.string(),
  avatar_url: Link.nullable(),
  visibility: z.enum(visibilities),
  tags: z.array(z.string()),
  message_count: z.number().int(),
  created_at: Time,
  owner: Owner,
})

/** Of `agents`: to find those of others, and to keep the best of them. */
export const agentDiscovery = {
  discover: operation({
    summary:
      'The agents of others that the caller may talk to, those who answered most first. `tags` names tags of which one is enough; `search` holds beginnings of words of the name, the personality and the tags, all of which must be there.',
    http: 'GET /api/agents/discover',
    socket: '/agents agent:discover',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      userAddress: CallerAddress,
      filter: z.enum(['all', 'public', 'friends', 'official']).default('all'),
      tags: text(200).optional(),
      search: text(100).optional(),
      limit: pageSize(100, 20),
      offset: count(0, 10_000).default(0),
    }),
    output: z.object({
      agents: z.array(Found.extend({ isFriendsAgent: z.boolean() })),
      total: z.number().int(),
      limit: z.number().int(),
      offset: z.number().int(),
    }),
    errorBody: 'text',
  }),
  favorites: operation({
    summary: 'The favorites of the caller that they may still talk to, newest first.',
    http: 'GET /api/agents/favorites',
    socket: '/agents favorite:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ userAddress: CallerAddress }),
    output: z.object({
      /** `name` is that of the agent, for clients that read a favorite as an agent. */
      favorites: z.array(z.object({ id: z.string(), created_at: Time, name: z.string(), agent: Found })),
      total: z.number().int(),
    }),
    errorBody: 'text',
  }),
  addFavorite: operation({
    summary:
      'Keep an agent of somebody else among the favorites of the caller; one that is there already is refused (409).',
    http: 'POST /api/agents/favorites',
    socket: '/agents favorite:add',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({ userAddress: CallerAddress, agentId: Id, ...repeatable }),
    output: z.object({
      success: z.literal(true),
      favorite: z.object({ id: z.string(), user_address: z.string(), agent_id: z.string(), created_at: Time }),
    }),
    errors: visibleAgentErrors,
    errorBody: 'text',
  }),
  removeFavorite: operation({
    summary: 'Take an agent out of the favorites of the caller.',
    http: 'DELETE /api/agents/favorites',
    socket: '/agents favorite:remove',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ userAddress: CallerAddress, agentId: Id }),
    output: Done,
    errorBody: 'text',
  }),
}
