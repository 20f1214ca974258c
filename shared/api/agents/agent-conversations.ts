import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { afterCursor, CallerAddress, Id, line, maybe, nextCursor, pageSize, Time } from '#shared/kit/primitives'
import { visibleAgentErrors } from './agent-access.ts'

/** The name of a conversation with an agent. Questions without one are of `main`. */
export const ConversationId = line(1, 100)

const Conversation = z.object({
  id: z.string(),
  title: z.string(),
  created_at: Time,
  /** The time of its last question. */
  asked_at: Time,
})
export type Conversation = z.infer<typeof Conversation>

/** Of `agents`: what the caller has talked about with one. The first question with a new `sessionId` begins a conversation. */
export const agentConversations = {
  conversations: operation({
    summary: 'The conversations of the caller with an agent, last asked first; with `search` those that it titles.',
    http: 'GET /api/agents/:id/conversations',
    socket: '/agents conversation:list',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({
      id: Id,
      userAddress: CallerAddress,
      search: maybe(line(1, 100)),
      limit: pageSize(100, 50),
      ...afterCursor,
    }),
    output: z.object({ conversations: z.array(Conversation), ...nextCursor }),
    errors: visibleAgentErrors,
    errorBody: 'text',
  }),
  renameConversation: operation({
    summary: 'Name a conversation. Until then its title is the first question.',
    http: 'PATCH /api/agents/:id/conversations/:sessionId',
    socket: '/agents conversation:rename',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id, userAddress: CallerAddress, sessionId: ConversationId, title: line(1, 100) }),
    output: z.object({ conversation: Conversation }),
    errors: ['NOT_FOUND'],
    errorBody: 'text',
  }),
}
