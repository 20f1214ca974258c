import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { CallerAddress, line, onceByKey, repeatable, WalletAddress } from '#shared/kit/primitives'
import { unasked } from './gates.ts'
import { asTokenChat, TokenChat } from './location-chat.ts'
import { Description, Emoji, HttpsUrl, Name, Room } from './room.ts'

/** The contract of a token, in lower case. */
const TokenAddress = z
  .string('tokenAddress is required')
  .pipe(WalletAddress)
  .transform((address) => address as `0x${string}`)
const ChainId = z.number('a chain is required').int().positive().max(Number.MAX_SAFE_INTEGER)

const TokenFacts = z.object({
  address: z.string(),
  chainId: z.number().int(),
  name: z.string(),
  symbol: z.string(),
  decimals: z.number().int(),
})
/** An address of the caller whose tokens count. */
const Source = z.object({ label: z.string(), address: z.string() })

/** Tokens for rooms, with data from their chains. */
export const tokens = {
  info: operation({
    summary: 'What the contract of a token says of itself; for who is signed in, what of it they hold.',
    http: 'GET /api/token-chats/token-info',
    socket: '/rooms token:info',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ address: TokenAddress, chainId: ChainId, userAddress: CallerAddress }),
    output: TokenFacts.extend({
      ownerAddress: z.string().nullable(),
      isOwner: z.boolean(),
      /** Null, as no node has the deployer of a contract. */
      isDeployer: z.boolean().nullable(),
      /** In the smallest unit, summed over the addresses of the caller; null where nobody is signed in. */
      userBalance: z.string().nullable(),
    }),
    errors: unasked,
  }),
  suggest: operation({
    summary:
      'The known tokens that the caller holds, on every chain that can be asked; one that gives no answer is left out.',
    http: 'GET /api/token-chats/suggest-tokens',
    socket: '/rooms token:suggest',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({ userAddress: CallerAddress }),
    output: z.object({
      tokens: z.array(TokenFacts.extend({ balance: z.string() })),
      walletSources: z.array(Source),
    }),
  }),
}

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
    cost: 'judged',
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
