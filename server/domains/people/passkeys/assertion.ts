import { p256 } from '@noble/curves/nist.js'
import { verifyAuthenticationResponse } from '@simplewebauthn/server'
import type { UsedCredential } from '#shared/api/people/passkey-credentials'
import { AppError } from '#shared/errors'
import type { Passkey } from './model.ts'
import type { Site } from './settings.ts'

/** Verifies that the passkey signed this challenge for this site. The caller compares the counter. */
export async function verifyAssertion(
  { response }: UsedCredential,
  passkey: Passkey,
  challenge: string,
  { rpId, origins }: Site,
): Promise<{ counter: number; backedUp: boolean }> {
  const id = passkey.credential_id
  const { clientDataJSON, authenticatorData } = response
  const signed = { clientDataJSON, authenticatorData, signature: derOf(response.signature) }
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response: signed },
    expectedChallenge: challenge,
    expectedOrigin: [...origins],
    expectedRPID: rpId,
    requireUserVerification: false,
    credential: { id, publicKey: coseKeyOf(passkey), counter: 0 },
  }).catch((cause: unknown) => {
    throw new AppError('PASSKEY_VERIFICATION_FAILED', { cause })
  })
  if (!verified) throw new AppError('PASSKEY_VERIFICATION_FAILED')
  return { counter: authenticationInfo.newCounter, backedUp: authenticationInfo.credentialBackedUp }
}

const rawBytes = 64

/** The signature in strict DER, from DER or from r and s; both must be in the group. */
function derOf(encoded: string): string {
  const given = Uint8Array.from(Buffer.from(encoded, 'base64url'))
  try {
    const signature = p256.Signature.fromBytes(given, given.length === rawBytes ? 'compact' : 'der')
    return Buffer.from(signature.toBytes('der')).toString('base64url')
  } catch (cause) {
    throw new AppError('PASSKEY_VERIFICATION_FAILED', { cause })
  }
}

const beforeX = Buffer.from('a5010203262001215820', 'hex')
const beforeY = Buffer.from('225820', 'hex')

const coseKeyOf = ({ public_key_x, public_key_y }: Passkey) =>
  Uint8Array.from(Buffer.concat([beforeX, bytesOf(public_key_x), beforeY, bytesOf(public_key_y)]))

const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex')
