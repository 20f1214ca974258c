import { defineGate } from '#server/domains/rooms/gates/define'
import type { Node } from '#server/kernel/context'
import type { GateAnswer, PlaceGate } from '#shared/api/rooms/gates'
import { metresBetween, metresText } from '#shared/kit/earth'
import { positionClaimOf } from './claims.ts'
import { Visits } from './model.ts'
import { placeSettings } from './settings.ts'

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
