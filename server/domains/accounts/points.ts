import { Accounts } from './model.ts'

/** Gives points for something, once in the life of an account; says how many it gave. */
export async function awardOnce(id: string, claim: string, points: number): Promise<number> {
  const { modifiedCount } = await Accounts.updateOne(
    { _id: id, points_claimed: { $ne: claim } },
    { $inc: { points }, $addToSet: { points_claimed: claim } },
  )
  return modifiedCount === 1 ? points : 0
}
