import { AppError } from '#shared/errors'
import type { HumanProofs } from './port.ts'

interface FakeHumanProofs extends HumanProofs {
  /** Proofs that do not hold; all others do. */
  refused: Set<string>
  /** How it gives no answer; null while it does. */
  away: 'UPSTREAM_ERROR' | 'TIMEOUT' | null
}

/** Takes the word of who proves, within the process; `level` is that of proofs that do not say theirs. */
export function fakeHumanProofs(level = 'orb'): FakeHumanProofs {
  const proofs: FakeHumanProofs = {
    refused: new Set(),
    away: null,
    async verify({ proof, nullifier_hash: nullifierHash, verification_level = level }) {
      if (proofs.away) throw new AppError(proofs.away)
      if (proofs.refused.has(proof)) return { valid: false, code: 'invalid_proof', detail: 'The proof does not hold.' }
      return { valid: true, nullifierHash, level: verification_level }
    },
  }
  return proofs
}
