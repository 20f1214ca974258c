type Hex = `0x${string}`

export interface Transfer {
  hash: Hex
  blockNumber: bigint
  /** Milliseconds. */
  timestamp: number
  from: Hex
  to: Hex
  value: bigint
  /** The contract of a token; null for the chain's own coin. */
  token: Hex | null
}

/** What a search for transfers went through. */
export interface Transfers {
  transfers: readonly Transfer[]
  /** Tokens, and coins that a Safe received, from this block on. */
  fromBlock: bigint
  /** Plain payments of coins from this block on. */
  nativeFromBlock: bigint
  toBlock: bigint
}

export interface AuthorizedTransfer {
  from: Hex
  to: Hex
  value: bigint
  nonce: Hex
}

/**
 * `openAt`: it was not used up to the block of that time, in milliseconds. `other`: it was cancelled, or used for another transfer. `unseen`:
 * used, longer ago than was searched.
 */
export type AuthorizationState = { openAt: number } | 'other' | 'unseen' | { transaction: Hex }

/** What a token contract claims: anything its deployer chose. */
export interface TokenMetadata {
  name: string
  symbol: string
  /** 0 of tokens that are whole, such as those of ERC-721. */
  decimals: number
  /** Its administrators, if it names any. */
  owner: Hex | null
}

/** One chain. Throws UPSTREAM_ERROR or TIMEOUT without an answer in five seconds. */
export interface Chain {
  id: number
  balance(address: Hex): Promise<bigint>
  tokenBalance(token: Hex, owner: Hex): Promise<bigint>
  /** Null without an ERC-20 or ERC-721 contract. */
  token(address: Hex): Promise<TokenMetadata | null>
  isDeployed(address: Hex): Promise<boolean>
  /** No owners if the contract is no Safe; null without a contract. */
  safe(address: Hex): Promise<{ owners: readonly Hex[]; threshold: number } | null>
  gasPrice(): Promise<bigint>
  /** Does the contract at this address accept the signature (EIP-1271, ERC-6492)? A call of it that fails is a no. */
  verifyMessage(address: Hex, message: string, signature: Hex): Promise<boolean>
  verifyHash(address: Hex, hash: Hex, signature: Hex): Promise<boolean>
  /** The outcome of an authorization of a token transfer (EIP-3009). */
  authorized(token: Hex, transfer: AuthorizedTransfer): Promise<AuthorizationState>
  /** The latest indexed transfers of these tokens and of the chain's coin, newest first. */
  transfers(address: Hex, tokens: readonly Hex[]): Promise<Transfers>
}

/** The chains we have an endpoint of, by their id. */
export type Chains = ReadonlyMap<number, Chain>
