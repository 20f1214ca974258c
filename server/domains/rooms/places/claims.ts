import type { Node } from '#server/kernel/context'
import { seal, unseal } from '#server/kernel/seal'
import { isDuplicate } from '#server/ports/database/port'
import { Position } from '#shared/api/rooms/places'
import { AppError } from '#shared/errors'
import { metresBetween, roundedPoint } from '#shared/kit/earth'
import { Claims, type StoredClaim } from './model.ts'

const rate = { most: 6, seconds: 120 }
/** Faster than any airliner. */
const metresPerSecond = 300
/** The difference between two measurements of the same position. */
const unsureMetres = 1_000
/** After this time any place on earth is reachable, so an older position limits nothing. */
const boundsSeconds = 19 * 3_600
/** The lifetime of a claimed position. */
const countsSeconds = 300
/** The time until another position is possible is rounded, so that it does not reveal the earlier one. */
const retryStepSeconds = 600

const sealBinding = (account: string) => `position ${account}`
const after = (at: Date, seconds: number) => new Date(at.getTime() + seconds * 1_000)

/**
 * Stores a claimed position. Throws if claims are too frequent, or the position is unreachable from the previous one.
 */
export async function claimPosition(node: Node, account: string, claimed: Position) {
  if (!(await node.limits.throttle('positions', account, rate.most, rate.seconds)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: rate.seconds })
  const position = roundedPoint(claimed)
  for (;;) {
    const before = await Claims.findOne({ _id: account }).lean()
    const at = new Date(node.now())
    if (before) refuseImplausible(node, before, position, at)
    const next = {
      position: seal(node.settings.sessionKeys, JSON.stringify(position), sealBinding(account)),
      at,
      expires_at: after(at, boundsSeconds),
    }
    // Of two simultaneous claims, the second is judged by the first.
    if (await replaceClaim(before, { _id: account, ...next }))
      return { counts_until: after(at, countsSeconds), kept_until: next.expires_at }
  }
}

async function replaceClaim(before: StoredClaim | null, { _id, ...next }: StoredClaim): Promise<boolean> {
  if (before) {
    const { matchedCount } = await Claims.updateOne({ _id, position: before.position }, { $set: next })
    return matchedCount === 1
  }
  return Claims.create({ _id, ...next }).then(
    () => true,
    (error: unknown) => {
      if (isDuplicate(error)) return false
      throw error
    },
  )
}

function refuseImplausible(node: Node, before: StoredClaim, position: Position, at: Date): void {
  const from = positionOf(node, before)
  if (!from) return
  const seconds = Math.max(0, at.getTime() - before.at.getTime()) / 1_000
  const left = (metresBetween(from, position) - unsureMetres) / metresPerSecond - seconds
  if (left <= 0) return
  throw new AppError('POSITION_NOT_PLAUSIBLE', { retryAfter: Math.ceil(left / retryStepSeconds) * retryStepSeconds })
}

/** Null if its sealing key was removed. */
function positionOf({ settings }: Node, { _id, position }: StoredClaim): Position | null {
  try {
    return Position.parse(JSON.parse(unseal(settings.sessionKeys, position, sealBinding(_id))))
  } catch {
    return null
  }
}

/** The recently claimed position of an account; null if there is none. */
export async function positionClaimOf(node: Node, account: string): Promise<{ position: Position; at: Date } | null> {
  const stored = await Claims.findOne({ _id: account }).lean()
  if (!stored || after(stored.at, countsSeconds).getTime() < node.now()) return null
  const position = positionOf(node, stored)
  return position && { position, at: stored.at }
}
