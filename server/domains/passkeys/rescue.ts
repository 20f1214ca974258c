import { accountOf } from '#server/domains/accounts/accounts'
import type { Context } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { accountOfCredential } from './passkeys.ts'
import { issueRescueToken } from './recovery-tokens.ts'

const hourSeconds = 3_600
const mostAnHour = { account: 3, ip: 10 }

/**
 * Refuses a passkey that is not known here. Where an account has its id from it, the refusal says how to get back in:
 * who knows a credential id has proved nothing, so the way leads through the account's verified e-mail address.
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
