import { randomBytes } from 'node:crypto'
import type { Node, SignedIn } from '#server/kernel/context'
import { type ServiceTokenRecord, ServiceTokens } from './model.ts'
import { type ClientData, noSessionError, tokenHashOf } from './tokens.ts'

const touchMilliseconds = 60_000
const prefix = 'plaza_'

export const newServiceToken = () => prefix + randomBytes(32).toString('base64url')
export const isServiceToken = (token: string) => token.startsWith(prefix)

/** The bot of a service token, with its scopes. The record is read each time, so a revoked token ends at once. */
export async function identifyBot(node: Node, token: string, { ip, userAgent }: ClientData): Promise<SignedIn> {
  const record = await ServiceTokens.findOne({ token_hash: tokenHashOf(token) }).lean<ServiceTokenRecord>()
  if (!record) throw noSessionError('SESSION_NOT_FOUND')
  if (record.expires_at.getTime() <= node.now()) throw noSessionError('SESSION_EXPIRED')
  touch(node, record)
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
function touch(node: Node, { _id, last_used_at }: ServiceTokenRecord): void {
  const now = node.now()
  if (last_used_at !== null && now - last_used_at.getTime() < touchMilliseconds) return
  ServiceTokens.updateOne({ _id }, { $set: { last_used_at: new Date(now) } })
    .exec()
    .catch((error: unknown) => node.logger.warn({ error }, 'the use of a service token was not noted'))
}
