import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { CallerAddress, line, onceByKey, repeatable } from '#shared/kit/primitives'
import { unasked } from './gates.ts'
import { Room } from './room.ts'
import { Description, Emoji, HttpsUrl, Name } from './room-fields.ts'
import { asTokenChat, TokenChat } from './token-chat.ts'
import { ChainId, TokenAddress } from './tokens.ts'

const Units = z.string().regex(/^\d{1,78}$/, { error: 'minBalance: an amount of the smallest unit' })
/** A part of `rooms`: rooms for holders of enough of a token. */
export const tokenRooms = {
  createTokenRoom: operation({
    summary:
      'Create a room for holders of a token; the caller becomes its owner. The chain says what the token is called.',
    http: 'POST /api/rooms/token',
    socket: '/rooms token-room:create',
    aliases: [{ http: 'POST /api/token-chats', answer: asTokenChat, errorBody: 'text' }],
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({
      ...repeatable,
      userAddress: CallerAddress,
      tokenAddress: TokenAddress,
      tokenChainId: ChainId,
      name: Name,
      tokenImage: HttpsUrl.nullish(),
      minBalance: Units.default('1'),
      isOfficial: z.boolean().optional(),
      description: Description.nullish(),
      emoji: Emoji.default('🪙'),
      messagingType: z.literal('standard', { error: 'Invalid messaging type' }).optional(),
    }),
    output: z.object({ room: Room }),
    errors: ['BLOCKED_WORD', 'TEXT_TOO_COMPLEX', 'MESSAGE_REJECTED', ...unasked],
    audit: true,
  }),
  listTokenRooms: operation({
    summary: 'Rooms for holders of a token, by members: all, or those of the caller.',
    http: 'GET /api/token-chats',
    socket: '/rooms token-room:list',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({
      userAddress: CallerAddress,
      tokenAddress: TokenAddress.optional(),
      chainId: ChainId.optional(),
      search: line(1, 100).optional(),
      mode: z.enum(['browse', 'my'], { error: 'Invalid mode' }).default('browse'),
    }),
    output: z.object({ chats: z.array(TokenChat) }),
  }),
}
