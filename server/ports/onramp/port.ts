interface OnrampSession {
  token: string
  expiresAt: Date
}

/** Opens the purchase of coins for an address. Throws UPSTREAM_ERROR or TIMEOUT where the provider gives no answer. */
export interface Onramp {
  open(address: string, chains: readonly string[]): Promise<OnrampSession>
}
