import type { Kv } from '#server/ports/kv/port'
import type { Tier } from '#shared/kit/contract'

/** Calls a minute. */
export const tiers: Record<Tier, number> = {
  auth: 10,
  strict: 5,
  contact: 3,
  ai: 30,
  messaging: 60,
  search: 30,
  general: 100,
}
const windowSeconds = 60

export interface Rate {
  limit: number
  remaining: number
  /** Unix time in seconds at which a call is free again, or all of them are. */
  reset: number
}

export interface Limits {
  scale: number
  /** Takes one call from the bucket of a key; `retryAfterSeconds` is null where it was free. */
  spend(tier: Tier, key: string): Promise<{ rate: Rate; retryAfterSeconds: number | null }>
  /** The bucket as it is, without taking from it. */
  peek(tier: Tier, key: string): Promise<Rate>
  /** A guard with numbers of its own. True where the call is allowed. */
  guard(name: string, key: string, limit: number, seconds: number): Promise<boolean>
}

export const createLimits = (kv: Kv, scale: number, now: () => number): Limits => ({
  scale,
  async spend(tier, key) {
    const limit = Math.max(1, Math.floor(tiers[tier] * scale))
    const { allowed, used, freeAt } = await kv.slide(`limit:${tier}:${key}`, limit, windowSeconds * 1000, now())
    const rate = { limit, remaining: Math.max(0, limit - used), reset: Math.ceil(freeAt / 1000) }
    return { rate, retryAfterSeconds: allowed ? null : Math.max(1, Math.ceil((freeAt - now()) / 1000)) }
  },
  async peek(tier, key) {
    const limit = Math.max(1, Math.floor(tiers[tier] * scale))
    const { used, freeAt } = await kv.slide(`limit:${tier}:${key}`, 0, windowSeconds * 1000, now())
    return { limit, remaining: Math.max(0, limit - used), reset: Math.ceil(freeAt / 1000) }
  },
  async guard(name, key, limit, seconds) {
    const { allowed } = await kv.slide(
      `guard:${name}:${key}`,
      Math.max(1, Math.floor(limit * scale)),
      seconds * 1000,
      now(),
    )
    return allowed
  },
})
