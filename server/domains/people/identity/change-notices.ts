import type { z } from 'zod'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { sendEmail } from '#server/domains/platform/outgoing/index'
import { audiences, type Context } from '#server/kernel/context'
import { identityChanged } from '#shared/api/people/identities'
import { deviceIn } from '#shared/kit/device'
import { linkTo } from '#shared/kit/pages'

type IdentityChange = z.input<typeof identityChanged.payload>

/** The owner's email address, read before a change that may remove it. */
export const emailOf = async (account: string): Promise<string | null> => (await accountOf(account))?.email ?? null

const names: Readonly<Record<IdentityChange['method'], string>> = {
  wallet: 'an Ethereum wallet',
  solana: 'a Solana wallet',
  passkey: 'a passkey',
  email: 'an e-mail address',
  worldid: 'a proof of being human',
  alien: 'a partner account',
  phone: 'a phone number',
  service: 'a service token',
}

/** Notifies an account's devices and verified address of a changed sign-in method or contact. */
export async function notifyOfChange(
  context: Context,
  account: string,
  { change, method, identifier }: Pick<IdentityChange, 'change' | 'method' | 'identifier'>,
  addresses?: readonly (string | null)[],
): Promise<void> {
  const { node, caller } = context
  const at = new Date(node.now()).toISOString()
  const notice = { change, method, identifier, at, user_agent: caller.userAgent }
  context.emit(identityChanged, audiences.account(account), notice)
  if (!node.services.mail) return
  const written = new Set(addresses ?? [await emailOf(account)])
  const device = deviceIn(caller.userAgent) ?? 'an unknown device'
  const what = `${names[method]} (${identifier}) was ${change === 'added' ? 'added to' : 'removed from'} your account`
  const subject = 'A change to your Plaza account'
  const text = `On ${at}, from ${device}, ${what} at ${node.settings.publicUrl}\n\nIf that was not you, sign in and sign out everywhere else: ${node.settings.publicUrl}${linkTo('settings', { section: 'devices' })}\nYou are shown there what was added lately, and can remove it.\n`
  for (const to of written) if (to !== null) await sendEmail(node, { to, subject, text })
}
