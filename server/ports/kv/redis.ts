import type { Redis } from '#server/ports/redis/port'
import type { Kv } from './port.ts'

/** One member a call, scored by the server's own clock in milliseconds. */
const slideScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - window)
local used = redis.call('ZCARD', KEYS[1])
if used < limit then
  redis.call('ZADD', KEYS[1], now, time[1] .. '.' .. time[2] .. '-' .. used)
  redis.call('PEXPIRE', KEYS[1], window)
  return {1, used + 1, window}
end
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
return {0, used, window - (oldest and now - tonumber(oldest) or 0)}
`

/** Counts together with the other nodes; while Redis is away each counts its share alone. */
export function redisKv(redis: Redis, alone: Kv, onFallback: () => void): Kv {
  let nodes = 1
  return {
    async slide(key, limit, windowMilliseconds, now) {
      const answer = await redis
        .run(slideScript, [`${redis.prefix}:${key}`], [limit, windowMilliseconds])
        .then(takenFrom, () => null)
      if (answer) return { ...answer, freeAt: now + answer.freeIn }
      onFallback()
      const share = limit === 0 ? 0 : Math.max(1, Math.floor(limit / nodes))
      return alone.slide(key, share, windowMilliseconds, now)
    },
    sharedBy(count) {
      nodes = Math.max(1, count)
    },
    close: () => alone.close(),
  }
}

/** The answer of the script; null for an impossible one. */
function takenFrom(answer: unknown): { allowed: boolean; used: number; freeIn: number } | null {
  if (!Array.isArray(answer) || answer.length !== 3) return null
  const [allowed, used, freeIn] = answer.map(Number)
  if (!Number.isSafeInteger(used) || !Number.isSafeInteger(freeIn)) return null
  return { allowed: allowed === 1, used: used ?? 0, freeIn: freeIn ?? 0 }
}
