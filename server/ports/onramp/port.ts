interface OnrampSession {
  token: string
  expiresAt: Date
}

/** Opens a purchase of coins. Throws UPSTREAM_ERROR or TIMEOUT without an answer. */
export interface Onramp {
  open(address: string, chains: readonly string[]): Promise<OnrampSession>
}
