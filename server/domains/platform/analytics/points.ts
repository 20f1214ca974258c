import { PointEntries } from '#server/domains/people/points/model'
import { idBetween } from './spans.ts'

/** A kind of gift. There are few, so a sum is made of their counts. */
export interface PointGift {
  reason: string
  points: number
}

/** All kinds of gifts that were ever given. */
export async function pointGifts(): Promise<PointGift[]> {
  const reasons = await PointEntries.distinct('reason')
  const gifts = reasons.map(async (reason) =>
    (await PointEntries.distinct('points', { reason })).map((points) => ({ reason, points })),
  )
  return (await Promise.all(gifts)).flat()
}

/** The sum of points in a span of time. */
export async function pointsBetween(gifts: readonly PointGift[], from: number, until: number): Promise<number> {
  const _id = idBetween(from, until)
  const sums = gifts.map(async (gift) => gift.points * (await PointEntries.countDocuments({ ...gift, _id })))
  return (await Promise.all(sums)).reduce((all, sum) => all + sum, 0)
}

/** Points by reason, largest first. */
export async function pointsByReason(gifts: readonly PointGift[], until: number) {
  const reasons = [...new Set(gifts.map(({ reason }) => reason))]
  const sums = reasons.map(async (reason) => {
    const ofReason = gifts.filter((gift) => gift.reason === reason)
    return { reason, points: await pointsBetween(ofReason, 0, until) }
  })
  return (await Promise.all(sums)).sort((one, other) => other.points - one.points)
}
