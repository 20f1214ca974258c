import { randomUUID } from 'node:crypto'
import { AppError } from '#shared/errors'
import type { Claims, PartnerTokens } from './port.ts'

interface FakePartner extends PartnerTokens {
  /** A token that does not expire, unless its claims say otherwise. */
  token(claims: Claims): string
  /** The way in which the keys are unavailable; null while they are available. */
  away: 'UPSTREAM_ERROR' | 'TIMEOUT' | null
}

/** A partner in memory. Its tokens have the form of signed ones; those it issued itself count as signed. */
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
