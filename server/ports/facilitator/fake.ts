import { AppError } from '#shared/errors'
import type { Facilitator, PaymentRefusal, Proof, Settlement } from './port.ts'

type Away = 'UPSTREAM_ERROR' | 'TIMEOUT'

interface FakeFacilitator extends Facilitator {
  /** The nonces that were charged, in order. */
  charged: string[]
  /** How often it was asked. */
  asked: { verify: number; settle: number }
  /** What it says of payments; null where it finds nothing wrong. */
  refuses: PaymentRefusal | null
  /** What comes of the next settlements, in order; those after them succeed. `lost`: it charges and its answer never arrives. */
  settlements: (Settlement | Away | 'lost')[]
  /** The way in which it fails to answer; null while it answers. */
  away: Away | null
  /** Called before it answers a settlement. */
  meanwhile: () => Promise<void> | void
}

const hashOf = (charges: number) => `0x${charges.toString(16).padStart(64, '0')}` as const

/** A facilitator in memory that charges each authorization once. */
export function fakeFacilitator(): FakeFacilitator {
  const transactions = new Map<string, `0x${string}`>()
  const charge = ({ authorization: { nonce } }: Proof): Settlement => {
    if (transactions.has(nonce)) return { state: 'used' }
    facilitator.charged.push(nonce)
    transactions.set(nonce, hashOf(facilitator.charged.length))
    return { state: 'settled', transaction: hashOf(facilitator.charged.length) }
  }
  const facilitator: FakeFacilitator = {
    isSimulated: false,
    charged: [],
    asked: { verify: 0, settle: 0 },
    refuses: null,
    settlements: [],
    away: null,
    meanwhile: () => undefined,
    async verify() {
      facilitator.asked.verify += 1
      if (facilitator.away) throw new AppError(facilitator.away)
      return facilitator.refuses
    },
    async settle(proof) {
      facilitator.asked.settle += 1
      await facilitator.meanwhile()
      if (facilitator.away) throw new AppError(facilitator.away)
      const next = facilitator.settlements.shift()
      if (next === undefined) return charge(proof)
      if (next === 'lost') charge(proof)
      if (typeof next === 'string') throw new AppError(next === 'lost' ? 'TIMEOUT' : next)
      if (next.state === 'settled') charge(proof)
      return next
    },
  }
  return facilitator
}
