import type { z } from 'zod'
import { restoreRestrictions } from '#server/domains/moderation/moderation/people'
import {
  accountOf,
  endWelcome,
  ensurePlazaAccount,
  recordRefresh,
  recordSignIn,
} from '#server/domains/people/accounts/accounts'
import { ownerView } from '#server/domains/people/accounts/profiles'
import { isSuspended, roleOf } from '#server/domains/people/accounts/roles'
import { makeFriends } from '#server/domains/people/friends/requests'
import { sendClearMessage } from '#server/domains/rooms/messages/send'
import { joinStaffRooms } from '#server/domains/rooms/room-state/membership'
import { joinAlpha } from '#server/domains/rooms/rooms/alpha'
import type { Caller, Context, Node } from '#server/kernel/context'
import type { Callers } from '#server/kernel/domain'
import type { AuthMethod, SignedInAnswer } from '#shared/api/people/identity'
import { identifyAdmin } from './admin-proof.ts'
import { accountOfIdentity, type ProvenIdentity } from './identities.ts'
import { type SessionRecord, Sessions } from './model.ts'
import { endSession, identifyCaller, storeSession, type Tokens, validSessions } from './sessions.ts'
import { welcomeSettings } from './settings.ts'
import { type ClientData, noSessionError, tokenHashOf } from './tokens.ts'

const hasWelcome = (node: Node): boolean => welcomeSettings.of(node).message !== null

/**
 * Plaza's welcome to a newcomer, and its friendship. It is sent once, even after simultaneous sign-ins or a failure.
 * Only the sender makes the friendship, so that an ended one does not return.
 */
async function sendWelcome(node: Node, account: string): Promise<void> {
  const { message } = welcomeSettings.of(node)
  if (message !== null) {
    const plaza = await ensurePlazaAccount(node.now())
    const sent = await sendClearMessage(node, plaza, account, { type: 'welcome', text: message, cid: 'welcome' })
    if (sent?.isNew) await makeFriends(node, plaza, account)
    if (sent === null) node.logger.warn({ actor: account }, 'a welcome was refused')
  }
  await endWelcome(account)
}

interface ProvenSignIn {
  authMethod: AuthMethod
  chainId?: number | null
  passkeyCredentialId?: string | null
  seen: ClientData
}

/** Begins a session for a proven account; the first one creates the account. */
export async function startSession(node: Node, account: string, proven: ProvenSignIn) {
  const { authMethod, chainId = null, passkeyCredentialId = null, seen } = proven
  const record = await recordSignIn(account, authMethod, node.now(), hasWelcome(node))
  await restoreRestrictions(node, account)
  const userId = record.user_id
  // What is written at the same time shares a commit.
  const [tokens] = await Promise.all([
    storeSession(node, { account, userId, authMethod, chainId, passkeyCredentialId, seen }),
    joinAlpha(node, account).catch((error: unknown) =>
      node.logger.warn({ actor: account, error }, 'did not join alpha at sign-in'),
    ),
    joinStaffRooms(node, account).catch((error: unknown) =>
      node.logger.warn({ actor: account, error }, 'did not join the rooms of the staff at sign-in'),
    ),
  ])
  if (record.welcome_due)
    await sendWelcome(node, account).catch((error: unknown) =>
      node.logger.warn({ actor: account, error }, 'was not welcomed, and is at the next sign-in'),
    )
  return { ...tokens, user: ownerView(record) }
}

/** Begins a session for a proven account, and ends the session that the client sent. */
export async function signIn(
  context: Context,
  account: string,
  proof: Omit<ProvenSignIn, 'seen'>,
): Promise<z.input<typeof SignedInAnswer>> {
  const { node, caller } = context
  const started = await startSession(node, account, { ...proof, seen: caller })
  const { sessionToken, refreshToken, user } = started
  context.http?.setSessionCookie(sessionToken)
  if (caller.account !== null && caller.session) await endSession(node, caller.account, caller.session.id)
  return { success: true, verified: true, authenticated: true, sessionToken, refreshToken, userAddress: account, user }
}

/** As `signIn`, for the account of this identity. */
export async function signInBy(
  context: Context,
  identity: ProvenIdentity,
  proof: Partial<Omit<ProvenSignIn, 'seen'>> = {},
) {
  const account = await accountOfIdentity(context.node, identity)
  return signIn(context, account, { authMethod: identity.method, ...proof })
}

/** A node that dies before it answers stores no time of the answer. */
const sameMomentMilliseconds = 10_000

/**
 * A new session for a refresh token, which is used up. A second use after that ends the whole family (RFC 9700,
 * 4.14.2), because one holder is a thief. A use that began before the first was answered is a simultaneous request.
 */
export async function refreshByToken(
  node: Node,
  token: string,
  seen: ClientData,
): Promise<Tokens & { account: string }> {
  const now = new Date(node.now())
  const refresh_hash = tokenHashOf(token)
  const taken = await Sessions.findOneAndUpdate(
    { refresh_hash, refreshed_at: null, refresh_expires_at: { $gt: now } },
    { $set: { refreshed_at: now } },
  ).lean<SessionRecord>()
  if (taken) {
    const tokens = await continueSession(node, taken, seen)
    await Sessions.updateOne({ _id: taken._id }, { $set: { refresh_answered_at: new Date(node.now()) } })
    return tokens
  }
  const known = await Sessions.findOne({ refresh_hash }).lean<SessionRecord>()
  if (!known) throw noSessionError('SESSION_NOT_FOUND')
  if (known.refreshed_at === null) throw noSessionError('SESSION_EXPIRED')
  if (!isSimultaneous(known, now)) await endSession(node, known.user_address, known._id)
  throw noSessionError('SESSION_INVALID')
}

/** A use that began before the first one was answered. */
function isSimultaneous({ refreshed_at, refresh_answered_at }: SessionRecord, began: Date): boolean {
  const end = refresh_answered_at?.getTime() ?? (refreshed_at?.getTime() ?? 0) + sameMomentMilliseconds
  return began.getTime() <= end
}

/** A new session beside the calling one, which stays valid until its expiry, so that running requests succeed. */
export async function refreshBySession(
  node: Node,
  sessionId: string,
  seen: ClientData,
): Promise<Tokens & { account: string }> {
  const record = await Sessions.findOne({ _id: sessionId }).lean<SessionRecord>()
  if (!record) throw noSessionError('SESSION_NOT_FOUND')
  return continueSession(node, record, seen)
}

async function continueSession(
  node: Node,
  record: SessionRecord,
  seen: ClientData,
): Promise<Tokens & { account: string }> {
  const { user_address: account, user_id: userId, auth_method: authMethod, chain_id: chainId } = record
  const passkeyCredentialId = record.passkey_credential_id ?? null
  const tokens = await storeSession(node, {
    account,
    userId,
    authMethod,
    chainId,
    passkeyCredentialId,
    seen,
    before: record,
  })
  if (!(await Sessions.findOne({ _id: record._id }, { _id: 1 }).lean())) {
    await Sessions.deleteOne({ _id: tokens.id })
    throw noSessionError('SESSION_NOT_FOUND')
  }
  await recordRefresh(account, node.now())
  return { ...tokens, account }
}

/**
 * The caller's part of `session:ready`. It is read after the socket is registered, so that a session that ended
 * meanwhile is noticed.
 */
const describeCaller =
  (node: Node) =>
  async ({ account, session }: Caller) => {
    if (account === null || !session) return null
    const [record, valid] = await Promise.all([accountOf(account), validSessions(node)([session.id])])
    if (valid.size === 0) throw noSessionError('SESSION_NOT_FOUND')
    return record ? ownerView(record) : null
  }

/** The functions by which both doors identify callers. */
export const callersOf = (node: Node): Callers => ({
  identify: identifyCaller(node),
  identifyAdmin: identifyAdmin(node),
  alive: validSessions(node),
  describe: describeCaller(node),
  roleOf: (account) => roleOf(node, account),
  isSuspended: (account) => isSuspended(node, account),
})
