import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'

const idBytes = 16
const pool = new Uint8Array(idBytes * 256)
let used = pool.length
let at = 0
let serial = 0

/** A new id, ordered by time, also within one millisecond. */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const random = pool.subarray(used, used + idBytes)
  used += idBytes
  const now = Date.now()
  serial = now > at ? startIn(random) : serial + 1
  at = Math.max(at, now)
  return v7({ random, msecs: at, seq: serial })
}

/** Far below the maximum, so that no millisecond runs out of numbers. */
const startIn = ([first = 0, second = 0, third = 0]: Uint8Array): number => (first << 16) | (second << 8) | third
