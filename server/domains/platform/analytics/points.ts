import { PointEntries } from '#server/domains/people/points/model'
import { idBetween } from './id-times.ts'

/** A reason, and how many points were given for it. There are few of these, so a sum of points is made of how often each was given. */
export interface Gift {
  reason: string
  points: number
}

/** Each that was ever given. */
export async function giftsOf(): Promise<Gift[]> {
  const reasons = await PointEntries.distinct('reason')
  const gifts = reasons.map(async (reason) =>
    (await PointEntries.distinct('points', { reason })).map((points) => ({ reason, points })),
  )
  return (await Promise.all(gifts)).flat()
}

/** The sum of the points that were given in a span of time. */
export async function pointsBetween(gifts: readonly Gift[], from: number, until: number): Promise<number> {
  const _id = idBetween(from, until)
  const sums = gifts.map(async (gift) => gift.points * (await PointEntries.countDocuments({ ...gift, _id })))
  return (await Promise.all(sums)).reduce((all, sum) => all + sum, 0)
}

/** What points were ever given for, the most first. */
export async function pointsByReason(gifts: readonly Gift[], until: number) {
  const reasons = [...new Set(gifts.map(({ reason }) => reason))]
  const sums = reasons.map(async (reason) => {
    const ofReason = gifts.filter((gift) => gift.reason === reason)
    return { reason, points: await pointsBetween(ofReason, 0, until) }
  })
  return (await Promise.all(sums)).sort((one, other) => other.points - one.points)
}
