import { defineGate } from '#server/domains/rooms/gates/define'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { seal, unseal } from '#server/kernel/seal'
import { isDuplicate } from '#server/ports/database/port'
import type { GateAnswer, PlaceGate } from '#shared/api/rooms/gates'
import { places as contract, Position } from '#shared/api/rooms/location-rooms'
import { AppError } from '#shared/errors'
import { metresBetween, metresText, roundedPoint } from '#shared/kit/earth'
import { done } from '#shared/kit/primitives'
import { Claims, type StoredClaim, Visits } from './model.ts'
import { placeSettings } from './settings.ts'

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
async function positionClaimOf(node: Node, account: string): Promise<{ position: Position; at: Date } | null> {
  const stored = await Claims.findOne({ _id: account }).lean()
  if (!stored || after(stored.at, countsSeconds).getTime() < node.now()) return null
  const position = positionOf(node, stored)
  return position && { position, at: stored.at }
}

export const places = defineDomain(
  contract,
  {
    async claim(position, context) {
      const { counts_until, kept_until } = await claimPosition(context.node, signedIn(context).account, position)
      return { ...done, counts_until: counts_until.toISOString(), kept_until: kept_until.toISOString() }
    },
  },
  { settings: placeSettings },
)

const source = 'what the account says; nothing proves it'

/**
 * The gate for people who claimed to be at a place. Members are re-checked by the day of their visit, without a new
 * claim.
 */
export const placeGate = defineGate('place', {
  lasts: (node) => placeSettings.of(node).stayDays > 0,
  async check({ node, account, gate }) {
    const now = node.now()
    const claim = await positionClaimOf(node, account)
    const away = claim && metresBetween(claim.position, gate)
    const isThere = away !== null && away <= gate.radius_m
    if (claim && isThere) await storeVisit(node, account, gate, claim.at)
    const visit = isThere && claim ? claim.at : await lastVisit(node, account, gate)
    const near = `within ${metresText(gate.radius_m)} of ${gate.place_name}`
    const looked = (result: string, at: Date) => ({
      requirement: near,
      subject: account,
      result,
      source,
      cached_age_s: Math.max(0, Math.floor((now - at.getTime()) / 1_000)),
    })
    return {
      passed: visit !== null,
      text: visit ? `You said you were ${near}` : refusal(near, away),
      checked: [
        ...(claim && away !== null && !isThere ? [looked(`is ${metresText(away)} away`, claim.at)] : []),
        ...(visit ? [looked('was there', visit)] : []),
      ],
      details: {
        ...{ radius_m: gate.radius_m, stay_days: placeSettings.of(node).stayDays, is_claim: true },
        ...(away === null ? {} : { distance: Math.ceil(away / 10) * 10 }),
      },
    } satisfies GateAnswer
  },
})

const refusal = (near: string, away: number | null): string =>
  away === null
    ? `This room is for people who say they are ${near}: say where you are`
    : `This room is for people who say they are ${near}, and you say you are ${metresText(away)} away`

const idOf = (account: string, { place_id }: PlaceGate) => `${place_id}|${account}`

async function storeVisit(node: Node, account: string, gate: PlaceGate, at: Date): Promise<void> {
  const { staySeconds } = placeSettings.of(node)
  if (staySeconds === 0) return
  const visit = { at, expires_at: new Date(at.getTime() + staySeconds * 1_000) }
  await Visits.updateOne({ _id: idOf(account, gate) }, { $set: visit }, { upsert: true })
}

async function lastVisit(node: Node, account: string, gate: PlaceGate): Promise<Date | null> {
  const { staySeconds } = placeSettings.of(node)
  const visit = await Visits.findOne({ _id: idOf(account, gate) }, { at: 1 }).lean()
  return visit && node.now() - visit.at.getTime() <= staySeconds * 1_000 ? visit.at : null
}
