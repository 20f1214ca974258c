import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { CallerAddress, Done, Id, onceByKey, repeatable } from '#shared/kit/primitives'
import {
  Agent,
  AgentInfo,
  agentDiscovery,
  agentFields,
  agentInput,
  Endpoints,
  ListedAgent,
  OwnAgent,
  ShownPricing,
} from './agent-records.ts'
import { agentRooms, agentWriting } from './agent-rooms.ts'
import { agentConversations, agentRuns, runBegun, runFrame } from './agent-runs.ts'
import { agentTools, ownAgentErrors, visibleAgentErrors } from './agent-tools.ts'
import { eventsOfAgents } from './events-of-agents.ts'

const written = ['AGENT_EXISTS', 'AGENT_NAME_RESERVED', 'INVALID_MODEL', 'INVALID_PARAMETER'] as const

const owned = {
  list: operation({
    summary: 'The agents of the caller, newest first; for admins also the official ones, where they ask for them.',
    http: 'GET /api/agents',
    socket: '/agents agent:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ userAddress: CallerAddress, includeOfficial: z.boolean().optional() }),
    output: z.object({ agents: z.array(ListedAgent) }),
    errorBody: 'text',
  }),
  create: operation({
    summary: 'Make an agent.',
    http: 'POST /api/agents',
    socket: '/agents agent:create',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({ userAddress: CallerAddress, ...agentInput, name: agentFields.name.unwrap(), ...repeatable }),
    output: z.object({ agent: OwnAgent }),
    errors: ['AGENT_LIMIT_REACHED', 'BETA_ACCESS_REQUIRED', ...written],
    errorBody: 'text',
  }),
  get: operation({
    summary:
      'An agent: all of it for its owner, what everybody may see for others; with what an answer costs, and where to ask.',
    http: 'GET /api/agents/:id',
    socket: '/agents agent:get',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id }),
    output: z.object({ agent: Agent.and(AgentInfo), pricing: ShownPricing, endpoints: Endpoints }),
    errors: visibleAgentErrors,
    errorBody: 'text',
  }),
  update: operation({
    summary: 'Change an agent. Fields may be written in camelCase or in snake_case; what is left out stays.',
    http: 'PATCH /api/agents/:id',
    socket: '/agents agent:update',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id, userAddress: CallerAddress, ...agentInput }),
    output: z.object({ agent: OwnAgent }),
    errors: [...ownAgentErrors, ...written],
    errorBody: 'text',
  }),
  remove: operation({
    summary:
      'Delete an agent, with its knowledge, all its chats, favorites and memberships. Answers that are being written are stopped.',
    http: 'DELETE /api/agents/:id',
    socket: '/agents agent:remove',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'withdraws',
    input: z.object({ id: Id, userAddress: CallerAddress }),
    output: Done,
    errors: ownAgentErrors,
    errorBody: 'text',
  }),
}

export const agents = {
  ...agentDiscovery,
  ...agentRooms,
  ...eventsOfAgents,
  ...owned,
  ...agentRuns,
  ...agentConversations,
  ...agentTools,
}
export const agentEvents = { runFrame, runBegun, agentWriting }
