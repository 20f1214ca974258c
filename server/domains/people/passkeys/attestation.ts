import { p256 } from '@noble/curves/nist.js'
import type { NewCredential, UsedCredential } from '#shared/api/people/passkey-credentials'
import type { passkeys as contract } from '#shared/api/people/passkeys'
import { AppError } from '#shared/errors'
import type { InputOf } from '#shared/kit/contract'
import type { Site } from './settings.ts'

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

interface NewPasskey extends Point {
  credentialId: string
  counter: number
  aaguid: string
  backedUp: boolean
}

/** Loaded for the first passkey: they bring a library of certificates. */
const loadHelpers = () => import('@simplewebauthn/server/helpers')
type Helpers = Awaited<ReturnType<typeof loadHelpers>>

export const es256 = -7
const coordinateBytes = 32

/** Verifies that the credential was made for this challenge and site, with an ES256 key. */
export async function verifyAttestation(
  { id, response }: NewCredential,
  challenge: string,
  { rpId, origins }: Site,
): Promise<NewPasskey> {
  const made = readAttestation(response.attestationObject, await loadHelpers())
  if (made.credentialId !== id) throw new AppError('PASSKEY_VERIFICATION_FAILED')
  const { attestationObject, clientDataJSON } = response
  const whole = { id, rawId: id, type: 'public-key' as const, clientExtensionResults: {} }
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server')
  const { verified } = await verifyRegistrationResponse({
    response: { ...whole, response: { attestationObject, clientDataJSON } },
    expectedChallenge: challenge,
    expectedOrigin: [...origins],
    expectedRPID: rpId,
    requireUserVerification: false,
    supportedAlgorithmIDs: [es256],
  }).catch((cause: unknown) => {
    throw new AppError('PASSKEY_VERIFICATION_FAILED', { cause })
  })
  if (!verified) throw new AppError('PASSKEY_VERIFICATION_FAILED')
  return made
}

function readAttestation(encoded: string, helpers: Helpers): NewPasskey {
  try {
    const attestation = helpers.decodeAttestationObject(Uint8Array.from(Buffer.from(encoded, 'base64url')))
    refuseForeignFormats(attestation)
    const { credentialID, credentialPublicKey, counter, aaguid, flags } = helpers.parseAuthenticatorData(
      attestation.get('authData'),
    )
    if (!credentialID || !credentialPublicKey || !aaguid) throw new Error('There is no credential')
    return {
      ...readKey(credentialPublicKey, helpers),
      credentialId: Buffer.from(credentialID).toString('base64url'),
      counter,
      aaguid: helpers.convertAAGUIDToString(aaguid),
      backedUp: flags.bs,
    }
  } catch (cause) {
    throw new AppError('INVALID_AUTHENTICATOR', { cause })
  }
}

/**
 * We request no attestation; a signed one must be signed by the new key. Certificates contain URLs to fetch, so none is
 * read.
 */
function refuseForeignFormats(attestation: ReturnType<Helpers['decodeAttestationObject']>): void {
  const format = attestation.get('fmt')
  const isSelfSigned = format === 'packed' && attestation.get('attStmt').get('x5c') === undefined
  if (format !== 'none' && !isSelfSigned) throw new Error('The attestation format is not accepted')
}

/** The point of an ES256 key. It refuses other keys, and points outside the curve. */
function readKey(
  encoded: Parameters<Helpers['decodeCredentialPublicKey']>[0],
  { cose, decodeCredentialPublicKey }: Helpers,
): Point {
  const key = decodeCredentialPublicKey(encoded)
  if (!cose.isCOSEPublicKeyEC2(key)) throw new Error('The key is not an EC2 key')
  const { alg, crv, x, y } = cose.COSEKEYS
  const [across, up] = [key.get(x), key.get(y)]
  if (key.get(alg) !== es256 || key.get(crv) !== cose.COSECRV.P256) throw new Error('The key is not an ES256 key')
  if (across?.length !== coordinateBytes || up?.length !== coordinateBytes)
    throw new Error('The point is not one of P-256')
  p256.Point.fromBytes(Buffer.concat([Buffer.of(4), across, up]))
  return { x: hexOf(across), y: hexOf(up) }
}

const hexOf = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`
