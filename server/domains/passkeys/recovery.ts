import { accountByEmail } from '#server/domains/accounts/emails'
import { allowLetter, writeCode } from '#server/domains/email/letters'
import { issueCode, requireCode } from '#server/domains/identity/codes'
import type { Action } from '#server/kernel/context'
import type { passkeys as contract } from '#shared/api/passkeys'
import { AppError } from '#shared/errors'
import { confirmRescueToken, issueRecoveryToken, recoverySeconds } from './recovery-tokens.ts'

const purpose = 'passkey.recovery'

/** Does and says the same for an address that nobody has verified, but for the letter; nobody waits for that. */
export const recoverByEmail: Action<typeof contract.recoverByEmail> = async ({ email }, context) => {
  await allowLetter(context, email)
  const account = await accountByEmail(email)
  const { code } = await issueCode(context.node, purpose, email, account?._id ?? null)
  if (account)
    writeCode(context, email, code, 'lets you make a new passkey for your account').catch((error: unknown) =>
      context.logger.error({ error }, 'a recovery code was not sent'),
    )
  return { success: true, message: 'If this address belongs to an account, a code is on its way' }
}

export const verifyRecovery: Action<typeof contract.verifyRecovery> = async (input, { node }) => {
  const account = await requireCode(node, purpose, input.email, input.code)
  const isTheirs = account !== null && (await accountByEmail(input.email))?._id === account
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
