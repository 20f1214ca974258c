import { createHash, randomBytes } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import type { Settings } from '#server/kernel/context'
import { AuthMethod } from '#shared/api/people/identity'
import { AppError } from '#shared/errors'

export const sessionSeconds = 604_800
const party = 'plaza'
const algorithm = 'HS256'
const longestToken = 4096

/** The client's data as seen by the door. */
export interface ClientData {
  ip: string
  userAgent: string
}

type Keys = Settings['sessionKeys']

const Claims = z
  .object({
    address: z.string(),
    authMethod: AuthMethod,
    chainId: z.number().int().optional(),
    passkeyCredentialId: z.string().optional(),
    jti: z.string(),
    iat: z.number().int(),
    exp: z.number().int(),
  })
  .refine(({ iat, exp }) => exp > iat && exp - iat <= sessionSeconds)
type Claims = z.infer<typeof Claims>

/** Signs with the newest key. */
export function signToken(keys: Keys, { jti, iat, exp, ...payload }: Claims): Promise<string> {
  const newest = keys[0]
  if (!newest) throw new Error('There is no session key')
  return new SignJWT(payload)
    .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: newest.id })
    .setIssuer(party)
    .setAudience(party)
    .setJti(jti)
    .setIssuedAt(iat)
    .setExpirationTime(exp)
    .sign(newest.secret)
}

const proven = new WeakMap<Keys, Map<string, Claims>>()
const provenAtMost = 10_000

/** The claims of a token that our key signed and that has not expired. Its session is not checked. */
export async function readToken(keys: Keys, token: string, now: number): Promise<Claims> {
  const claims = proven.get(keys)?.get(token) ?? (await verifyToken(keys, token, now))
  if (claims.exp * 1000 <= now) throw noSessionError('SESSION_EXPIRED')
  remember(keys, token, claims)
  return claims
}

function remember(keys: Keys, token: string, claims: Claims): void {
  const known = proven.get(keys)
  if (known?.has(token)) return
  if (known && known.size < provenAtMost) known.set(token, claims)
  else proven.set(keys, new Map([[token, claims]]))
}

async function verifyToken(keys: Keys, token: string, now: number): Promise<Claims> {
  if (token.length > longestToken) throw noSessionError('SESSION_INVALID')
  const keyOf = ({ kid }: { kid?: string }) => {
    const key = keys.find(({ id }) => id === kid)
    if (!key) throw noSessionError('SESSION_INVALID')
    return key.secret
  }
  try {
    const { payload } = await jwtVerify(token, keyOf, {
      algorithms: [algorithm],
      issuer: party,
      audience: party,
      requiredClaims: ['address', 'authMethod', 'iat', 'exp', 'jti'],
      currentDate: new Date(now),
    })
    return Claims.parse(payload)
  } catch (error) {
    throw noSessionError(error instanceof errors.JWTExpired ? 'SESSION_EXPIRED' : 'SESSION_INVALID')
  }
}

/** The reason for a missing session; the text is always the same. */
export const noSessionError = (code: 'SESSION_INVALID' | 'SESSION_EXPIRED' | 'SESSION_NOT_FOUND') =>
  new AppError(code, { message: 'Unauthorized' })

export const newRefreshToken = () => randomBytes(32).toString('base64url')
export const isRefreshToken = (token: string) => /^[\w-]{43}$/.test(token)
export const tokenHashOf = (token: string) => createHash('sha256').update(token).digest('hex')
