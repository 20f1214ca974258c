import { randomBytes } from 'node:crypto'
import { isHex } from 'viem'
import { z } from 'zod'
import { accountOf, refuseNewcomer } from '#server/domains/people/accounts/accounts'
import { storeSmartAccount } from '#server/domains/people/accounts/smart-account'
import { notifyOfChange } from '#server/domains/people/identity/change-notices'
import { signIn, startSession } from '#server/domains/people/identity/sign-in'
import type { Action, Context } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { CreationOptions, RequestOptions } from '#shared/api/people/passkey-credentials'
import type { passkeys as contract } from '#shared/api/people/passkeys'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { InputOf } from '#shared/kit/contract'
import { es256, newCredentialIn, type Point, verifyAttestation } from './attestation.ts'
import { type Ceremony, type Passkey, type PasskeyChallenge, PasskeyChallenges } from './model.ts'
import {
  accountOfCredential,
  credentialIdsOf,
  firstPasskeyOf,
  passkeyNameOf,
  passkeyOf,
  storePasskey,
} from './passkeys.ts'
import { checkRecoveryToken, isTokenOf, spendRecoveryToken } from './recovery-tokens.ts'
import { passkeySettings, requestedSite, type Site } from './settings.ts'

const lifeMilliseconds = 300_000
const keptMilliseconds = 900_000

type ChallengeFields = Pick<PasskeyChallenge, 'ceremony' | 'user_address'> &
  Partial<Pick<PasskeyChallenge, 'recovery_hash' | 'user_handle' | 'display_name'>>

/** A new challenge for one ceremony and one account. */
export async function issueChallenge(issued: ChallengeFields, now: number): Promise<string> {
  const challenge = randomBytes(32).toString('base64url')
  const times = { issued_at: new Date(now), expires_at: new Date(now + keptMilliseconds) }
  await PasskeyChallenges.create({ ...issued, ...times, _id: challenge, used: false })
  return challenge
}

/** Uses a challenge up before signatures are checked. Of simultaneous calls exactly one succeeds. */
export async function takeChallenge(ceremony: Ceremony, challenge: string, now: number): Promise<PasskeyChallenge> {
  const taken = await PasskeyChallenges.findOneAndUpdate(
    { _id: challenge, ceremony, used: false, issued_at: { $gt: new Date(now - lifeMilliseconds) } },
    { $set: { used: true } },
  ).lean<PasskeyChallenge>()
  if (taken) return taken
  const known = await PasskeyChallenges.findOne({ _id: challenge, ceremony }).lean<PasskeyChallenge>()
  throw new AppError(known && !known.used ? 'CHALLENGE_EXPIRED' : 'PASSKEY_VERIFICATION_FAILED')
}

const ClientData = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().nullish(),
  topOrigin: z.unknown().optional(),
})
type ClientData = z.infer<typeof ClientData>

/** The browser's client data, unchecked. */
export function readClientData(encoded: string): ClientData {
  try {
    return ClientData.parse(JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8')))
  } catch {
    throw new AppError('PASSKEY_VERIFICATION_FAILED')
  }
}

/** Refuses client data of another purpose or site, or of a frame in another site. */
export function checkClientData(
  { type, origin, crossOrigin, topOrigin }: ClientData,
  expected: 'webauthn.create' | 'webauthn.get',
  { origins, rpId }: Site,
): void {
  if (type !== expected) throw new AppError('PASSKEY_VERIFICATION_FAILED')
  if (!origins.includes(origin)) {
    const message = `Passkeys of this site belong to ${rpId}. Open it at ${origins[0]}.`
    throw new AppError('PASSKEY_VERIFICATION_FAILED', { message })
  }
  if (crossOrigin || topOrigin !== undefined) throw new AppError('PASSKEY_VERIFICATION_FAILED')
}

const timeout = 120_000
const userVerification = 'preferred'

/** Real passkeys and decoys look the same. */
const named = (id: string) => ({ id, type: 'public-key' as const, transports: ['internal', 'hybrid'] })

/** The options for creating a passkey, except on these authenticators. */
const creationOptions = (
  { rpId, rpName }: Site,
  challenge: string,
  user: { id: string; name: string },
  known: readonly string[],
): z.input<typeof CreationOptions> => ({
  challenge,
  rp: { name: rpName, id: rpId },
  rpId,
  rpName,
  user: { ...user, displayName: user.name },
  pubKeyCredParams: [{ alg: es256, type: 'public-key' }],
  timeout,
  attestation: 'none',
  excludeCredentials: known.map(named),
  authenticatorSelection: { residentKey: 'preferred', requireResidentKey: false, userVerification },
  extensions: { credProps: true },
})

/** The options for using one of these passkeys; any passkey if none is named. */
export const requestOptions = (
  { rpId, rpName }: Site,
  challenge: string,
  known: readonly string[],
): z.input<typeof RequestOptions> => ({
  challenge,
  rpId,
  rpName,
  allowCredentials: known.map(named),
  timeout,
  userVerification,
})

/** Begins a session after the use of a passkey. Adding one to the own account keeps the calling session. */
export async function signInWith(context: Context, passkey: Passkey, isAdded = false) {
  const { user_address: account, credential_id: credentialId, backed_up: backedUp } = passkey
  const isSettled = await storeSmartAccountOf(account)
  const answer = await (isAdded ? signInBeside : signIn)(context, account, {
    authMethod: 'passkey',
    passkeyCredentialId: credentialId,
  })
  if (!isSettled) await storeSmartAccountOf(account)
  return { ...answer, credentialId, backedUp }
}

const signInBeside: typeof signIn = async (context, account, proof) => {
  const { sessionToken, refreshToken, user } = await startSession(context.node, account, {
    ...proof,
    seen: context.caller,
  })
  context.http?.setSessionCookie(sessionToken)
  return { success: true, verified: true, authenticated: true, sessionToken, refreshToken, userAddress: account, user }
}

/** The first passkey of an account without a wallet gives it a smart account. */
async function storeSmartAccountOf(id: string): Promise<boolean> {
  const [account, first] = await Promise.all([accountOf(id), firstPasskeyOf(id)])
  if (!account) return false
  const { credential_id: credentialId = '', public_key_x: x, public_key_y: y } = first ?? {}
  await storeSmartAccount(account, isHex(x) && isHex(y) ? { credentialId, x, y } : null)
  return true
}

const handleBytes = 32

export const beginRegistration: Action<typeof contract.beginRegistration> = async (input, context) => {
  const site = requestedSite(context.node, input)
  const { account, recoveryHash } = await passkeyOwnerOf(input, context)
  const displayName = input.displayName ?? input.userName ?? null
  const user_handle = randomBytes(handleBytes).toString('base64url')
  const challenge = await issueChallenge(
    {
      ceremony: 'register',
      user_address: account,
      recovery_hash: recoveryHash,
      user_handle,
      display_name: displayName,
    },
    context.node.now(),
  )
  const record = account === null ? null : await accountOf(account)
  const name = displayName ?? record?.username ?? account ?? input.userAddress ?? site.rpName
  const known = account === null || recoveryHash !== null ? [] : await credentialIdsOf(account)
  const options = creationOptions(site, challenge, { id: user_handle, name }, known)
  return {
    ...options,
    options,
    isRecoveryFlow: recoveryHash !== null,
    userAddress: account ?? input.userAddress ?? null,
  }
}

export const register: Action<typeof contract.register> = async (input, context) => {
  const { node } = context
  const site = passkeySettings.of(node)
  const { credential, claimed } = newCredentialIn(input)
  const clientData = readClientData(credential.response.clientDataJSON)
  const challenge = await takeChallenge('register', clientData.challenge, node.now())
  if (input.challenge && input.challenge !== challenge._id) throw new AppError('PASSKEY_VERIFICATION_FAILED')
  checkClientData(clientData, 'webauthn.create', site)
  const made = await verifyAttestation(credential, challenge._id, site)
  if (claimed && !(isSame(claimed.x, made.x) && isSame(claimed.y, made.y)))
    throw new AppError('VALIDATION_ERROR', { message: 'The public key is not the one of the credential' })
  const account = await accountOfNewPasskey(made.credentialId, challenge, input, context)
  const passkey: Passkey = {
    _id: newId(),
    user_address: account,
    credential_id: made.credentialId,
    public_key_x: made.x,
    public_key_y: made.y,
    rp_id: site.rpId,
    counter: made.counter,
    user_handle: challenge.user_handle,
    display_name: input.displayName ?? challenge.display_name,
    aaguid: made.aaguid,
    transports: credential.response.transports ?? [],
    backed_up: made.backedUp,
    user_agent: context.caller.userAgent,
    created_at: new Date(node.now()),
    last_used_at: null,
  }
  const isNew = (await accountOf(account)) === null
  await storePasskey(passkey)
  if (!isNew)
    await notifyOfChange(context, account, { change: 'added', method: 'passkey', identifier: passkeyNameOf(passkey) })
  return signInWith(context, passkey, isSameAccount(context.caller.account, account))
}

const isSame = (encoded: Point['x'], hex: string) =>
  Buffer.from(encoded, 'base64url').equals(Buffer.from(hex.slice(2), 'hex'))

type RegistrationStart = InputOf<typeof contract.beginRegistration>
type RegistrationInput = InputOf<typeof contract.register>

/** The account to which a passkey may be added; null for a new one. Naming an account proves nothing. */
async function passkeyOwnerOf({ recoveryToken, userAddress }: RegistrationStart, { node, caller }: Context) {
  if (!recoveryToken) {
    if (caller.account === null) {
      await refuseKnown(userAddress)
      await refuseNewcomer([])
    }
    return { account: caller.account, recoveryHash: null }
  }
  const { account, hash } = await checkRecoveryToken(recoveryToken, node.now())
  if (userAddress && !isSameAccount(userAddress, account))
    throw new AppError('FORBIDDEN', { message: 'The token recovers another account' })
  return { account, recoveryHash: hash }
}

/** The owner of a new passkey. It uses a recovery token up. */
async function accountOfNewPasskey(
  credentialId: string,
  challenge: PasskeyChallenge,
  input: RegistrationInput,
  context: Context,
): Promise<string> {
  const owner = challenge.recovery_hash === null ? await ownerStill(challenge, input, context) : challenge.user_address
  const own = accountOfCredential(credentialId)
  const isTaken = (await passkeyOf(credentialId)) !== null || (owner !== own && (await accountOf(own)) !== null)
  if (isTaken) throw new AppError('PASSKEY_ALREADY_REGISTERED')
  if (owner === null) await refuseNewcomer([own])
  if (challenge.recovery_hash !== null) await recover(challenge.recovery_hash, input, context)
  return owner ?? own
}

/** The account of the challenge, which must still be the caller; null for a new account. */
async function ownerStill(
  { user_address: bound }: PasskeyChallenge,
  { userAddress, recoveryToken, isNewAccount }: RegistrationInput,
  { caller }: Context,
): Promise<string | null> {
  if (recoveryToken)
    throw new AppError('INVALID_PARAMETER', { message: 'This challenge was asked for without the recovery token' })
  if (isNewAccount) return null
  if (!isSameAccount(caller.account, bound)) {
    if (caller.account === null)
      throw new AppError('UNAUTHORIZED', { message: 'Your session has ended. Sign in again.' })
    throw new AppError('FORBIDDEN', { message: 'This challenge was not given to your account' })
  }
  if (bound === null) await refuseKnown(userAddress)
  return bound
}

async function recover(hash: string, { recoveryToken }: RegistrationInput, { node }: Context): Promise<void> {
  if (recoveryToken && !isTokenOf(hash, recoveryToken)) throw new AppError('PASSKEY_VERIFICATION_FAILED')
  await spendRecoveryToken(hash, node.now())
}

async function refuseKnown(account: string | undefined): Promise<void> {
  if (account !== undefined && (await accountOf(account)))
    throw new AppError('UNAUTHORIZED', { message: 'Sign in to this account to add a passkey to it' })
}
