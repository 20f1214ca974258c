import { randomBytes } from 'node:crypto'
import { endAdminProofs, recordActivity } from '#server/domains/people/accounts/accounts'
import { sessionsEnded } from '#server/domains/people/accounts/events'
import { isRowOf, unsignedEntry } from '#server/domains/rooms/events/define'
import type { Caller, Node, SignedIn } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { GLOBAL, type Row } from '#server/log/types'
import type { AuthMethod } from '#shared/api/people/identity'
import { type ServiceTokenRecord, ServiceTokens, type SessionRecord, Sessions } from './model.ts'
import {
  type ClientData,
  newRefreshToken,
  noSessionError,
  readToken,
  sessionSeconds,
  signToken,
  tokenHashOf,
} from './tokens.ts'

const botTouchMilliseconds = 60_000
const prefix = 'plaza_'

export const newServiceToken = () => prefix + randomBytes(32).toString('base64url')
const isServiceToken = (token: string) => token.startsWith(prefix)

/** The bot of a service token, with its scopes. The record is read each time, so a revoked token ends at once. */
async function identifyBot(node: Node, token: string, { ip, userAgent }: ClientData): Promise<SignedIn> {
  const record = await ServiceTokens.findOne({ token_hash: tokenHashOf(token) }).lean<ServiceTokenRecord>()
  if (!record) throw noSessionError('SESSION_NOT_FOUND')
  if (record.expires_at.getTime() <= node.now()) throw noSessionError('SESSION_EXPIRED')
  touchBot(node, record)
  const session = {
    id: record._id,
    authMethod: 'service',
    chainId: null,
    passkeyCredentialId: null,
    userId: record.user_id,
    expiresAt: record.expires_at.getTime(),
    provenAt: null,
  }
  return { account: record.account, session, scopes: record.scopes, ip, userAgent }
}

/** Records the use of a token at most once a minute, without a wait. */
function touchBot(node: Node, { _id, last_used_at }: ServiceTokenRecord): void {
  const now = node.now()
  if (last_used_at !== null && now - last_used_at.getTime() < botTouchMilliseconds) return
  ServiceTokens.updateOne({ _id }, { $set: { last_used_at: new Date(now) } })
    .exec()
    .catch((error: unknown) => node.logger.warn({ error }, 'the use of a service token was not noted'))
}

const refreshMilliseconds = 30 * 24 * 60 * 60 * 1000
/** The limit of all refreshes. */
const longestMilliseconds = 90 * 24 * 60 * 60 * 1000
const touchMilliseconds = 60_000

export interface Tokens {
  id: string
  sessionToken: string
  refreshToken: string
  expiresAt: number
}

interface NewSession {
  account: string
  userId: string
  authMethod: AuthMethod
  chainId: number | null
  passkeyCredentialId: string | null
  seen: ClientData
  /** The session that it continues; by default it begins a new family. */
  before?: Pick<SessionRecord, 'family' | 'proven_at' | 'created_at'>
}

/** Stores a new session and returns its tokens, which are not stored. */
export async function storeSession(node: Node, session: NewSession): Promise<Tokens> {
  const id = newId()
  const { account, userId, authMethod, chainId, passkeyCredentialId, seen, before } = session
  const now = node.now()
  const proven_at = before ? (before.proven_at ?? before.created_at) : new Date(now)
  const end = proven_at.getTime() + longestMilliseconds
  const iat = Math.floor(now / 1000)
  const exp = Math.min(iat + sessionSeconds, Math.floor(end / 1000))
  if (exp <= iat) throw noSessionError('SESSION_EXPIRED')
  const sessionToken = await signToken(node.settings.sessionKeys, {
    address: account,
    authMethod,
    ...(chainId === null ? {} : { chainId }),
    ...(passkeyCredentialId === null ? {} : { passkeyCredentialId }),
    jti: id,
    iat,
    exp,
  })
  const refreshToken = newRefreshToken()
  const created_at = new Date(now)
  await Sessions.create({
    _id: id,
    family: before?.family ?? id,
    user_address: account,
    user_id: userId,
    token_hash: tokenHashOf(sessionToken),
    auth_method: authMethod,
    chain_id: chainId,
    passkey_credential_id: passkeyCredentialId,
    created_at,
    proven_at,
    expires_at: new Date(exp * 1000),
    last_used_at: created_at,
    user_agent: seen.userAgent,
    ip_address: seen.ip,
    refresh_hash: tokenHashOf(refreshToken),
    refresh_expires_at: new Date(Math.min(now + refreshMilliseconds, end)),
    refreshed_at: null,
  })
  return { id, sessionToken, refreshToken, expiresAt: exp * 1000 }
}

/** Identifies the caller of a credential. A token is valid only with its record, which is read each time. */
export const identifyCaller =
  (node: Node) =>
  async (credential: string | null, seen: ClientData): Promise<Caller> => {
    if (credential === null) return { account: null, session: null, ip: seen.ip, userAgent: seen.userAgent }
    if (isScheduler(node, credential)) return { account: null, session: null, ...seen, isScheduler: true }
    return identifyToken(node, credential, seen)
  }

const isScheduler = ({ settings: { cronSecret } }: Node, credential: string) =>
  cronSecret !== null && tokenHashOf(credential) === tokenHashOf(cronSecret)

export async function identifyToken(node: Node, token: string, seen: ClientData): Promise<SignedIn> {
  if (isServiceToken(token)) return identifyBot(node, token, seen)
  const { ip, userAgent } = seen
  const { jti } = await readToken(node.settings.sessionKeys, token, node.now())
  const record = await Sessions.findOne({ token_hash: tokenHashOf(token) }).lean<SessionRecord>()
  if (!record || record._id !== jti) throw noSessionError('SESSION_NOT_FOUND')
  if (record.expires_at.getTime() <= node.now()) throw noSessionError('SESSION_EXPIRED')
  touch(node, record)
  const session = {
    id: record._id,
    authMethod: record.auth_method,
    chainId: record.chain_id,
    passkeyCredentialId: record.passkey_credential_id ?? null,
    userId: record.user_id,
    expiresAt: record.expires_at.getTime(),
    provenAt: record.proven_at?.getTime() ?? 0,
  }
  return { account: record.user_address, session, ip, userAgent }
}

/** Records the use of a session at most once a minute, without a wait. */
function touch(node: Node, { _id, user_address, last_used_at }: SessionRecord): void {
  const now = node.now()
  const due = now - touchMilliseconds
  if (last_used_at.getTime() > due) return
  const noted = Sessions.updateOne(
    { _id, last_used_at: { $lte: new Date(due) } },
    { $set: { last_used_at: new Date(now) } },
  )
  void Promise.all([noted.exec(), recordActivity(user_address, now)]).catch((error: unknown) =>
    node.logger.warn({ error }, 'the use of a session was not noted'),
  )
}

/** The valid sessions and service tokens among these. */
export const validSessions =
  (node: Node) =>
  async (ids: readonly string[]): Promise<ReadonlySet<string>> => {
    const sessions = await Sessions.find(named(ids), { expires_at: 1 }).lean<SessionRecord[]>()
    const known = new Set(sessions.map(({ _id }) => _id))
    const others = ids.filter((id) => !known.has(id))
    const tokens =
      others.length > 0 ? await ServiceTokens.find(named(others), { expires_at: 1 }).lean<ServiceTokenRecord[]>() : []
    const valid = [...sessions, ...tokens].filter(({ expires_at }) => expires_at.getTime() > node.now())
    return new Set(valid.map(({ _id }) => _id))
  }

const named = (ids: readonly string[]) => ({ _id: { $in: [...ids] } })

/** Ends every session of an account on all nodes. */
export async function endAllSessions(node: Node, account: string): Promise<void> {
  await endAdminProofs(account, node.now())
  await deleteAll({ user_address: account })
  await announceSessionEnd(node, account, 'all')
}

/** Ends an account's sessions of this method. */
export async function endSessionsBy(node: Node, account: string, auth_method: AuthMethod): Promise<void> {
  await endSessionsWhere(node, account, { user_address: account, auth_method })
}

/** Ends a session with all of its family; false if the account has no such session. */
export async function endSession(node: Node, account: string, id: string): Promise<boolean> {
  const record = await Sessions.findOne({ _id: id, user_address: account }).lean<SessionRecord>()
  if (!record) return false
  await announceSessionEnd(node, account, await deleteAll({ family: record.family }))
  return true
}

/** Ends the caller's other sessions of this method, except those of the same family. */
export async function endOtherSessions(node: Node, { account, session }: SignedIn, method: AuthMethod): Promise<void> {
  const mine = await Sessions.findOne({ _id: session.id }, { family: 1 }).lean<SessionRecord>()
  const family = { $ne: mine?.family ?? session.id }
  await endSessionsWhere(node, account, { user_address: account, family, auth_method: method })
}

/** Ends every session except the calling one. A thief may have refreshed a stolen token, so the family ends too. */
export async function endOtherDevices(node: Node, { account, session }: SignedIn): Promise<void> {
  await endAdminProofs(account, node.now())
  await endSessionsWhere(node, account, { user_address: account, _id: { $ne: session.id } })
}

async function endSessionsWhere(node: Node, account: string, which: object): Promise<void> {
  const ids = await deleteAll(which)
  if (ids.length > 0) await announceSessionEnd(node, account, ids)
}

/**
 * Repeats until none is left. A session that is being refreshed is deleted by a later pass, or its refresh fails
 * without the old record.
 */
async function deleteAll(which: object, gone: readonly string[] = []): Promise<readonly string[]> {
  const found = await Sessions.find(which, { _id: 1 }).lean<SessionRecord[]>()
  const ids = found.map(({ _id }) => _id)
  if (ids.length === 0) return gone
  await Sessions.deleteMany({ _id: { $in: ids } })
  return deleteAll(which, [...gone, ...ids])
}

/** The records are already deleted, so no door accepts the tokens. The row closes the sockets on every node. */
export async function announceSessionEnd(node: Node, account: string, ids: readonly string[] | 'all'): Promise<void> {
  await node.log.act(GLOBAL, {
    sender: account,
    makes: sessionsEnded,
    judge: () => ({ accept: unsignedEntry(sessionsEnded, { ids }, { target: account }) }),
  })
}

/** Closes sockets of ended sessions on this node, whichever node ended them. */
export function followSessions(node: Node): () => void {
  const held = node.log.hold(GLOBAL)
  held.catch((error: unknown) => node.logger.error({ error }, 'ended sessions are not followed'))
  node.log.onRows((room, rows) => {
    if (room !== GLOBAL) return
    for (const row of rows) if (isRowOf(row, sessionsEnded)) closeSockets(node, row)
  })
  return () => {}
}

function closeSockets(node: Node, { target, body: { ids } }: Row): void {
  if (target === null) return
  const named = Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : 'all'
  node.live.endSessions(target, named, 'SESSION_NOT_FOUND')
}
