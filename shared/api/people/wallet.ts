import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Address, CallerAddress, Link, onceByKey, repeatable, Time, WalletAddress } from '#shared/kit/primitives'

type Hex = `0x${string}`

/** An address on a chain, in lower case. */
const ChainAddress = z
  .string('Address required')
  .pipe(WalletAddress)
  .transform((address) => address as Hex)

const ChainId = z.number().int().positive()
/** Chains by id or by name, separated by commas. */
const ChainList = z.string().max(200)

const Token = z.object({
  /** Forty zeros for the chain's own coin. */
  contractAddress: z.string(),
  symbol: z.string(),
  name: z.string(),
  decimals: z.number(),
  /** In the smallest unit. */
  balance: z.string(),
  balanceFormatted: z.string(),
  /** Known for stablecoins alone, at their par value. */
  balanceUsd: z.number().nullable(),
  tokenType: z.enum(['native', 'erc20']),
  logoUrl: Link.optional(),
})

const ShownChain = z.object({
  id: z.number(),
  name: z.string(),
  network: z.string(),
  symbol: z.string(),
  icon: z.string(),
  color: z.string(),
  explorerUrl: Link.nullable(),
})

const Failed = z.string().optional()

const ChainBalance = z.object({
  chain: ShownChain,
  nativeBalance: Token.nullable(),
  tokens: z.array(Token),
  totalUsd: z.number(),
  source: z.literal('rpc'),
  /** Why this chain gave nothing. */
  error: Failed,
})

const Transaction = z.object({
  hash: z.string(),
  chainId: z.number(),
  chainName: z.string(),
  chainIcon: z.string(),
  from: z.string(),
  to: z.string(),
  value: z.string(),
  valueFormatted: z.string(),
  valueUsd: z.number().nullable(),
  tokenSymbol: z.string(),
  tokenName: z.string(),
  tokenDecimals: z.number(),
  tokenLogo: z.string().optional(),
  contractAddress: z.string(),
  /** Milliseconds. */
  timestamp: z.number(),
  blockNumber: z.number(),
  type: z.enum(['send', 'receive']),
  explorerUrl: Link.nullable(),
})

/** What was searched: a node without an index finds nothing older. */
const Coverage = z.object({
  chainId: z.number(),
  /** Transfers of the known tokens, and coins received by a smart account, from this block on. */
  fromBlock: z.number().nullable(),
  /** Plain payments of coins from this block on. */
  nativeFromBlock: z.number().nullable(),
  toBlock: z.number().nullable(),
  error: Failed,
})

const Estimate = z.object({
  gasUnits: z.number(),
  gasPriceGwei: z.number(),
  estimatedCostEth: z.string(),
  estimatedCostUsd: z.number().nullable(),
  isSponsored: z.boolean(),
})

const SafeOnChain = z.object({
  chainId: z.number(),
  chainName: z.string(),
  symbol: z.string(),
  explorer: z.string().nullable(),
  isDeployed: z.boolean(),
  owners: z.array(z.string()),
  threshold: z.number(),
  hasRecoverySigner: z.boolean(),
  primarySigner: z.string().nullable(),
  balanceUsd: z.number(),
  safeAppUrl: Link.nullable(),
  /** What deploying it would take; null where it is deployed. */
  deploymentEstimate: Estimate.nullable(),
  error: Failed,
})

const UserWallet = z.object({
  chainId: z.number(),
  chainName: z.string(),
  symbol: z.string(),
  color: z.string(),
  /** Null if the chain has no endpoint or no answer, as both balances; also without a smart account. */
  isDeployed: z.boolean().nullable(),
  /** Of the chain's own coin. */
  balance: z.string().nullable(),
  /** With the stablecoins there; null where what the coin costs is not known. */
  balanceUsd: z.number().nullable(),
  /** Whether the installation pays for its transactions: it pays for none. */
  sponsored: z.boolean(),
  error: Failed,
})

export const wallet = {
  smartWallet: operation({
    summary: 'The smart account of the caller; computed without a chain, and the same on every one.',
    http: 'GET /api/wallet/smart-wallet',
    aliases: [{ http: 'POST /api/wallet/smart-wallet' }],
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ chainId: ChainId.optional(), userAddress: CallerAddress, address: CallerAddress }),
    output: z.object({
      /** The account id. */
      serviceId: z.string(),
      smartWalletAddress: z.string().nullable(),
      /** True for accounts without an Ethereum wallet, until they have a passkey. */
      needsPasskey: z.boolean(),
      passkeyCredentialId: z.string().nullable(),
      /** On the chain asked for, else on the first with an endpoint; false where none could be asked. */
      isDeployed: z.boolean(),
      walletType: z.string().nullable(),
      canSign: z.boolean(),
      signerType: z.enum(['eoa', 'passkey', 'none']),
      supportedChains: z.array(ShownChain),
      safeAppUrl: Link.nullable(),
      warning: z.string().optional(),
    }),
    errors: ['CHAIN_NOT_SUPPORTED', 'USER_NOT_FOUND'],
    errorBody: 'text',
  }),
  balances: operation({
    summary: 'What an address holds on each chain: its coin and a few well-known tokens.',
    http: 'GET /api/wallet/balances',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: ChainAddress, chains: ChainList.optional(), refresh: z.boolean().default(false) }),
    output: z.object({
      address: z.string(),
      balances: z.array(ChainBalance),
      totalUsd: z.number(),
      lastUpdated: Time,
    }),
    errors: ['CHAIN_NOT_SUPPORTED'],
    errorBody: 'text',
  }),
  refreshBalances: operation({
    summary: 'Forgets the balances that were kept for an address.',
    http: 'POST /api/wallet/balances',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    whileSuspended: 'reads',
    input: z.object({ address: ChainAddress, chainId: ChainId.optional() }),
    output: z.object({ success: z.literal(true) }),
    errorBody: 'text',
  }),
  transactions: operation({
    summary: 'The latest transfers of an address, newest first, as far as `coverage` says.',
    http: 'GET /api/wallet/transactions',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: ChainAddress, chain: ChainList.optional() }),
    output: z.object({
      transactions: z.array(Transaction),
      count: z.number(),
      address: z.string(),
      coverage: z.array(Coverage),
    }),
    errors: ['CHAIN_NOT_SUPPORTED'],
    errorBody: 'text',
  }),
  safeStatus: operation({
    summary: 'The state of a smart account on each chain.',
    http: 'GET /api/wallet/safe-status',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: ChainAddress, primarySigner: ChainAddress.optional() }),
    output: z.object({
      safeAddress: z.string(),
      primarySigner: z.string().nullable(),
      chains: z.array(SafeOnChain),
      summary: z.object({
        totalChains: z.number(),
        deployedChains: z.number(),
        chainsWithFunds: z.number(),
        chainsWithRecovery: z.number(),
        chainsNeedingRecovery: z.number(),
        totalBalanceUsd: z.number(),
      }),
    }),
    errorBody: 'text',
  }),
  recoverySigner: operation({
    summary: "Who can sign for the caller's smart account beside its first signer.",
    http: 'GET /api/wallet/recovery-signer',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ chainId: ChainId.optional() }),
    output: z.object({
      safeAddress: z.string(),
      primarySigner: z.string(),
      isWalletUser: z.boolean(),
      isDeployed: z.boolean(),
      owners: z.array(z.string()),
      threshold: z.number(),
      hasRecoverySigner: z.boolean(),
      recoverySigners: z.array(z.string()),
      /** The first recovery signer. */
      address: z.string().nullable(),
      safeAppUrl: Link.nullable(),
    }),
    errors: ['WALLET_NOT_FOUND', 'CHAIN_NOT_SUPPORTED', 'USER_NOT_FOUND', 'UPSTREAM_ERROR', 'TIMEOUT'],
    errorBody: 'text',
  }),
  planRecoverySigner: operation({
    summary:
      'Checks an address that is to become a recovery signer, and says which call the owner has to sign. With a chain, also whether the call can be carried out there now.',
    http: 'POST /api/wallet/recovery-signer',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    freshProof: { unless: [] },
    whileSuspended: 'protects',
    input: z.object({ recoveryAddress: ChainAddress, chainId: ChainId.optional() }),
    output: z.object({
      message: z.string(),
      recoveryAddress: z.string(),
      instructions: z.array(z.string()),
      transaction: z.object({ to: z.string(), value: z.string(), data: z.string() }),
    }),
    errors: [
      'WALLET_NOT_FOUND',
      'USER_NOT_FOUND',
      'CHAIN_NOT_SUPPORTED',
      'SAFE_NOT_DEPLOYED',
      'INSUFFICIENT_BALANCE',
      'TRANSACTION_FAILED',
      'UPSTREAM_ERROR',
      'TIMEOUT',
    ],
    errorBody: 'text',
  }),
  ofUser: operation({
    summary:
      'For admins: the smart account of somebody on every chain. What is not known counts for nothing in the sums.',
    http: 'GET /api/admin/user-wallets',
    access: 'admin',
    limit: 'general',
    cost: 'cheap',
    input: z.object({ address: z.string('Address required').pipe(Address) }),
    audit: 'address',
    output: z.object({
      userAddress: z.string(),
      smartWalletAddress: z.string().nullable(),
      deployedCount: z.number().int(),
      totalChains: z.number().int(),
      totalBalanceUsd: z.number(),
      chainsWithBalance: z.number().int(),
      chains: z.array(UserWallet),
    }),
    errors: ['USER_NOT_FOUND'],
    errorBody: 'text',
  }),
  onramp: operation({
    summary: 'Opens a purchase of coins for an address of the caller.',
    http: 'POST /api/wallet/onramp/session',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    idempotency: onceByKey,
    input: z.object({ ...repeatable, walletAddress: ChainAddress.optional() }),
    output: z.object({ sessionToken: z.string(), expiresAt: Time }),
    errors: ['WALLET_NOT_FOUND', 'USER_NOT_FOUND', 'ACCESS_DENIED', 'UPSTREAM_ERROR', 'TIMEOUT'],
    audit: true,
    errorBody: 'text',
  }),
}
