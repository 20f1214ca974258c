import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose'
import { fetchText } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import type { PartnerTokens } from './port.ts'

interface Rules {
  issuer: string | undefined
  audience: string | undefined
}

const algorithms = ['EdDSA', 'ES256', 'RS256']
const bounds = { timeoutMilliseconds: 3_000, maxBytes: 256 * 1024 }
/** A key that is not known yet is looked for this often at the most. */
const cooldownDuration = 5_000
const cacheMaxAge = 600_000

/** Tokens signed by configured keys. */
export const partnerByKeys = (jwks: string, rules: Rules): PartnerTokens =>
  partner(createLocalJWKSet(JSON.parse(jwks) as JSONWebKeySet), rules)

/** Tokens signed by keys that the partner publishes, and may replace. */
export const partnerByUrl = (url: string, rules: Rules): PartnerTokens =>
  partner(createRemoteJWKSet(new URL(url), { [customFetch]: fetchKeys, cooldownDuration, cacheMaxAge }), rules)

async function fetchKeys(url: string): Promise<Response> {
  const { status, text } = await fetchText(url, {}, bounds)
  return new Response(text, { status })
}

const partner = (keys: JWTVerifyGetKey, { issuer, audience }: Rules): PartnerTokens => ({
  async verify(token, now) {
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms,
        requiredClaims: ['exp'],
        currentDate: new Date(now),
        ...(issuer === undefined ? {} : { issuer }),
        ...(audience === undefined ? {} : { audience }),
      })
      return { valid: true, claims: payload }
    } catch (error) {
      if (error instanceof errors.JWTExpired) return { valid: false, reason: 'expired', claims: error.payload }
      if (isAboutKeys(error)) throw error instanceof AppError ? error : new AppError('UPSTREAM_ERROR', { cause: error })
      return { valid: false, reason: 'refused' }
    }
  },
})

/** The keys are at fault, not the token: they could not be fetched, or cannot be read. */
const isAboutKeys = (error: unknown): boolean =>
  !(error instanceof errors.JOSEError) || error instanceof errors.JWKSInvalid || error.code === 'ERR_JOSE_GENERIC'
