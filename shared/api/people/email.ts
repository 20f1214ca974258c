import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Address, CallerAddress, Done, Mail } from '#shared/kit/primitives'
import { SignedInAnswer } from './identity.ts'

const localPart = String.raw`(?!\.)(?!.*\.\.)[A-Za-z0-9_'+\-.]*[A-Za-z0-9_+-]`
const topLevel = String.raw`(?:[A-Za-z]{2,}|xn--[A-Za-z0-9-]{1,59})`
const mailbox = new RegExp(String.raw`^${localPart}@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+${topLevel}$`)

/** The address of a mailbox, also below a top-level domain in another script. */
export const Mailbox = (error?: string) => z.email({ pattern: mailbox, ...(error && { error }) })

/**
 * The one form of each address: lower case, trimmed, with its domain as in lookups (IDNA). Lists, names and several lines are
 * refused.
 */
export const EmailAddress = z
  .string('Email is required')
  .trim()
  .toLowerCase()
  .max(254, 'Invalid email format')
  .overwrite(withPlainDomain)
  .max(254, 'Invalid email format')
  .pipe(Mailbox('Invalid email format'))

function withPlainDomain(address: string): string {
  const [, local = '', domain = ''] = /^([^@]+)@([^\s@/?#:\\[\]%]+)$/.exec(address) ?? []
  // Signs that only look like letters of a domain name no other one.
  const isPlain = /^[\0-\x7f]*$/.test(domain) || domain.normalize('NFKC') !== domain.normalize('NFC')
  return isPlain || !URL.canParse(`http://${domain}`) ? address : `${local}@${new URL(`http://${domain}`).hostname}`
}

export const Code = z
  .string('Code is required')
  .trim()
  .regex(/^\d{6}$/, { error: 'Invalid verification code' })
/** Where to go on after the sign-in: a path of this site. */
const Path = z
  .string()
  .max(500)
  .regex(/^\/(?![/\\])[\w\-./~%?=&#:]*$/, { error: 'Invalid redirect: only a path of this site' })

const Sent = z.object({ success: z.literal(true), message: z.string() })
/** What every sign-in by e-mail answers. */
const SignedIn = SignedInAnswer.extend({ message: z.string(), email: Mail, walletAddress: z.string() })
const Attached = z.object({
  success: z.literal(true),
  message: z.string(),
  email: Mail,
  /** Given once in the life of an account. */
  pointsAwarded: z.number(),
})
/** Whether an account that verifies its address wants emails with news; the default is yes. */
const news = { updates: z.boolean().optional() }
const codeErrors = ['INVALID_CODE', 'CODE_EXPIRED', 'TOO_MANY_ATTEMPTS'] as const

const login = {
  sendLoginCode: operation({
    summary:
      'Sends a code of six digits that signs in, good for ten minutes. The answer is the same for every address.',
    http: 'POST /api/email/login/send-code',
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    claim: ({ email }) => email,
    whileSuspended: 'signs in',
    input: z.object({ email: EmailAddress }),
    output: Sent,
    audit: true,
    errorBody: 'text',
  }),
  login: operation({
    summary:
      'Signs in with a code, into the account that has verified the address, else into the one of the address itself.',
    http: 'POST /api/email/login/verify',
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    claim: ({ email }) => email,
    whileSuspended: 'signs in',
    input: z.object({ email: EmailAddress, code: Code, ...news }),
    output: SignedIn,
    errors: codeErrors,
    audit: true,
    errorBody: 'text',
  }),
  sendLink: operation({
    summary: 'Sends a link that signs in once, within fifteen minutes. The answer is the same for every address.',
    http: 'POST /api/email/login/send-link',
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    claim: ({ email }) => email,
    whileSuspended: 'signs in',
    input: z.object({ email: EmailAddress, redirect: Path.optional() }),
    output: Sent,
    audit: true,
    errorBody: 'text',
  }),
  checkLink: operation({
    summary:
      'Whom a link signs in, and whether this browser asked for it; uses nothing up. Ask the person unless it did.',
    http: 'POST /api/email/login/link/check',
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    whileSuspended: 'signs in',
    input: z.object({ token: z.string('Token is required').min(1).max(200) }),
    output: z.object({ email: Mail, asked_here: z.boolean() }),
    errors: ['INVALID_LINK'],
    errorBody: 'text',
  }),
  openLink: operation({
    summary: 'Signs in with the token of a link. A browser may come here from a page of ours alone.',
    http: 'POST /api/email/login/link',
    aliases: [{ http: 'GET /api/email/login/link' }],
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    claim: ({ token }) => token,
    whileSuspended: 'signs in',
    input: z.object({ token: z.string('Token is required').min(1).max(200), ...news }),
    output: SignedIn,
    errors: ['INVALID_LINK'],
    audit: true,
    errorBody: 'text',
  }),
}

const addresses = {
  sendCode: operation({
    summary:
      'Sends a code: to add the address to the account that calls, or where nobody is signed in, to sign in. The answer is the same for every address.',
    http: 'POST /api/email/send-code',
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    claim: ({ email }) => email,
    freshProof: { unless: [] },
    input: z.object({ email: EmailAddress, walletAddress: CallerAddress }),
    output: Sent,
    audit: true,
    errorBody: 'text',
  }),
  verifyCode: operation({
    summary: 'Takes the code of `POST /api/email/send-code`: adds the address to the account that calls, or signs in.',
    http: 'POST /api/email/verify-code',
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    claim: ({ email }) => email,
    freshProof: { unless: [] },
    input: z.object({ email: EmailAddress.optional(), code: Code, walletAddress: CallerAddress, ...news }),
    output: z.union([SignedIn, Attached]),
    errors: [...codeErrors, 'EMAIL_IN_USE'],
    audit: true,
    errorBody: 'text',
  }),
  restoreSession: operation({
    summary:
      'Goes on with a session that lives, or that a token of ours proves. Knowing address and account is not enough.',
    http: 'POST /api/email/restore-session',
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    claim: ({ email }) => email,
    whileSuspended: 'signs in',
    input: z.object({
      email: EmailAddress,
      address: z.string('Address is required').pipe(Address).meta({ 'names-caller': true }),
      token: z.string().min(1).max(4096).optional(),
    }),
    output: z.union([
      SignedIn,
      z.object({
        success: z.literal(true),
        message: z.string(),
        authenticated: z.literal(true),
        email: Mail.nullable(),
        walletAddress: z.string(),
      }),
    ]),
    audit: true,
    errorBody: 'text',
  }),
  remove: operation({
    summary: 'Takes the address off the account that calls, and ends its other sessions that began by e-mail.',
    http: 'POST /api/email/remove',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    freshProof: { unless: [] },
    whileSuspended: 'protects',
    input: z.object({ walletAddress: CallerAddress }),
    output: Done,
    audit: true,
    errorBody: 'text',
  }),
}

export const email = { ...login, ...addresses }
