import { setEmail } from '#server/domains/people/accounts/emails'
import { rememberBrowser } from '#server/domains/people/identity/browsers'
import { emailOf, notifyOfChange } from '#server/domains/people/identity/change-notices'
import { issueCode, requireCode } from '#server/domains/people/identity/codes'
import { awardPoints, verifiedAwards } from '#server/domains/people/points/ledger'
import { type Context, type SignedIn, signedIn } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { allowEmail, sendCodeEmail } from './code-emails.ts'

const purpose = 'email.attach'

/** The caller who adds an address to an account; null for an anonymous caller without an account in the input. */
export function attachingCaller(context: Context, named: string | undefined): SignedIn | null {
  if (named === undefined && context.caller.account === null) return null
  return signedIn(context)
}

export async function sendAttachCode(context: Context, { account }: SignedIn, email: string): Promise<void> {
  await allowEmail(context, email)
  const { code } = await issueCode(context.node, purpose, account, email)
  await sendCodeEmail(context, email, code, 'adds this address to your account')
}

/** The code proves the address to which it was sent, whatever the client names now. */
export async function attachAddress(
  context: Context,
  { account }: SignedIn,
  code: string,
  named: string | undefined,
  updates: boolean | undefined,
) {
  const { node } = context
  const email = await requireCode(node, purpose, account, code)
  if (email === null || (named !== undefined && named !== email)) throw new AppError('INVALID_CODE')
  const before = await emailOf(account)
  await setEmail(account, email, node.now(), updates)
  await rememberBrowser(context, email)
  if (email !== before)
    await notifyOfChange(context, account, { change: 'added', method: 'email', identifier: email }, [before, email])
  const pointsAwarded = await awardPoints(context, account, verifiedAwards.email_verified)
  return { success: true as const, message: 'This address is yours now', email, pointsAwarded }
}
