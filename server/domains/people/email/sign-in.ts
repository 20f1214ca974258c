import type { z } from 'zod'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { accountOpenedByEmail, emailAccountId } from '#server/domains/people/accounts/emails'
import { ownerView } from '#server/domains/people/accounts/profiles'
import { ensureBrowserId, rememberBrowser } from '#server/domains/people/identity/browsers'
import { issueCode, issueLink, readLink, requireCode, takeLink } from '#server/domains/people/identity/codes'
import { identifyToken } from '#server/domains/people/identity/sessions'
import { refreshBySession, signIn } from '#server/domains/people/identity/sign-in'
import type { Context } from '#server/kernel/context'
import type { email as contract } from '#shared/api/people/email'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { allowEmail, sendCodeEmail, sendLinkEmail } from './code-emails.ts'

type SignedIn = z.input<typeof contract.login.output>

const purpose = 'email.login'
const linkPurpose = 'email.link'

/** No account is looked up, so the answer reveals none. */
export async function sendLoginCode(context: Context, email: string): Promise<void> {
  await allowEmail(context, email)
  const { code } = await issueCode(context.node, purpose, email)
  await sendCodeEmail(context, email, code, 'signs you in')
}

export async function loginByCode(context: Context, email: string, code: string, updates?: boolean): Promise<SignedIn> {
  await requireCode(context.node, purpose, email, code)
  return openSession(context, email, updates)
}

/** The page takes the token from the link, so that a link scanner does not use it up. */
export async function sendLink(context: Context, email: string, redirect: string | undefined): Promise<void> {
  await allowEmail(context, email)
  const link = new URL('/', context.node.settings.publicUrl)
  link.searchParams.set('sign-in', 'email')
  link.searchParams.set('token', await issueLink(context.node, linkPurpose, email, ensureBrowserId(context)))
  if (redirect !== undefined) link.searchParams.set('redirect', redirect)
  await sendLinkEmail(context, email, link.href)
}

/** The address of a link, and whether this browser requested it. The page asks people who did not. */
export async function checkLink(context: Context, token: string) {
  const link = await readLink(context.node, linkPurpose, token, context.browser)
  if (!link) throw new AppError('INVALID_LINK')
  return { email: link.subject, asked_here: link.isAsker }
}

export async function loginByLink(context: Context, token: string, updates?: boolean): Promise<SignedIn> {
  const email = await takeLink(context.node, linkPurpose, token)
  if (email === null) throw new AppError('INVALID_LINK')
  return openSession(context, email, updates)
}

async function openSession(context: Context, email: string, updates: boolean | undefined): Promise<SignedIn> {
  const account = await accountOpenedByEmail(email, context.node.now(), updates)
  const signedIn = await signIn(context, account, { authMethod: 'email' })
  await rememberBrowser(context, email)
  return { ...signedIn, message: 'Signed in', email, walletAddress: account }
}

/** A new session for a session's token, if it belongs to the account and the account to the address. */
export async function restoreSession(
  context: Context,
  email: string,
  address: string,
  token: string,
): Promise<SignedIn> {
  const { node, caller } = context
  const { account, session } = await identifyToken(node, token, caller)
  const record = await accountOf(account)
  const isTheirs =
    isSameAccount(account, address) &&
    (record?.email === email || (isSameAccount(account, emailAccountId(email)) && !record?.email_taken))
  if (!record || !isTheirs) throw new AppError('UNAUTHORIZED', { message: 'These do not belong together' })
  const { sessionToken, refreshToken } = await refreshBySession(node, session.id, caller)
  context.http?.setSessionCookie(sessionToken)
  return {
    success: true,
    verified: true,
    authenticated: true,
    message: 'Signed in',
    sessionToken,
    refreshToken,
    userAddress: account,
    user: ownerView(record),
    email,
    walletAddress: account,
  }
}
