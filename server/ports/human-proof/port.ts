export interface HumanProof {
  action: string
  signal: string
  proof: string
  merkle_root: string
  nullifier_hash: string
  verification_level?: string | undefined
}

/** The code of a proof that the provider has not refused: it has verified another. */
export const otherProof = 'other_proof'

export type HumanProofVerdict =
  | { valid: true; nullifierHash: string; level: string }
  | { valid: false; code: string; detail: string }

/** Verifies a proof at the provider. Throws UPSTREAM_ERROR or TIMEOUT without an answer. */
export interface HumanProofs {
  verify(proof: HumanProof): Promise<HumanProofVerdict>
}
