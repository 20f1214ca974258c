import type { NewCredential, UsedCredential } from '#shared/api/people/passkey-credentials'
import type { passkeys as contract } from '#shared/api/people/passkeys'
import { AppError } from '#shared/errors'
import type { InputOf } from '#shared/kit/contract'

type Registration = InputOf<typeof contract.register>
type Login = InputOf<typeof contract.login>

export interface Point {
  x: string
  y: string
}

const missing = (field: string) => new AppError('VALIDATION_ERROR', { message: `${field} is required` })

/** The new credential in a body of either shape, with the separate public key. */
export function newCredentialIn(input: Registration): { credential: NewCredential; claimed: Point | null } {
  const credential = input.credential ?? rawRegistration(input)
  refuseOtherId(credential.id, input.credentialId, credential.rawId)
  return { credential, claimed: input.publicKey ?? rawPoint(input) }
}

function rawRegistration({ credentialId, attestation, clientDataJSON }: Registration): NewCredential {
  if (!credentialId) throw missing('credential')
  if (!attestation) throw missing('attestation')
  if (typeof attestation === 'object')
    return 'response' in attestation ? attestation : { id: credentialId, response: attestation }
  if (!clientDataJSON) throw missing('clientDataJSON')
  return { id: credentialId, response: { attestationObject: attestation, clientDataJSON } }
}

function rawPoint({ publicKeyX: x, publicKeyY: y }: Registration): Point | null {
  if (x && y) return { x, y }
  if (x || y) throw missing(x ? 'publicKeyY' : 'publicKeyX')
  return null
}

/** The used credential in a body of either shape. */
export function usedCredentialIn(input: Login): UsedCredential {
  const credential = input.credential ?? rawLogin(input)
  refuseOtherId(credential.id, input.credentialId, credential.rawId)
  return credential
}

function rawLogin({ credentialId, authenticatorData, clientDataJSON, signature, userHandle }: Login): UsedCredential {
  if (!credentialId) throw missing('credential')
  if (!authenticatorData) throw missing('authenticatorData')
  if (!clientDataJSON) throw missing('clientDataJSON')
  if (!signature) throw missing('signature')
  return { id: credentialId, response: { authenticatorData, clientDataJSON, signature, userHandle } }
}

function refuseOtherId(id: string, ...others: (string | null | undefined)[]): void {
  if (others.some((other) => other && other !== id)) throw new AppError('PASSKEY_VERIFICATION_FAILED')
}
