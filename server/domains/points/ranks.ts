import { accountOf } from '#server/domains/accounts/accounts'
import { type Account, Accounts } from '#server/domains/accounts/model'
import { profileOf } from '#server/domains/accounts/profiles'
import type { Node } from '#server/kernel/context'
import { sharedLook } from '#server/kernel/shared-look'

/** Who is suspended has no place, and takes none from others. */
const ahead = (points: number) => ({ is_banned: false, points: { $gt: points } })

/** Those with most points, and how many have any. */
export const leaderboard = (node: Node, limit: number) =>
  sharedLook(node, `leaderboard ${limit}`, async () => {
    const [found, total] = await Promise.all([
      Accounts.find(ahead(0)).sort({ points: -1, _id: 1 }).limit(limit).lean<Account[]>(),
      Accounts.countDocuments(ahead(0)),
    ])
    const entries = found.map((account) =>
      scored(account, found.findIndex(({ points }) => points === account.points) + 1),
    )
    const leaderboard = entries.map(({ rank, address, username, score }) => ({
      rank,
      address,
      username,
      ensName: null,
      points: score,
    }))
    return { leaderboard, entries, total }
  })

/** The place of an account; null where it has none. */
export async function placeOf(id: string) {
  const account = await accountOf(id)
  if (!account || account.is_banned || !(account.points > 0)) return null
  return scored(account, (await Accounts.countDocuments(ahead(account.points))) + 1)
}

function scored(account: Account, rank: number) {
  const { username, display_name, avatar_url } = profileOf(account)
  return { rank, address: account._id, username, display_name, avatar_url, score: account.points }
}
