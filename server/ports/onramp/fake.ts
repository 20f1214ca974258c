import { AppError } from '#shared/errors'
import type { Onramp } from './port.ts'

interface FakeOnramp extends Onramp {
  /** The purchases that it was asked for, in order. */
  asked: { address: string; chains: readonly string[] }[]
  /** How it gives no answer; null while it does. */
  away: 'UPSTREAM_ERROR' | 'TIMEOUT' | null
}

/** Opens every purchase, within the process. */
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
