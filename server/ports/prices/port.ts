/** The coins whose price can be told, by their symbols. */
export const coins = ['ETH', 'BNB', 'MATIC', 'AVAX'] as const
export type Coin = (typeof coins)[number]

/** What coins cost. */
export interface Prices {
  /** In US dollars; a coin of which the source says nothing is left out. Throws UPSTREAM_ERROR or TIMEOUT where it gives no answer. */
  now(): Promise<Partial<Record<Coin, number>>>
}
