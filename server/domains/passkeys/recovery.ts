import { accountByEmail } from '#server/domains/accounts/emails'
import { issueCode, requireCode } from '#server/domains/identity/codes'
import { sendLetter } from '#server/domains/outgoing/index'
import type { Action, Node } from '#server/kernel/context'
import type { passkeys as contract } from '#shared/api/passkeys'
import { AppError } from '#shared/errors'
import { confirmRescueToken, issueRecoveryToken, recoverySeconds } from './recovery-tokens.ts'

const purpose = 'passkey recovery'
const hourSeconds = 3_600
const mostAnHour = { email: 3, ip: 10 }

/** Does and says the same for an address that nobody has verified, but for the letter. */
export const recoverByEmail: Action<typeof contract.recoverByEmail> = async ({ email }, { node, caller }) => {
  if (!node.services.mail) throw new AppError('SERVICE_UNAVAILABLE', { message: 'Mail is not configured here' })
  const isAllowed =
    (await node.limits.guard('recovery-ip', caller.ip, mostAnHour.ip, hourSeconds)) &&
    (await node.limits.guard('recovery-email', email, mostAnHour.email, hourSeconds))
  if (!isAllowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
  const account = await accountByEmail(email)
  const { code } = await issueCode(node, purpose, email, account?._id ?? null)
  if (account) write(node, email, code)
  return { success: true, message: 'If this address belongs to an account, a code is on its way' }
}

/** Nobody waits for it, so that the time of the answer tells nothing either. */
function write(node: Node, to: string, code: string): void {
  const text = [
    `Your code to recover your account is ${code}. It is good for ten minutes.`,
    'If you did not ask for it, somebody else did: do not give it to anybody.',
  ].join('\n\n')
  node.jobs
    .add(sendLetter, { to, subject: `${code} is your recovery code`, text })
    .catch((error: unknown) => node.logger.error({ error }, 'a recovery code was not sent'))
}

export const verifyRecovery: Action<typeof contract.verifyRecovery> = async (input, { node }) => {
  const account = await requireCode(node, purpose, input.email, input.code)
  if (account === null) throw new AppError('INVALID_CODE')
  if (input.rescueToken) await confirmRescueToken(input.rescueToken, account)
  return {
    success: true,
    userAddress: account,
    recoveryToken: await issueRecoveryToken(account, node.now()),
    message: 'Make a new passkey within ten minutes',
    expiresIn: recoverySeconds,
  }
}
