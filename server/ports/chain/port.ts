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

/** One chain. Throws UPSTREAM_ERROR or TIMEOUT where it gives no answer within five seconds. */
export interface Chain {
  id: number
  balance(address: Hex): Promise<bigint>
  tokenBalance(token: Hex, owner: Hex): Promise<bigint>
  isDeployed(address: Hex): Promise<boolean>
  /** No owners where the contract there is no Safe; null where there is none. */
  safe(address: Hex): Promise<{ owners: readonly Hex[]; threshold: number } | null>
  gasPrice(): Promise<bigint>
  /** Does the contract at this address accept the signature (EIP-1271, ERC-6492)? A call of it that fails is a no. */
  verifyMessage(address: Hex, message: string, signature: Hex): Promise<boolean>
  /** The latest transfers of these tokens and of the chain's coin, newest first; what nodes do not index is not found. */
  transfers(address: Hex, tokens: readonly Hex[]): Promise<Transfers>
}

/** The chains we have an endpoint of, by their id. */
export type Chains = ReadonlyMap<number, Chain>
