import { accountOf, refuseNewcomer } from '#server/domains/people/accounts/accounts'
import type { Context } from '#server/kernel/context'
import type { passkeys as contract } from '#shared/api/people/passkeys'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import type { InputOf } from '#shared/kit/contract'
import type { PasskeyChallenge } from './model.ts'
import { accountOfCredential, passkeyOf } from './passkeys.ts'
import { checkRecoveryToken, isTokenOf, spendRecoveryToken } from './recovery-tokens.ts'

type RegistrationStart = InputOf<typeof contract.beginRegistration>
type RegistrationInput = InputOf<typeof contract.register>

/** The account to which a passkey may be added; null for a new one. Naming an account proves nothing. */
export async function passkeyOwnerOf({ recoveryToken, userAddress }: RegistrationStart, { node, caller }: Context) {
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
export async function accountOfNewPasskey(
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
