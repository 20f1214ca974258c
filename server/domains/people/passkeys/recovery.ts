import { accountOf } from '#server/domains/people/accounts/accounts'
import { accountByEmail } from '#server/domains/people/accounts/emails'
import { allowEmail, sendCodeEmail } from '#server/domains/people/email/code-emails'
import { issueCode, requireCode } from '#server/domains/people/identity/codes'
import { type Action, type Context, signedIn } from '#server/kernel/context'
import type { passkeys as contract } from '#shared/api/people/passkeys'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { accountOfCredential } from './passkeys.ts'
import { confirmRescueToken, issueRecoveryToken, issueRescueToken, recoverySeconds } from './recovery-tokens.ts'

const purpose = 'passkey.recovery'
const hourSeconds = 3_600
const mostAnHour = { account: 3, ip: 10 }

/**
 * Refuses an unknown passkey. If it created an account, the refusal offers a rescue. A credential id proves nothing, so
 * the rescue requires the account's verified email.
 */
export async function offerRescue({ node, caller }: Context, credentialId: string): Promise<never> {
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

export const recoverable: Action<typeof contract.recoverable> = async (_input, context) => {
  const owner = await accountOf(signedIn(context).account)
  if (owner?.email === undefined) return { possibleAccounts: [] }
  return { possibleAccounts: [{ address: owner._id, username: owner.username ?? null, hasEmail: true }] }
}

/** Answers equally for an unverified address, without an email; the answer does not wait for the email. */
export const recoverByEmail: Action<typeof contract.recoverByEmail> = async ({ email }, context) => {
  await allowEmail(context, email)
  const account = await accountByEmail(email)
  const { code } = await issueCode(context.node, purpose, email, account?._id ?? null)
  if (account)
    sendCodeEmail(context, email, code, 'lets you make a new passkey for your account').catch((error: unknown) =>
      context.logger.error({ error }, 'a recovery code was not sent'),
    )
  return { success: true, message: 'If this address belongs to an account, a code is on its way' }
}

export const verifyRecovery: Action<typeof contract.verifyRecovery> = async (input, { node }) => {
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
