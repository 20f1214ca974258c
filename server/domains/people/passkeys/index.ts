import { createHmac } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { accountByEmail } from '#server/domains/people/accounts/emails'
import { allowEmail, sendCodeEmail } from '#server/domains/people/email/index'
import { issueCode, requireCode } from '#server/domains/people/identity/codes'
import { type Action, type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import type { UsedCredential } from '#shared/api/people/passkey-credentials'
import { passkeys as contract } from '#shared/api/people/passkeys'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { usedCredentialIn } from './attestation.ts'
import { checkMigration, current, list, remove } from './management.ts'
import type { Passkey, PasskeyChallenge } from './model.ts'
import { accountOfCredential, credentialIdsOf, passkeyOf, recordUse } from './passkeys.ts'
import { confirmRescueToken, issueRecoveryToken, issueRescueToken, recoverySeconds } from './recovery-tokens.ts'
import {
  beginRegistration,
  checkClientData,
  issueChallenge,
  readClientData,
  register,
  requestOptions,
  signInWith,
  takeChallenge,
} from './registration.ts'
import { passkeySettings, requestedSite, type Site } from './settings.ts'

/** Verifies that the passkey signed this challenge for this site. The caller compares the counter. */
async function verifyAssertion(
  { response }: UsedCredential,
  passkey: Passkey,
  challenge: string,
  { rpId, origins }: Site,
): Promise<{ counter: number; backedUp: boolean }> {
  const id = passkey.credential_id
  const { clientDataJSON, authenticatorData } = response
  const signed = { clientDataJSON, authenticatorData, signature: derOf(response.signature) }
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server')
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

const lengths = [16, 20, 32, 32]

/** The fake credential id of an account without passkeys: constant, and nobody's. */
function decoyCredentialOf({ settings }: Node, account: string): string {
  const oldest = settings.sessionKeys.at(-1)
  if (!oldest) throw new Error('There is no session key')
  const made = createHmac('sha256', oldest.secret).update(`decoy passkey\0${account}`)
  const bytes = made.digest()
  const more = createHmac('sha256', oldest.secret).update(bytes).digest()
  return more.subarray(0, lengths[(bytes[0] ?? 0) % lengths.length]).toString('base64url')
}

const purpose = 'passkey.recovery'
const hourSeconds = 3_600
const mostAnHour = { account: 3, ip: 10 }

/**
 * Refuses an unknown passkey. If it created an account, the refusal offers a rescue. A credential id proves nothing, so
 * the rescue requires the account's verified email.
 */
async function offerRescue({ node, caller }: Context, credentialId: string): Promise<never> {
  const rescueAddress = accountOfCredential(credentialId)
  const email = (await accountOf(rescueAddress))?.email
  if (email === undefined) throw new AppError('PASSKEY_NOT_FOUND')
  const isAllowed =
    (await node.limits.guard('rescue-ip', caller.ip, mostAnHour.ip, hourSeconds)) &&
    (await node.limits.guard('rescue-account', rescueAddress, mostAnHour.account, hourSeconds))
  if (!isAllowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
  const details = {
    message: 'This passkey is lost here. Confirm your e-mail address to make a new one.',
    rescueAddress,
    rescueToken: await issueRescueToken(rescueAddress, node.now()),
    requiresEmailVerification: true,
    maskedEmail: masked(email),
  }
  throw new AppError('RESCUE_AVAILABLE', { details })
}

const masked = (email: string) => email.replace(/^(.).*@(.).*(\.[^.]+)$/, '$1***@$2***$3')

const recoverable: Action<typeof contract.recoverable> = async (_input, context) => {
  const owner = await accountOf(signedIn(context).account)
  if (owner?.email === undefined) return { possibleAccounts: [] }
  return { possibleAccounts: [{ address: owner._id, username: owner.username ?? null, hasEmail: true }] }
}

/** Answers equally for an unverified address, without an email; the answer does not wait for the email. */
const recoverByEmail: Action<typeof contract.recoverByEmail> = async ({ email }, context) => {
  await allowEmail(context, email)
  const account = await accountByEmail(email)
  const { code } = await issueCode(context.node, purpose, email, account?._id ?? null)
  if (account)
    sendCodeEmail(context, email, code, 'lets you make a new passkey for your account').catch((error: unknown) =>
      context.logger.error({ error }, 'a recovery code was not sent'),
    )
  return { success: true, message: 'If this address belongs to an account, a code is on its way' }
}

const verifyRecovery: Action<typeof contract.verifyRecovery> = async (input, { node }) => {
  const account = await requireCode(node, purpose, input.email, input.code)
  const isTheirs = account !== null && isSameAccount((await accountByEmail(input.email))?._id, account)
  if (!isTheirs) throw new AppError('INVALID_CODE')
  if (input.rescueToken) await confirmRescueToken(input.rescueToken, account, input.email)
  return {
    success: true,
    userAddress: account,
    recoveryToken: await issueRecoveryToken(account, input.email, node.now()),
    message: 'Make a new passkey within ten minutes',
    expiresIn: recoverySeconds,
  }
}

const beginLogin: Action<typeof contract.beginLogin> = async (input, { node }) => {
  const site = requestedSite(node, input)
  const useDevicePasskey = input.useDevicePasskey ?? false
  const account = useDevicePasskey ? null : (input.userAddress ?? null)
  const challenge = await issueChallenge({ ceremony: 'login', user_address: account }, node.now())
  const known = account === null ? [] : await knownOrDecoy(node, account)
  const options = requestOptions(site, challenge, known)
  return { ...options, options, useDevicePasskey }
}

/** An account without passkeys looks like any other. */
async function knownOrDecoy(node: Node, account: string): Promise<string[]> {
  const decoy = decoyCredentialOf(node, account)
  const known = await credentialIdsOf(account)
  return known.length > 0 ? known : [decoy]
}

const login: Action<typeof contract.login> = async (input, context) => {
  const { node } = context
  const site = passkeySettings.of(node)
  const credential = usedCredentialIn(input)
  const clientData = readClientData(credential.response.clientDataJSON)
  const challenge = await takeChallenge('login', clientData.challenge, node.now())
  if (input.challenge && input.challenge !== challenge._id) throw new AppError('PASSKEY_VERIFICATION_FAILED')
  checkClientData(clientData, 'webauthn.get', site)
  const passkey = await passkeyOf(credential.id)
  if (!passkey) return offerRescue(context, credential.id)
  refuseOthers(passkey, challenge, credential, input.userAddress ?? null)
  const { counter, backedUp } = await verifyAssertion(credential, passkey, challenge._id, site)
  if (!(await recordUse(passkey, counter, backedUp, node.now()))) {
    const { _id, user_address: actor, counter: before } = passkey
    node.logger.warn({ actor, passkey: _id, counter, before }, 'a passkey counted backwards: there may be a copy of it')
    throw new AppError('PASSKEY_VERIFICATION_FAILED')
  }
  return signInWith(context, { ...passkey, backed_up: backedUp })
}

/** A challenge of one account signs in to no other, nor does a passkey with another user handle. */
function refuseOthers(
  passkey: Passkey,
  { user_address: asked }: PasskeyChallenge,
  { response: { userHandle } }: UsedCredential,
  claimed: string | null,
): void {
  const isOther = [asked, claimed].some((account) => account !== null && !isSameAccount(account, passkey.user_address))
  const isOtherHandle = Boolean(userHandle) && userHandle !== passkey.user_handle
  if (isOther || isOtherHandle) throw new AppError('PASSKEY_VERIFICATION_FAILED')
}

export const passkeys = defineDomain(
  contract,
  {
    beginRegistration,
    register,
    beginLogin,
    login,
    list,
    current,
    remove,
    checkMigration,
    recoverable,
    recoverByEmail,
    verifyRecovery,
  },
  { settings: passkeySettings },
)
