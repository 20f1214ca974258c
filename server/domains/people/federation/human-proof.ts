import { createHash } from 'node:crypto'
import type { ProvenIdentity } from '#server/domains/people/identity/identities'
import { checkNonce, consumeNonce, issueNonce, nonceMilliseconds } from '#server/domains/people/identity/nonces'
import type { Node } from '#server/kernel/context'
import { isDuplicate } from '#server/ports/database/port'
import { type HumanProof, otherProof } from '#server/ports/human-proof/port'
import { SpentProofs } from './model.ts'
import { federationRefusal } from './refusals.ts'
import { federationSettings } from './settings.ts'

const signalPrefix = 'plaza:'
/** The subject of the nonce, because the prover has no address yet. */
const signalSubject = 'human-proof'

/** A signal to which a proof may be bound. The proof is then valid here only, once, and for a short time. */
export async function writeSignal(node: Node) {
  providerOf(node)
  const now = node.now()
  const signal = signalPrefix + (await issueNonce(signalSubject, now))
  const { action } = federationSettings.of(node)
  return { signal, action, expires_at: new Date(now + nonceMilliseconds).toISOString() }
}

/** Verifies a human proof and uses it up, after all checks have passed. */
export async function proveHuman(node: Node, proof: HumanProof): Promise<{ identity: ProvenIdentity; level: string }> {
  const provider = providerOf(node)
  const { action } = federationSettings.of(node)
  if (action !== null && proof.action !== action)
    throw federationRefusal('INVALID_SIGNATURE', 'The proof is for another action')
  const nonce = proof.signal.startsWith(signalPrefix) ? proof.signal.slice(signalPrefix.length) : null
  if (nonce !== null) await checkNonce(nonce, signalSubject, node.now())
  const verdict = await provider.verify(proof)
  if (!verdict.valid) {
    const { code: reason, detail } = verdict
    // A proof that the provider neither refused nor verified is a proof of something else.
    const status = reason === otherProof ? 401 : 400
    throw federationRefusal('INVALID_SIGNATURE', 'Verification failed', { reason, detail }, status)
  }
  if (nonce !== null) await consumeNonce(nonce, signalSubject)
  await spendProof(proof.proof, node.now())
  return { identity: { method: 'worldid', identifier: `worldid:${verdict.nullifierHash}` }, level: verdict.level }
}

function providerOf({ services: { humanProofs } }: Node) {
  if (!humanProofs) throw federationRefusal('SERVICE_UNAVAILABLE', 'Sign-in by human proof is not configured here')
  return humanProofs
}

/** Of simultaneous calls exactly one succeeds. */
async function spendProof(proof: string, now: number): Promise<void> {
  const _id = createHash('sha256').update(proof.trim().toLowerCase()).digest('hex')
  await SpentProofs.create({ _id, at: new Date(now) }).catch((error: unknown) => {
    throw isDuplicate(error) ? federationRefusal('INVALID_SIGNATURE', 'This proof was used before') : error
  })
}
