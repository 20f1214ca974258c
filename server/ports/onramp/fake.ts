import { AppError } from '#shared/errors'
import type { Onramp } from './port.ts'

interface FakeOnramp extends Onramp {
  /** The requested purchases, in order. */
  asked: { address: string; chains: readonly string[] }[]
  /** The way in which it fails to answer; null while it answers. */
  away: 'UPSTREAM_ERROR' | 'TIMEOUT' | null
}

/** A provider in memory that opens every purchase. */
export function fakeOnramp(): FakeOnramp {
  const onramp: FakeOnramp = {
    asked: [],
    away: null,
    async open(address, chains) {
      onramp.asked.push({ address, chains })
      if (onramp.away) throw new AppError(onramp.away)
      return { token: `purchase ${onramp.asked.length}`, expiresAt: new Date('2040-01-01T00:00:00Z') }
    },
  }
  return onramp
}
