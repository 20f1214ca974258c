import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { CallerAddress, Link, Mail, Time, WalletAddress, written } from '#shared/kit/primitives'

const authMethods = ['wallet', 'passkey', 'email', 'worldid', 'alien', 'solana'] as const
export const AuthMethod = z.enum(authMethods)
export type AuthMethod = z.infer<typeof AuthMethod>
/** Callers with a service token are bots, which never sign in. */
export const SessionMethod = z.enum([...authMethods, 'service'])

/** The account as its owner sees it. */
export const SignedInUser = z.object({
  id: z.string(),
  wallet_address: z.string(),
  wallet_type: z.string().nullable(),
  chain: z.string().nullable(),
  username: z.string().nullable(),
  ens_name: z.string().nullable(),
  display_name: z.string().nullable(),
  avatar_url: Link.nullable(),
  email: Mail.nullable(),
  email_verified: z.boolean(),
  email_updates_opt_in: z.boolean(),
  beta_access: z.boolean(),
  subscription_tier: z.enum(['free', 'pro', 'enterprise']),
  subscription_expires_at: Time.nullable(),
  points: z.number(),
  invite_count: z.number(),
  is_banned: z.boolean(),
  role: z.enum(['user', 'admin', 'super_admin']),
})
export type SignedInUser = z.infer<typeof SignedInUser>

const SolanaAddress = written(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'Invalid Solana address')
const Token = z.string().min(1).max(4096)

/** What every way of signing in answers. */
export const SignedInAnswer = z.object({
  success: z.literal(true),
  verified: z.literal(true),
  authenticated: z.literal(true),
  /** Good as a bearer for 7 days. */
  sessionToken: z.string(),
  /** Good for `POST /api/auth/session` alone, once, for 30 days. */
  refreshToken: z.string(),
  userAddress: z.string(),
  user: SignedInUser,
})

/** What a wallet shows for its address. */
export const SignedMessage = z.object({
  address: WalletAddress,
  message: z.string().min(1).max(4096),
  signature: z.string().min(1).max(16_386),
})

/** The same of a Solana wallet; the key it signs with is its address. */
export const SignedSolanaMessage = z.object({
  address: SolanaAddress.optional(),
  publicKey: SolanaAddress.optional(),
  message: z.string().min(1).max(4096),
  signature: z.string().min(1).max(4096),
})

/** How a signed message can be refused, whatever it was signed for. */
export const messageErrors = [
  'INVALID_SIGNATURE',
  'INVALID_NONCE',
  'NONCE_EXPIRED',
  'INVALID_DOMAIN',
  'CHAIN_NOT_SUPPORTED',
] as const

export const identity = {
  begin: operation({
    summary: 'A message for a wallet to sign.',
    http: 'GET /api/auth/verify',
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    claim: ({ address }) => address,
    input: z.object({ address: WalletAddress, chainId: z.number().int().positive().optional() }),
    output: z.object({ message: z.string(), nonce: z.string() }),
    errors: ['CHAIN_NOT_SUPPORTED'],
    errorBody: 'text',
  }),
  verify: operation({
    summary: 'Signs in with a signed message and sets the session cookie.',
    http: 'POST /api/auth/verify',
    access: 'public',
    limit: 'strict',
    cost: 'cheap',
    repeat: 'harmless',
    claim: ({ address }) => address,
    whileSuspended: 'signs in',
    input: SignedMessage,
    output: SignedInAnswer,
    errors: [...messageErrors, 'UPSTREAM_ERROR'],
    audit: true,
    errorBody: 'text',
  }),
  beginSolana: operation({
    summary: 'A message for a Solana wallet to sign.',
    http: 'GET /api/auth/verify-solana',
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    claim: ({ address }) => address,
    input: z.object({ address: SolanaAddress }),
    output: z.object({ message: z.string(), nonce: z.string() }),
    errorBody: 'text',
  }),
  verifySolana: operation({
    summary: 'Signs in with a message that a Solana wallet signed; `publicKey` may stand for `address`.',
    http: 'POST /api/auth/verify-solana',
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    claim: ({ address, publicKey }) => address ?? publicKey,
    whileSuspended: 'signs in',
    input: SignedSolanaMessage,
    output: SignedInAnswer,
    errors: messageErrors,
    audit: true,
    errorBody: 'text',
  }),
  beginAdmin: operation({
    summary:
      'A message for the wallet of an admin to sign. Shown in the headers `X-Admin-Address`, `X-Admin-Signature` and `X-Admin-Message` (base64 of the URI-encoded message), it is as good as a session for every operation of admins, for a day; it signs nobody in.',
    http: 'GET /api/admin/verify',
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    claim: ({ address }) => address,
    input: z.object({ address: WalletAddress }),
    output: z.object({ message: z.string(), nonce: z.string() }),
    errorBody: 'text',
  }),
  verifyAdmin: operation({
    summary:
      'Whether a signed message proves an admin who may act now; it begins no session, and the message stays good.',
    http: 'POST /api/admin/verify',
    access: 'public',
    limit: 'strict',
    cost: 'cheap',
    repeat: 'harmless',
    claim: ({ address }) => address,
    whileSuspended: 'signs in',
    input: SignedMessage,
    output: z.object({
      success: z.literal(true),
      isAdmin: z.literal(true),
      isSuperAdmin: z.boolean(),
      address: z.string(),
    }),
    errors: [...messageErrors, 'UPSTREAM_ERROR'],
    audit: true,
    errorBody: 'text',
  }),
  session: operation({
    summary: 'The current session and its account.',
    http: 'GET /api/auth/session',
    access: 'user',
    limit: 'session',
    cost: 'cheap',
    input: z.object({}),
    output: z.object({
      authenticated: z.literal(true),
      userAddress: z.string(),
      authMethod: SessionMethod,
      userId: z.string(),
      session: z.object({
        userAddress: z.string(),
        authMethod: SessionMethod,
        expiresAt: Time,
        userId: z.string(),
      }),
      user: SignedInUser.nullable(),
    }),
    errorBody: 'text',
  }),
  refresh: operation({
    summary: 'A fresh session from a refresh token, or from the calling session.',
    http: 'POST /api/auth/session',
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    claim: ({ refreshToken, sessionToken, token }) => refreshToken ?? sessionToken ?? token,
    whileSuspended: 'signs in',
    input: z.object({
      token: Token.nullish(),
      sessionToken: Token.nullish(),
      refreshToken: Token.nullish(),
      userAddress: CallerAddress,
    }),
    output: z.object({
      success: z.literal(true),
      extended: z.literal(true),
      authenticated: z.literal(true),
      sessionToken: z.string(),
      refreshToken: z.string(),
      userAddress: z.string(),
      expiresAt: Time,
    }),
    audit: true,
    errorBody: 'text',
  }),
  logout: operation({
    summary: 'Ends every session of the account, or with `allDevices: false` the calling one.',
    http: 'POST /api/auth/logout',
    access: 'public',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    whileSuspended: 'withdraws',
    input: z.object({ allDevices: z.boolean().default(true) }),
    output: z.object({ success: z.literal(true), message: z.string() }),
    audit: true,
    errorBody: 'text',
  }),
  renewConnection: operation({
    summary: 'Lets a connection go on with a newer session of the same account.',
    socket: '* session:refresh',
    access: 'user',
    limit: 'auth',
    cost: 'cheap',
    whileSuspended: 'signs in',
    input: z.object({ token: Token }),
    output: z.object({ expires_at: Time }),
  }),
}
