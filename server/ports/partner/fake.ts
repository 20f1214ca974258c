import { randomUUID } from 'node:crypto'
import { AppError } from '#shared/errors'
import type { Claims, PartnerTokens } from './port.ts'

interface FakePartner extends PartnerTokens {
  /** A token that is good for ever, unless its claims say otherwise. */
  token(claims: Claims): string
  /** How the keys cannot be had; null while they can. */
  away: 'UPSTREAM_ERROR' | 'TIMEOUT' | null
}

/** Has the form of a signed token, as its claims are read from it; what it gave out itself is signed. */
export function fakePartner(issuer: string): FakePartner {
  const given = new Map<string, Claims>()
  const partner: FakePartner = {
    away: null,
    token(asked) {
      const claims = { iss: issuer, exp: 4_000_000_000, ...asked }
      const token = [{ alg: 'fake' }, claims, { signed: randomUUID() }].map(encoded).join('.')
      given.set(token, claims)
      return token
    },
    async verify(token, now) {
      if (partner.away) throw new AppError(partner.away)
      const claims = given.get(token) ?? {}
      const { exp, nbf } = claims
      const seconds = Math.floor(now / 1000)
      if (typeof exp !== 'number' || Number(nbf ?? 0) > seconds) return { valid: false, reason: 'refused' }
      return exp > seconds ? { valid: true, claims } : { valid: false, reason: 'expired', claims }
    },
  }
  return partner
}

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
