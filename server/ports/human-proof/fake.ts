import { AppError } from '#shared/errors'
import type { HumanProofs } from './port.ts'

interface FakeHumanProofs extends HumanProofs {
  /** Proofs that are invalid; all others are valid. */
  refused: Set<string>
  /** The way in which it fails to answer; null while it answers. */
  away: 'UPSTREAM_ERROR' | 'TIMEOUT' | null
}

/** A verifier in memory that accepts each proof not listed as invalid. Proofs without a level get `level`. */
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
