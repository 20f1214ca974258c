import type { z } from 'zod'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { accountOpenedByEmail, clearEmail, emailAccountId, setEmail } from '#server/domains/people/accounts/emails'
import { ownerView } from '#server/domains/people/accounts/profiles'
import { emailOf, notifyOfChange } from '#server/domains/people/identity/change-notices'
import { issueCode, issueLink, readLink, requireCode, takeLink } from '#server/domains/people/identity/codes'
import { ensureBrowserId, maySendTo, rememberBrowser } from '#server/domains/people/identity/devices'
import { endOtherSessions, identifyToken } from '#server/domains/people/identity/sessions'
import { refreshBySession, signIn } from '#server/domains/people/identity/sign-in'
import { awardPoints, verifiedAwards } from '#server/domains/people/points/ledger'
import { emailJob, sendEmail } from '#server/domains/platform/outgoing/index'
import { type Context, type SignedIn, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { email as contract } from '#shared/api/people/email'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'

const hourSeconds = 3_600
const emailsPerClient = 30

/** Refuses if mail is not configured, or the address or client got too many emails. */
export async function allowEmail(context: Context, email: string): Promise<void> {
  const { node, caller } = context
  if (!node.services.mail) throw new AppError('SERVICE_UNAVAILABLE', { message: 'E-mail is not configured here' })
  const allowed =
    (await node.limits.guard('letters-by', caller.ip, emailsPerClient, hourSeconds)) &&
    (await maySendTo(context, email))
  if (!allowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
}

const ignoreText = 'If you did not ask for this, you need not do anything.'

export const sendCodeEmail = ({ node }: Context, to: string, code: string, effect: string) =>
  sendEmail(node, {
    to,
    subject: 'Your code for Plaza',
    text: `Your code is ${code}\n\nIt ${effect} at ${node.settings.publicUrl}\nand is good for ten minutes, once.\n\n${ignoreText}\n`,
  })

const sendLinkEmail = ({ node }: Context, to: string, link: string) =>
  sendEmail(node, {
    to,
    subject: 'Your link to Plaza',
    text: `This link signs you in, once, within fifteen minutes:\n\n${link}\n\n${ignoreText}\n`,
  })

const purpose = 'email.attach'

/** The caller who adds an address to an account; null for an anonymous caller without an account in the input. */
function attachingCaller(context: Context, named: string | undefined): SignedIn | null {
  if (named === undefined && context.caller.account === null) return null
  return signedIn(context)
}

async function sendAttachCode(context: Context, { account }: SignedIn, email: string): Promise<void> {
  await allowEmail(context, email)
  const { code } = await issueCode(context.node, purpose, account, email)
  await sendCodeEmail(context, email, code, 'adds this address to your account')
}

/** The code proves the address to which it was sent, whatever the client names now. */
async function attachAddress(
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

type SignedInByEmail = z.input<typeof contract.login.output>

const signInPurpose = 'email.login'
const linkPurpose = 'email.link'

/** No account is looked up, so the answer reveals none. */
async function sendLoginCode(context: Context, email: string): Promise<void> {
  await allowEmail(context, email)
  const { code } = await issueCode(context.node, signInPurpose, email)
  await sendCodeEmail(context, email, code, 'signs you in')
}

async function loginByCode(context: Context, email: string, code: string, updates?: boolean): Promise<SignedInByEmail> {
  await requireCode(context.node, signInPurpose, email, code)
  return openSession(context, email, updates)
}

/** The page takes the token from the link, so that a link scanner does not use it up. */
async function sendLink(context: Context, email: string, redirect: string | undefined): Promise<void> {
  await allowEmail(context, email)
  const link = new URL('/', context.node.settings.publicUrl)
  link.searchParams.set('sign-in', 'email')
  link.searchParams.set('token', await issueLink(context.node, linkPurpose, email, ensureBrowserId(context)))
  if (redirect !== undefined) link.searchParams.set('redirect', redirect)
  await sendLinkEmail(context, email, link.href)
}

/** The address of a link, and whether this browser requested it. The page asks people who did not. */
async function checkLink(context: Context, token: string) {
  const link = await readLink(context.node, linkPurpose, token, context.browser)
  if (!link) throw new AppError('INVALID_LINK')
  return { email: link.subject, asked_here: link.isAsker }
}

async function loginByLink(context: Context, token: string, updates?: boolean): Promise<SignedInByEmail> {
  const email = await takeLink(context.node, linkPurpose, token)
  if (email === null) throw new AppError('INVALID_LINK')
  return openSession(context, email, updates)
}

async function openSession(context: Context, email: string, updates: boolean | undefined): Promise<SignedInByEmail> {
  const account = await accountOpenedByEmail(email, context.node.now(), updates)
  const signedIn = await signIn(context, account, { authMethod: 'email' })
  await rememberBrowser(context, email)
  return { ...signedIn, message: 'Signed in', email, walletAddress: account }
}

/** A new session for a session's token, if it belongs to the account and the account to the address. */
async function restoreSession(
  context: Context,
  email: string,
  address: string,
  token: string,
): Promise<SignedInByEmail> {
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

const sent = { ...done, message: 'Verification code sent' }

export const email = defineDomain(
  contract,
  {
    async sendLoginCode(input, context) {
      await sendLoginCode(context, input.email)
      return sent
    },

    login: ({ email, code, updates }, context) => loginByCode(context, email, code, updates),

    async sendLink(input, context) {
      await sendLink(context, input.email, input.redirect)
      return { ...done, message: 'Link sent' }
    },

    checkLink: ({ token }, context) => checkLink(context, token),

    openLink: ({ token, updates }, context) => loginByLink(context, token, updates),

    async sendCode({ email, walletAddress }, context) {
      const caller = attachingCaller(context, walletAddress)
      if (caller) await sendAttachCode(context, caller, email)
      else await sendLoginCode(context, email)
      return sent
    },

    verifyCode({ email, code, walletAddress, updates }, context) {
      const caller = attachingCaller(context, walletAddress)
      if (caller) return attachAddress(context, caller, code, email, updates)
      if (email === undefined) throw new AppError('VALIDATION_ERROR', { message: 'Email is required' })
      return loginByCode(context, email, code, updates)
    },

    async restoreSession({ email, address, token }, context) {
      const { account } = context.caller
      if (account !== null) {
        const record = await accountOf(account)
        const shown = { email: record?.email ?? null, walletAddress: account }
        return { ...done, message: 'Already signed in', authenticated: true, ...shown } as const
      }
      if (token === undefined) throw new AppError('UNAUTHORIZED', { message: 'Sign in again' })
      return restoreSession(context, email, address, token)
    },

    async remove(_input, context) {
      const caller = signedIn(context)
      const email = await emailOf(caller.account)
      await clearEmail(caller.account, context.node.now())
      await endOtherSessions(context.node, caller, 'email')
      if (email !== null)
        await notifyOfChange(context, caller.account, { change: 'removed', method: 'email', identifier: email }, [
          email,
        ])
      return done
    },
  },
  {
    jobs: [emailJob],
  },
)
