import { RoomHeads } from '#server/log/model'

const headsAtOnce = 1_000
const headsAtMost = 100_000

/** How many messages were ever sent, in all rooms; undefined where there are too many of these to ask. */
export async function totalMessages(): Promise<number | undefined> {
  let total = 0
  let last = ''
  for (let asked = 0; asked < headsAtMost; asked += headsAtOnce) {
    const heads = await RoomHeads.find({ _id: { $gt: last } }, { total: 1 })
      .sort({ _id: 1 })
      .limit(headsAtOnce)
      .lean()
    for (const head of heads) total += head.total
    last = heads.at(-1)?._id ?? ''
    if (heads.length < headsAtOnce) return total
  }
  return undefined
}
