import { createHash } from 'node:crypto'
import type { Kv } from '#server/ports/kv/port'
import type { Tier } from '#shared/kit/contract'

/** Calls in a minute. */
export const tiers: Record<Tier, number> = {
  auth: 10,
  session: 300,
  strict: 5,
  contact: 3,
  messaging: 60,
  search: 30,
  ai: 30,
  paid: 600,
  general: 100,
}
const windowSeconds = 60
/** People may share an address, so all of its claims together have this many times one claim's limit. */
const crowdFactor = 10
/** In these tiers refused calls, such as forms with a mistake, have a separate bucket. */
const ofFew: readonly Tier[] = ['auth', 'strict', 'contact']
export const hasOwnRefusals = (tier: Tier): boolean => ofFew.includes(tier)

export interface Rate {
  limit: number
  remaining: number
  /** The Unix time in seconds at which a call, or all calls, are free again. */
  reset: number
}

/** The result of a call taken from a bucket; `retryAfterSeconds` is null if it was free. */
interface SpentCall {
  rate: Rate
  retryAfterSeconds: number | null
}

export interface Limits {
  /** The factor of tiers and load limits; never of limits against guessing. */
  scale: number
  /** Takes one call from a bucket. */
  spend(tier: Tier, key: string): Promise<SpentCall>
  /**
   * Takes one attempt from the bucket of a claim at an address, and one from that of all its claims. Only the latter is
   * scaled.
   */
  claim(tier: Tier, address: string, claimed: string): Promise<SpentCall>
  /** Takes a call that was refused before it was spent, by account or address. */
  refusal(tier: Tier, key: string): Promise<SpentCall>
  /** Reads the bucket without taking from it. */
  peek(tier: Tier, key: string): Promise<Rate>
  /**
   * A limit against guessing or unwanted notifications: at most `limit` in the period, at any `scale`. True if the call
   * is allowed.
   */
  guard(name: string, key: string, limit: number, seconds: number): Promise<boolean>
  /** Would `guard` allow a call? It takes nothing. */
  wouldAllow(name: string, key: string, limit: number, seconds: number): Promise<boolean>
  /**
   * A limit against load: `limit` times `scale` in the period. Null if the call is allowed, else the seconds until one
   * is.
   */
  wait(name: string, key: string, limit: number, seconds: number): Promise<number | null>
  /** As `wait`, without the time. True if the call is allowed. */
  throttle(name: string, key: string, limit: number, seconds: number): Promise<boolean>
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url')

export function createLimits(kv: Kv, scale: number, now: () => number): Limits {
  const scaled = (limit: number) => Math.max(1, Math.floor(limit * scale))
  const take = async (key: string, limit: number): Promise<SpentCall> => {
    const { allowed, used, freeAt } = await kv.slide(key, limit, windowSeconds * 1000, now())
    const rate = { limit, remaining: Math.max(0, limit - used), reset: Math.ceil(freeAt / 1000) }
    return { rate, retryAfterSeconds: allowed ? null : secondsUntil(freeAt) }
  }
  const secondsUntil = (freeAt: number) => Math.max(1, Math.ceil((freeAt - now()) / 1000))
  const wait: Limits['wait'] = async (name, key, limit, seconds) => {
    const { allowed, freeAt } = await kv.slide(`throttle:${name}:${key}`, scaled(limit), seconds * 1000, now())
    return allowed ? null : secondsUntil(freeAt)
  }
  const isFree = async (key: string, limit: number, seconds: number) =>
    (await kv.slide(key, limit, seconds * 1000, now())).allowed
  return {
    scale,
    spend: (tier, key) => take(`limit:${tier}:${key}`, scaled(tiers[tier])),
    async claim(tier, address, claimed) {
      const own = await take(`claim:${tier}:${address} ${hashOf(claimed)}`, tiers[tier])
      if (own.retryAfterSeconds !== null) return own
      const crowd = await take(`crowd:${tier}:${address}`, scaled(tiers[tier] * crowdFactor))
      return crowd.retryAfterSeconds === null ? own : crowd
    },
    refusal: (tier, key) =>
      hasOwnRefusals(tier)
        ? take(`refused:${tier}:${key}`, scaled(tiers[tier] * crowdFactor))
        : take(`limit:${tier}:${key}`, scaled(tiers[tier])),
    async peek(tier, key) {
      const limit = scaled(tiers[tier])
      const { used, freeAt } = await kv.slide(`limit:${tier}:${key}`, 0, windowSeconds * 1000, now())
      return { limit, remaining: Math.max(0, limit - used), reset: Math.ceil(freeAt / 1000) }
    },
    guard: (name, key, limit, seconds) => isFree(`guard:${name}:${key}`, limit, seconds),
    wait,
    throttle: async (name, key, limit, seconds) => (await wait(name, key, limit, seconds)) === null,
    wouldAllow: async (name, key, limit, seconds) =>
      (await kv.slide(`guard:${name}:${key}`, 0, seconds * 1000, now())).used < limit,
  }
}
