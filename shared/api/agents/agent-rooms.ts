import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import { Address, CallerAddress, Done, Id, Link, RoomRef, Time, text } from '#shared/kit/primitives'
import { agentPlaces } from '#shared/kit/room-kinds'
import { visibleAgentErrors } from './agent-tools.ts'

/** A place where an agent may be: everybody's room, or a channel or the chat of a location. */
const Place = { channelType: z.enum(agentPlaces), channelId: Id.nullish() }
const PlaceShown = z.object({ id: z.string(), name: z.string(), emoji: z.string() }).nullable()

const Membership = z.object({
  id: z.string(),
  agent_id: z.string(),
  channel_type: z.enum(agentPlaces),
  channel_id: z.string().nullable(),
  created_at: Time,
  created_by: z.string(),
})
export type Membership = z.infer<typeof Membership>

/** Of `agents`: official agents as members of rooms. */
export const agentRooms = {
  inRoom: operation({
    summary: 'The agents that answer in a room: a channel, or `global`.',
    http: 'GET /api/channels/:id/agents',
    socket: '/agents room:agents',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id }),
    output: z.object({
      agents: z.array(
        z.object({
          id: z.string(),
          name: z.string(),
          avatar_emoji: z.string(),
          avatar_url: Link.nullable(),
          personality: z.string(),
          isAgent: z.literal(true),
        }),
      ),
    }),
    errors: ['ROOM_NOT_FOUND', 'BANNED'],
    errorBody: 'text',
  }),
  memberships: operation({
    summary: 'The rooms an agent answers in.',
    http: 'GET /api/agents/:id/channels',
    socket: '/agents agent:rooms',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id }),
    output: z.object({
      memberships: z.array(
        Membership.extend({
          channel: PlaceShown,
          location_chat: PlaceShown,
        }),
      ),
    }),
    errors: visibleAgentErrors,
    errorBody: 'text',
  }),
  joinRoom: operation({
    summary: 'Let an official agent answer in a room.',
    http: 'POST /api/agents/:id/channels',
    socket: '/agents agent:join',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ id: Id, userAddress: CallerAddress, ...Place }),
    output: z.object({ membership: Membership }),
    errors: ['AGENT_NOT_FOUND', 'ROOM_NOT_FOUND', 'ROOM_ARCHIVED', 'BANNED'],
    audit: true,
    errorBody: 'text',
  }),
  leaveRoom: operation({
    summary: 'Let an agent answer in a room no more.',
    http: 'DELETE /api/agents/:id/channels',
    socket: '/agents agent:leave',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ id: Id, userAddress: CallerAddress, ...Place }),
    output: Done,
    errors: ['AGENT_NOT_FOUND'],
    audit: true,
    errorBody: 'text',
  }),
  respond: operation({
    summary:
      'For service tokens: the answers of the agents that a message mentions as `@[name](id)`, each given once: the same again is answered alike, another text or sender for the same message is refused (409).',
    http: 'POST /api/channels/agent-response',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({
      messageContent: text(10_000),
      senderAddress: Address,
      ...Place,
      originalMessageId: Id,
    }),
    output: z.object({
      processed: z.boolean(),
      message: z.string().optional(),
      mentionsFound: z.number().int(),
      responsesGenerated: z.number().int(),
      responses: z.array(
        z.object({
          agentId: z.string(),
          agentName: z.string(),
          response: z.string(),
          messageId: z.string().nullable(),
        }),
      ),
    }),
    errors: ['ROOM_NOT_FOUND', 'MESSAGE_NOT_FOUND'],
    errorBody: 'text',
  }),
}

export const agentWriting = event('/rooms agent:writing', {
  summary:
    'What an agent writes in a room, word by word, before it is a message. It passes the rules of the room as far as it goes, may be lost, and is replaced by the message.',
  audience: 'room',
  payload: z.object({
    room: RoomRef,
    run_id: z.string(),
    agent: z.object({ id: z.string(), name: z.string(), avatar_emoji: z.string() }),
    /** The message that is answered. */
    reply_to: z.string(),
    /** UTF-16 code units of the answer before this text. */
    off: z.number().int(),
    text: z.string(),
    /** `ended`: the message is committed, or there is none. */
    state: z.enum(['writing', 'ended']),
  }),
})
