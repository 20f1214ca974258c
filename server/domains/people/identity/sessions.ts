import { recordActivity } from '#server/domains/people/accounts/accounts'
import type { Caller, Node, SignedIn } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { AuthMethod } from '#shared/api/people/identity'
import { identifyBot, isServiceToken } from './bots.ts'
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
