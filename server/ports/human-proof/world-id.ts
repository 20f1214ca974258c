import { isHex, keccak256, toBytes, toHex } from 'viem'
import { z } from 'zod'
import { postJson } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import { type HumanProof, type HumanProofs, type HumanProofVerdict, otherProof } from './port.ts'

interface Provider {
  baseUrl: string
  appId: string
  /** For proofs that do not say theirs. */
  level: string
}

const Accepted = z.object({
  success: z.literal(true),
  action: z.string().optional(),
  nullifier_hash: z.string().optional(),
  verification_level: z.string().optional(),
})
const Refused = z.object({ code: z.string().max(100), detail: z.string().max(500).nullish() })

/** A provider that verifies proofs over HTTP, as World ID does in its second version. */
export const worldId = ({ baseUrl, appId, level }: Provider): HumanProofs => ({
  async verify({ action, signal, proof, merkle_root, nullifier_hash, verification_level = level }) {
    const asked = { nullifier_hash, merkle_root, proof, verification_level, action, signal_hash: hashSignal(signal) }
    const url = `${baseUrl.replace(/\/+$/, '')}/api/v2/verify/${encodeURIComponent(appId)}`
    const { status, answer } = await postJson(url, asked)
    return read(status, answer, { action, nullifier_hash, verification_level })
  },
})

function read(
  status: number,
  answer: unknown,
  asked: Pick<HumanProof, 'action' | 'nullifier_hash'> & { verification_level: string },
): HumanProofVerdict {
  const refused = Refused.safeParse(answer).data
  if (status === 400 && refused) return { valid: false, code: refused.code, detail: refused.detail ?? refused.code }
  const accepted = Accepted.safeParse(answer).data
  if (status !== 200 || !accepted)
    throw new AppError('UPSTREAM_ERROR', { cause: new Error(`The proof provider answered ${status}`) })
  const { action = asked.action, nullifier_hash = asked.nullifier_hash, verification_level } = accepted
  if (action !== asked.action || nullifier_hash.toLowerCase() !== asked.nullifier_hash.toLowerCase())
    return { valid: false, code: otherProof, detail: 'The provider verified another proof' }
  return { valid: true, nullifierHash: asked.nullifier_hash, level: verification_level ?? asked.verification_level }
}

/** keccak256, shifted right by a byte to fit the proof's field. A hex signal is hashed as bytes. */
export function hashSignal(signal: string): string {
  const bytes = isHex(signal) && signal.length % 2 === 0 ? toBytes(signal) : new TextEncoder().encode(signal)
  return toHex(BigInt(keccak256(bytes)) >> 8n, { size: 32 })
}
