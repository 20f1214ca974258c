import { AppError } from '#shared/errors'
import type { Pinning } from './port.ts'

interface FakePinning extends Pinning {
  /** The files that were pinned, in order. */
  pinned: { name: string; bytes: Buffer }[]
  /** The way in which it fails to answer; null while it answers. */
  away: 'UPSTREAM_ERROR' | 'TIMEOUT' | null
}

/** A service in memory that keeps every file, each under the same hash. */
export function fakePinning(hash: string): FakePinning {
  const pinning: FakePinning = {
    pinned: [],
    away: null,
    async pin(name, file) {
      if (pinning.away) throw new AppError(pinning.away)
      pinning.pinned.push({ name, bytes: Buffer.from(await file.arrayBuffer()) })
      return hash
    },
    urlsOf: (of) => [1, 2, 3].map((gateway) => `https://gateway-${gateway}.test/ipfs/${of}`),
  }
  return pinning
}
