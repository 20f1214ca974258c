import { AppError } from '#shared/errors'
import type { Coin, Prices } from './port.ts'

interface FakePrices extends Prices {
  /** How often it was asked. */
  asked: number
  /** The way in which it fails to answer; null while it answers. */
  away: 'UPSTREAM_ERROR' | 'TIMEOUT' | null
  told: Partial<Record<Coin, number>>
}

/** A source with the prices of a test. */
export function fakePrices(): FakePrices {
  const prices: FakePrices = {
    asked: 0,
    away: null,
    told: { ETH: 2_000 },
    async now() {
      prices.asked += 1
      if (prices.away) throw new AppError(prices.away)
      return { ...prices.told }
    },
  }
  return prices
}
