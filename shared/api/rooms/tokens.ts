import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { CallerAddress, WalletAddress } from '#shared/kit/primitives'
import { unasked } from './gates.ts'

/** The contract of a token, in lower case. */
export const TokenAddress = z
  .string('tokenAddress is required')
  .pipe(WalletAddress)
  .transform((address) => address as `0x${string}`)
export const ChainId = z.number('a chain is required').int().positive().max(Number.MAX_SAFE_INTEGER)

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
