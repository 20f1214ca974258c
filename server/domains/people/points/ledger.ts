import { accountOf } from '#server/domains/people/accounts/accounts'
import { hiddenAccountsAmong, isFound, ofFound } from '#server/domains/people/accounts/found'
import { type Account, Accounts } from '#server/domains/people/accounts/model'
import { profileOf } from '#server/domains/people/accounts/profiles'
import { audiences, type Context, type Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { nodeState } from '#server/kernel/operate/node-state'
import { sharedLook } from '#server/kernel/shared-look'
import { briefMemory } from '#server/kernel/store/kept-answers'
import { orderedPages } from '#server/kernel/store/pages'
import { isDuplicate } from '#server/ports/database/port'
import {
  type LeaderboardPeriod,
  leaderboardDays,
  type PointsEntry,
  pointsChanged,
  ranksAtMost,
} from '#shared/api/people/points'
import { PointEntries, type StoredEntry } from './model.ts'

/** A gift of points, given once for its claim. */
export type Award = Pick<StoredEntry, 'claim' | 'points' | 'reason'>

export const verifiedAwards = {
  phone_verified: { claim: 'phone_verified', points: 100, reason: 'Phone number verified' },
  email_verified: { claim: 'email_verified', points: 100, reason: 'Email address verified' },
} as const satisfies Record<string, Award>

/** The points of an account, with their claims. */
export interface Holding {
  points: number
  claims: ReadonlySet<string>
}

/**
 * Gives points to an account and notifies it; returns the number, 0 for a repeat. The entry alone decides, so races and
 * repeats give nothing twice. A crash before the sum is repaired by a repeat or the next read.
 */
export async function awardPoints(context: Context, account: string, given: Award): Promise<number> {
  const written = await adoptOldClaims(account)
  const entry = { _id: newId(), wallet_address: account, ...given, created_at: new Date(context.node.now()) }
  const isNew = await insertEntry(entry)
  const { points } = await sumUp(account, written)
  if (!isNew) return 0
  context.emit(pointsChanged, audiences.account(account), { points, entry: entryOutput(entry) })
  return given.points
}

/** An account's points by its entries; the stored sum is updated. */
export const holdingOf = async (account: string): Promise<Holding> => sumUp(account, await adoptOldClaims(account))

/** A page of an account's entries, newest first. */
export const entriesOf = (account: string, limit: number, before?: string): Promise<StoredEntry[]> =>
  PointEntries.find({ wallet_address: account, ...(before !== undefined && { _id: { $lt: before } }) })
    .sort({ _id: -1 })
    .limit(limit)
    .lean<StoredEntry[]>()

const inTime = orderedPages({ created_at: ['time', 1], _id: ['text', 1] })
const readAtOnce = 5_000

/** The points of each account since a time. */
async function pointsSince(since: Date): Promise<Map<string, number>> {
  const sums = new Map<string, number>()
  let cursor: string | null = null
  do {
    const after = cursor === null ? { created_at: { $gte: since } } : inTime.after('points given', cursor)
    const found: StoredEntry[] = await PointEntries.find(after, { wallet_address: 1, points: 1, created_at: 1 })
      .sort(inTime.sort)
      .limit(readAtOnce + 1)
      .lean<StoredEntry[]>()
    const page = inTime.cut('points given', found, readAtOnce)
    for (const { wallet_address, points } of page.rows)
      sums.set(wallet_address, (sums.get(wallet_address) ?? 0) + points)
    cursor = page.next_cursor
  } while (cursor !== null)
  return sums
}

export const entryOutput = ({ _id, wallet_address, points, reason, claim, created_at }: StoredEntry): PointsEntry => ({
  id: _id,
  wallet_address,
  points,
  reason,
  metadata: { claim },
  created_at: created_at.toISOString(),
})

async function insertEntry(entry: StoredEntry): Promise<boolean> {
  try {
    await PointEntries.create(entry)
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

/** `written` is the stored sum. Entries are never deleted, so the highest of simultaneous sums is the latest. */
async function sumUp(account: string, written: number | undefined): Promise<Holding> {
  const entries = await PointEntries.find({ wallet_address: account }, { points: 1, claim: 1 }).lean<StoredEntry[]>()
  const points = entries.reduce((sum, entry) => sum + entry.points, 0)
  if (points !== written) await Accounts.updateOne({ _id: account }, { $max: { points } })
  return { points, claims: new Set(entries.map(({ claim }) => claim)) }
}

/** Creates entries for gifts of older versions; returns the stored sum. */
async function adoptOldClaims(account: string): Promise<number | undefined> {
  const fields = { points: 1, points_claimed: 1, updated_at: 1 }
  const found = await Accounts.findOne({ _id: account }, fields).lean<Account>()
  for (const claim of found?.points_claimed ?? []) {
    const known = Object.values(verifiedAwards).find((one) => one.claim === claim)
    if (found && known)
      await insertEntry({ _id: newId(), wallet_address: account, ...known, created_at: found.updated_at })
  }
  return found?.points
}

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
  const sums = sumRanks(new Date(node.now() - days * day))
  sumsOn(node).set(key, sums, minute)
  sums.catch(() => sumsOn(node).delete(key))
  return sums
}

/** Behind more hidden accounts than that, the ranks end early. */
const lookedThrough = 10 * ranksAtMost

async function sumRanks(since: Date): Sums {
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
