import { accountOf } from '#server/domains/people/accounts/accounts'
import { ownerView } from '#server/domains/people/accounts/profiles'
import { type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { identities as identitiesContract } from '#shared/api/people/identities'
import { identity as contract, SessionMethod } from '#shared/api/people/identity'
import { sessions as sessionsContract } from '#shared/api/people/sessions'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'
import { proveAdmin, writeAdminMessage } from './admin-proof.ts'
import { listDevices } from './devices.ts'
import { linkIdentity, listIdentities, unlinkIdentity } from './identities.ts'
import { recentSignInMethods } from './recent-methods.ts'
import { endAllSessions, endOtherDevices, endSession, followSessions } from './session-ends.ts'
import { identifyToken, type Tokens, validSessions } from './sessions.ts'
import { siweSettings, welcomeSettings } from './settings.ts'
import { refreshBySession, refreshByToken, signInBy } from './sign-in.ts'
import { proveMessage, writeMessage } from './siwe.ts'
import { proveSolana, writeSolana } from './siws.ts'
import { isRefreshToken } from './tokens.ts'

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
