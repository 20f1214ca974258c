/** The symbols of coins with prices. */
export const coins = ['ETH', 'BNB', 'MATIC', 'AVAX'] as const
export type Coin = (typeof coins)[number]

/** What coins cost. */
export interface Prices {
  /** In US dollars, without unknown coins. Throws UPSTREAM_ERROR or TIMEOUT without an answer. */
  now(): Promise<Partial<Record<Coin, number>>>
}
