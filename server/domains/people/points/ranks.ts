import { accountOf } from '#server/domains/people/accounts/accounts'
import { hiddenAccountsAmong, isFound, ofFound } from '#server/domains/people/accounts/found'
import { type Account, Accounts } from '#server/domains/people/accounts/model'
import { profileOf } from '#server/domains/people/accounts/profiles'
import type { Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { sharedLook } from '#server/kernel/shared-look'
import { briefMemory } from '#server/kernel/store/brief-memory'
import { type LeaderboardPeriod, leaderboardDays, ranksAtMost } from '#shared/api/people/points'
import { pointsSince } from './ledger.ts'

/** An account that is suspended, or is to be erased, has no rank, and takes none. */
const rankedAbove = (points: number) => ({ ...ofFound, points: { $gt: points } })

/** The accounts with the most points, of all time or a period, and the number with any. */
export const leaderboard = (node: Node, limit: number, period: LeaderboardPeriod) =>
  sharedLook(node, `leaderboard ${limit} ${period}`, async () => {
    const days = leaderboardDays[period]
    const { found, total } = await (days === null ? ofAllTime(limit) : ofDays(node, days, limit))
    const entries = found.map((account) =>
      rankEntry(account, found.findIndex(({ points }) => points === account.points) + 1),
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

async function ofAllTime(limit: number) {
  const [found, total] = await Promise.all([
    Accounts.find(rankedAbove(0)).sort({ points: -1, _id: 1 }).limit(limit).lean<Account[]>(),
    Accounts.countDocuments(rankedAbove(0)),
  ])
  return { found, total }
}

/** Current accounts, with the points of the period. */
async function ofDays(node: Node, days: number, limit: number) {
  const { sums, total } = await sumsOf(node, days)
  const accounts = await Accounts.find({ _id: { $in: [...sums.keys()] }, ...ofFound }).lean<Account[]>()
  const byId = new Map(accounts.map((account) => [account._id, account]))
  const found = [...sums].flatMap(([id, points]) => {
    const account = byId.get(id)
    return account ? [{ ...account, points }] : []
  })
  return { found: found.slice(0, limit), total }
}

const minute = 60_000
const day = 86_400_000
type Sums = Promise<{ sums: ReadonlyMap<string, number>; total: number }>
const sumsOn = nodeState(() => briefMemory<Sums>(Object.keys(leaderboardDays).length))

/** A period has many entries, so its sums are cached for a minute. */
function sumsOf(node: Node, days: number): Sums {
  const key = `${days} ${Math.floor(node.now() / minute)}`
  const known = sumsOn(node).get(key)
  if (known) return known
  const sums = sumUp(new Date(node.now() - days * day))
  sumsOn(node).set(key, sums, minute)
  sums.catch(() => sumsOn(node).delete(key))
  return sums
}

/** Behind more hidden accounts than that, the ranks end early. */
const lookedThrough = 10 * ranksAtMost

async function sumUp(since: Date): Sums {
  const given = await pointsSince(since)
  const ranked = [...given].sort(([one, more], [other, less]) => less - more || (one < other ? -1 : 1))
  const first = ranked.slice(0, lookedThrough)
  const hidden = await hiddenAccountsAmong(
    first.map(([account]) => account),
    null,
    'directories',
  )
  const found = first.filter(([account]) => !hidden.has(account))
  return { sums: new Map(found.slice(0, ranksAtMost)), total: given.size - hidden.size }
}

/** The rank of an account; null if it has none. */
export async function rankOf(id: string) {
  const account = await accountOf(id)
  if (!account || !isFound(account) || !(account.points > 0)) return null
  return rankEntry(account, (await Accounts.countDocuments(rankedAbove(account.points))) + 1)
}

function rankEntry(account: Account, rank: number) {
  const { username, display_name, avatar_url } = profileOf(account)
  return { rank, address: account._id, username, display_name, avatar_url, score: account.points }
}
