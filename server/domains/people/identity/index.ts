import { ed25519 } from '@noble/curves/ed25519.js'
import { base58 } from '@scure/base'
import type { z } from 'zod'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { emailAccountId } from '#server/domains/people/accounts/emails'
import { type Passkey, Passkeys, type Phone, Phones } from '#server/domains/people/accounts/model'
import { ownerView } from '#server/domains/people/accounts/profiles'
import { type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { identities as identitiesContract, type RecentWay } from '#shared/api/people/identities'
import { identity as contract, SessionMethod } from '#shared/api/people/identity'
import { sessions as sessionsContract } from '#shared/api/people/sessions'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { deviceIn } from '#shared/kit/device'
import { done } from '#shared/kit/primitives'
import { proveAdmin, writeAdminMessage } from './admin-proof.ts'
import { listDevices } from './devices.ts'
import { linkIdentity, listIdentities, unlinkIdentity } from './identities.ts'
import { Identities, type IdentityRecord } from './model.ts'
import {
  endAllSessions,
  endOtherDevices,
  endSession,
  followSessions,
  identifyToken,
  type Tokens,
  validSessions,
} from './sessions.ts'
import { siweSettings, welcomeSettings } from './settings.ts'
import { refreshBySession, refreshByToken, signInBy } from './sign-in.ts'
import {
  checkNonce,
  checkTimes,
  checkWords,
  consumeNonce,
  isForUs,
  isSignInStatement,
  issueNonce,
  proveMessage,
  signInStatement,
  sitesOf,
  type WalletRequest,
  writeMessage,
} from './siwe.ts'
import { isRefreshToken } from './tokens.ts'

const weekMilliseconds = 7 * 24 * 60 * 60 * 1000

/** The sign-in methods of the last week, newest first: a thief may have added one. */
async function recentSignInMethods(account: string, now: number): Promise<z.input<typeof RecentWay>[]> {
  const since = new Date(now - weekMilliseconds)
  const [records, passkeys, phone, owner] = await Promise.all([
    Identities.find({ account, created_at: { $gt: since } }).lean<IdentityRecord[]>(),
    Passkeys.find({ user_address: account, created_at: { $gt: since } }).lean<Passkey[]>(),
    Phones.findOne({ _id: account, verified: true, verified_at: { $gt: since } }).lean<Phone>(),
    accountOf(account),
  ])
  const { email, email_verified_at: verifiedAt } = owner ?? {}
  const isLinkedEmail =
    email !== undefined && verifiedAt && verifiedAt > since && !isSameAccount(account, emailAccountId(email))
  const ways = [
    ...records
      .filter(({ identifier }) => !isSameAccount(identifier, account))
      .map(({ _id, method, identifier, created_at }) => ({
        kind: 'identity' as const,
        id: _id,
        method,
        identifier,
        linked_at: created_at.toISOString(),
      })),
    ...passkeys.map(({ _id, display_name, user_agent, created_at }) => ({
      kind: 'passkey' as const,
      id: _id,
      method: 'passkey' as const,
      identifier: display_name ?? deviceIn(user_agent) ?? 'Passkey',
      linked_at: created_at.toISOString(),
    })),
    ...(phone?.verified_at
      ? [
          {
            kind: 'phone' as const,
            id: null,
            method: 'phone' as const,
            identifier: phone.phone_number,
            linked_at: phone.verified_at.toISOString(),
          },
        ]
      : []),
    ...(isLinkedEmail
      ? [
          {
            kind: 'email' as const,
            id: null,
            method: 'email' as const,
            identifier: email,
            linked_at: verifiedAt.toISOString(),
          },
        ]
      : []),
  ]
  return ways.sort((one, other) => other.linked_at.localeCompare(one.linked_at))
}

/** The fields of a Solana sign-in message. */
interface SolanaMessage {
  domain: string
  address: string
  statement?: string | undefined
  uri: string
  chainId?: string | undefined
  nonce: string
  issuedAt: string
  expirationTime?: string | undefined
  notBefore?: string | undefined
  resources?: string | undefined
}

const line = (name: string, value: string, group: string) => `\\n${name}: (?<${group}>${value})`
const optional = (pattern: string) => `(?:${pattern})?`
const time = '\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?(?:Z|[+-]\\d{2}:\\d{2})'
const layout = new RegExp(
  [
    '^(?<domain>[^\\s]{1,255}) wants you to sign in with your Solana account:',
    '\\n(?<address>[1-9A-HJ-NP-Za-km-z]{32,44})\\n',
    optional('\\n(?<statement>[^\\n\\r]{1,1000})\\n'),
    line('URI', '\\S{1,2048}', 'uri'),
    '\\nVersion: 1',
    optional(line('Chain ID', '[\\w:-]{1,64}', 'chainId')),
    line('Nonce', '[A-Za-z0-9]{8,64}', 'nonce'),
    line('Issued At', time, 'issuedAt'),
    optional(line('Expiration Time', time, 'expirationTime')),
    optional(line('Not Before', time, 'notBefore')),
    optional('\\nRequest ID: \\S{0,255}'),
    optional('\\nResources:(?<resources>(?:\\n- \\S{1,2048}){0,20})'),
    '$',
  ].join(''),
)

/** The fields of a message that matches the layout line by line; null for other texts. */
export function readSolanaMessage(raw: string): SolanaMessage | null {
  const fields = layout.exec(raw)?.groups
  return fields ? ({ ...fields } as unknown as SolanaMessage) : null
}

export const writeSolanaMessage = ({ domain, address, statement, uri, nonce, issuedAt }: SolanaMessage): string =>
  [
    `${domain} wants you to sign in with your Solana account:`,
    `${address}\n`,
    ...(statement === undefined ? [] : [`${statement}\n`]),
    `URI: ${uri}`,
    'Version: 1',
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
  ].join('\n')

interface SignedInput {
  address?: string | undefined
  publicKey?: string | undefined
  message: string
  signature: string
}

const keyBytes = 32
const signatureBytes = 64
const longestSignature = 90
const chains = /^(solana:)?(mainnet|testnet|devnet|localnet)$/

/** A message for this wallet to sign, with a new nonce. Its address is the case-sensitive key. */
async function writeSolana({ node, origin, caller }: WalletRequest, address: string) {
  keyOf(address)
  const now = node.now()
  const nonce = await issueNonce(address, now, caller.account)
  const [site] = sitesOf({ node, origin })
  return {
    message: writeSolanaMessage({
      ...site,
      address,
      statement: signInStatement,
      nonce,
      issuedAt: new Date(now).toISOString(),
    }),
    nonce,
  }
}

/** Verifies that the wallet signed this message for us, uses the nonce up, and returns the address. */
async function proveSolana(
  asked: WalletRequest,
  { address, publicKey = address, ...signed }: SignedInput,
): Promise<string> {
  if (publicKey === undefined) throw new AppError('VALIDATION_ERROR', { message: 'address is required' })
  if (address !== undefined && !isSameAccount(address, publicKey))
    throw new AppError('VALIDATION_ERROR', { message: 'address and publicKey differ' })
  const key = keyOf(publicKey)
  const now = asked.node.now()
  const message = readSolanaMessage(signed.message)
  if (!message || !isSameAccount(message.address, publicKey)) throw new AppError('INVALID_SIGNATURE')
  if (!isForUs(asked, message)) throw new AppError('INVALID_DOMAIN')
  checkWords(message, isSignInStatement)
  if (message.chainId !== undefined && !chains.test(message.chainId)) throw new AppError('CHAIN_NOT_SUPPORTED')
  checkTimes(message, await checkNonce(message.nonce, publicKey, now), now)
  if (!isSignatureValid(key, signed.message, signed.signature)) throw new AppError('INVALID_SIGNATURE')
  await consumeNonce(message.nonce, publicKey, asked.caller.account)
  return publicKey
}

function keyOf(address: string): Uint8Array {
  const key = base58.decode(address)
  if (key.length !== keyBytes) throw new AppError('VALIDATION_ERROR', { message: 'Invalid Solana address' })
  return key
}

/** By the strict rules: no key of small order, and one form of each signature. */
export function isSignatureValid(key: Uint8Array, message: string, signature: string): boolean {
  if (signature.length > longestSignature) return false
  try {
    const bytes = base58.decode(signature)
    const text = new TextEncoder().encode(message)
    return bytes.length === signatureBytes && ed25519.verify(bytes, text, key, { zip215: false })
  } catch {
    return false
  }
}

export const identity = defineDomain(
  contract,
  {
    begin: ({ address, chainId }, context) => writeMessage(context, address, chainId),

    async verify({ address, message, signature }, context) {
      const { chainId } = await proveMessage(context, message, address, signature)
      return signInBy(context, { method: 'wallet', identifier: address }, { chainId })
    },

    beginSolana: ({ address }, context) => writeSolana(context, address),

    async verifySolana(signed, context) {
      return signInBy(context, { method: 'solana', identifier: await proveSolana(context, signed) })
    },

    beginAdmin: ({ address }, context) => writeAdminMessage(context, address),

    async verifyAdmin(signed, context) {
      const { account, role } = await proveAdmin(context, signed)
      return { ...done, isAdmin: true as const, isSuperAdmin: role === 'super_admin', address: account }
    },

    async session(_input, context) {
      const { account, session } = signedIn(context)
      const record = await accountOf(account)
      const authMethod = SessionMethod.parse(session.authMethod)
      const shown = { userAddress: account, authMethod, userId: session.userId }
      const expiresAt = new Date(session.expiresAt).toISOString()
      const authenticated = true as const
      return { authenticated, ...shown, session: { ...shown, expiresAt }, user: record && ownerView(record) }
    },

    async refresh(input, context) {
      const { sessionToken, refreshToken, expiresAt, account } = await freshTokens(input, context)
      context.http?.setSessionCookie(sessionToken)
      return {
        ...refreshedOutput,
        sessionToken,
        refreshToken,
        userAddress: account,
        expiresAt: new Date(expiresAt).toISOString(),
      }
    },

    async logout({ allDevices }, context) {
      const { account, session } = context.caller
      context.http?.setSessionCookie(null)
      if (account === null || !session) return { ...done, message: 'Nobody was signed in' }
      if (allDevices) await endAllSessions(context.node, account)
      else await endSession(context.node, account, session.id)
      return { ...done, message: 'Signed out' }
    },

    async renewConnection({ token }, context) {
      const { account } = signedIn(context)
      const renewed = await identifyToken(context.node, token, context.caller)
      if (!isSameAccount(renewed.account, account))
        throw new AppError('FORBIDDEN', { message: 'The token is of another account' })
      context.connection?.renew(renewed)
      return { expires_at: new Date(renewed.session.expiresAt).toISOString() }
    },
  },
  { settings: siweSettings },
)

export const sessions = defineDomain(
  sessionsContract,
  {
    list: async (_input, context) => ({ sessions: await listDevices(context.node, signedIn(context)) }),

    async end({ id }, context) {
      const { account, session } = signedIn(context)
      if (!(await endSession(context.node, account, id))) throw new AppError('NOT_FOUND')
      if (!(await validSessions(context.node)([session.id])).has(session.id)) context.http?.setSessionCookie(null)
      return done
    },

    async endOthers(_input, context) {
      const caller = signedIn(context)
      await endOtherDevices(context.node, caller)
      return { ...done, recently_linked: await recentSignInMethods(caller.account, context.node.now()) }
    },
  },
  {
    settings: welcomeSettings,
    start: (node) => [followSessions(node)],
  },
)

export const identities = defineDomain(identitiesContract, {
  list: async (_input, context) => ({ identities: await listIdentities(signedIn(context).account) }),

  async linkWallet({ address, message, signature }, context) {
    await proveMessage(context, message, address, signature)
    return linkIdentity(context, { method: 'wallet', identifier: address })
  },

  async linkSolana(signed, context) {
    return linkIdentity(context, { method: 'solana', identifier: await proveSolana(context, signed) })
  },

  async unlink({ id }, context) {
    await unlinkIdentity(context, id)
    return done
  },
})

const refreshedOutput = { ...done, extended: true, authenticated: true } as const

type GivenTokens = { readonly [name in 'token' | 'sessionToken' | 'refreshToken']?: string | null | undefined }

/** New tokens for the one token in the body, of either kind; by default for the calling session. */
async function freshTokens(given: GivenTokens, context: Context): Promise<Tokens & { account: string }> {
  const { node, caller } = context
  const [token, other] = new Set([given.refreshToken, given.token, given.sessionToken].filter((one) => one != null))
  if (other !== undefined) throw new AppError('VALIDATION_ERROR', { message: 'Two different tokens' })
  if (token === undefined) return refreshBySession(node, signedIn(context).session.id, caller)
  if (given.refreshToken != null || isRefreshToken(token)) return refreshByToken(node, token, caller)
  const { session } = await identifyToken(node, token, caller)
  return refreshBySession(node, session.id, caller)
}
