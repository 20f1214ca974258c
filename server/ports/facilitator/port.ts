type Hex = `0x${string}`

/** A signed token transfer, which anybody may carry out once. Amounts are in the smallest unit. */
interface Authorization {
  from: Hex
  to: Hex
  value: string
  /** Unix seconds. */
  validAfter: string
  validBefore: string
  /** 32 bytes. */
  nonce: Hex
}

/** A payment as it was offered. Addresses and nonce are in lower case. */
export interface Proof {
  authorization: Authorization
  signature: Hex
}

/** The required payment, in both versions of the protocol. */
export interface Requirement {
  /** As version 1 names it. */
  network: string
  /** As version 2 names it: `eip155:<chain id>`. */
  chain: `eip155:${number}`
  asset: Hex
  amount: string
  payTo: Hex
  resource: string
  description: string
  mimeType: string
  maxTimeoutSeconds: number
  /** The EIP-712 domain of the token. */
  extra: { name: string; version: string }
}

/** Why a payment is refused: too little money, too late, another network, or anything else that is wrong with it. */
export type PaymentRefusal = 'funds' | 'expired' | 'network' | 'invalid'

export type Settlement =
  /** Settled; the transaction is null without a chain. */
  | { state: 'settled'; transaction: Hex | null }
  /** It was not paid by this attempt. */
  | { state: 'refused'; reason: PaymentRefusal | 'failed' }
  /** The authorization was used before, by an earlier attempt or somebody else. */
  | { state: 'used' }
  /** It may be paid, or become so. */
  | { state: 'unknown' }

/** Verifies and settles payments. Throws UPSTREAM_ERROR or TIMEOUT without an answer: a settlement may have happened. */
export interface Facilitator {
  /** It checks and settles nowhere: for tests. */
  readonly isSimulated: boolean
  /** Null where the payment can be settled. */
  verify(proof: Proof, requirement: Requirement): Promise<PaymentRefusal | null>
  settle(proof: Proof, requirement: Requirement): Promise<Settlement>
}
