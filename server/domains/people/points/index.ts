import { accountOf, plazaAccount } from '#server/domains/people/accounts/accounts'
import { type Account, Phones } from '#server/domains/people/accounts/model'
import { friendsOf, otherPersonOf } from '#server/domains/people/friends/pairs'
import { pageOf } from '#server/domains/people/profiles/pages'
import { type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { placeOfId } from '#server/kernel/store/pages'
import {
  points as contract,
  dailyPoints,
  type PointsAction,
  type PointsState,
  pointsActions,
} from '#shared/api/people/points'
import { isSameAccount } from '#shared/kit/accounts'
import {
  type Award,
  awardPoints,
  entriesOf,
  entryOutput,
  type Holding,
  holdingOf,
  leaderboard,
  rankOf,
  verifiedAwards,
} from './ledger.ts'
import { PointEntries, type StoredEntry } from './model.ts'

const givenAlready = 'You have these points already'
const friendsWanted = 5
/** More than required, because blocked friends are left out of a page. */
const friendsLookedAt = 50

interface Earning {
  award: Award
  /** The condition, shown if it is not met. */
  wanted: string
  /** Null if this server cannot check it. */
  isThere: ((account: Account) => boolean | Promise<boolean>) | null
}

const earnings: Record<PointsAction, Earning> = {
  phone_verified: {
    award: verifiedAwards.phone_verified,
    wanted: 'Verify a phone number first',
    isThere: async ({ _id }) => (await Phones.exists({ _id, verified: true })) !== null,
  },
  email_verified: {
    award: verifiedAwards.email_verified,
    wanted: 'Verify an email address first',
    isThere: ({ email, email_verified }) => email !== undefined && email_verified,
  },
  five_friends: {
    award: { claim: 'five_friends', points: 50, reason: 'Five friends' },
    wanted: `Make ${friendsWanted} friends first`,
    isThere: async ({ _id }) => {
      const { pairs } = await friendsOf(_id, friendsLookedAt)
      return pairs.filter((pair) => !isSameAccount(otherPersonOf(pair, _id), plazaAccount)).length >= friendsWanted
    },
  },
  ens_primary: {
    award: { claim: 'ens_primary', points: 50, reason: 'Primary ENS name' },
    wanted: 'This server does not look up ENS names',
    isThere: null,
  },
  username_claimed: {
    award: { claim: 'username_claimed', points: 10, reason: 'Username taken' },
    wanted: 'Take a username first',
    isThere: ({ username }) => username !== undefined,
  },
  social_added: {
    award: { claim: 'social_added', points: 10, reason: 'Social profile added' },
    wanted: 'Add a social profile first',
    isThere: async ({ _id, socials }) => socials.length > 0 || (await hasSocialWidget(_id)),
  },
}

async function hasSocialWidget(account: string): Promise<boolean> {
  const widgets = (await pageOf(account))?.widgets ?? []
  return widgets.some(
    ({ widget_type, config }) => widget_type === 'social_link' && Boolean(config.handle || config.url),
  )
}

/** The state of each earning of an account, by the `claims` of its entries. */
async function earningsOf(id: string, claims: Holding['claims']) {
  const account = await accountOf(id)
  const stateOf = async ({ award: { claim }, isThere }: Earning): Promise<PointsState> => {
    if (claims.has(claim)) return 'done'
    if (isThere === null) return 'unavailable'
    return account !== null && (await isThere(account)) ? 'ready' : 'open'
  }
  return Promise.all(
    pointsActions.map(async (action) => {
      const earning = earnings[action]
      return { action, points: earning.award.points, state: await stateOf(earning) }
    }),
  )
}

/** Gives the caller the points of an action, if its condition is met. */
async function claimAction(context: Context, action: PointsAction) {
  const { account: id } = signedIn(context)
  const { award: given, wanted, isThere } = earnings[action]
  if (isThere === null) return { success: false, message: wanted, points: 0, state: 'unavailable' as const }
  const [{ claims }, account] = await Promise.all([holdingOf(id), accountOf(id)])
  const isDue = !claims.has(given.claim) && account !== null && (await isThere(account))
  const points = isDue ? await awardPoints(context, id, given) : 0
  if (points > 0) return { success: true, message: given.reason, points, state: 'done' as const }
  if (isDue || claims.has(given.claim)) return { success: false, message: givenAlready, points, state: 'done' as const }
  return { success: false, message: wanted, points, state: 'open' as const }
}

const dayMilliseconds = 86_400_000
const prefix = 'daily_'
const afterAllDays = `${prefix}~`

/** The UTC day of a time, and the start of the next. */
function dayAt(now: number) {
  const next = (Math.floor(now / dayMilliseconds) + 1) * dayMilliseconds
  return { date: new Date(now).toISOString().slice(0, 10), nextAt: new Date(next).toISOString() }
}

const isDailyClaim = (claim: string): boolean => claim.startsWith(prefix)

async function dailyBonusOf(account: string, now: number) {
  const { date, nextAt } = dayAt(now)
  const last = await PointEntries.findOne({ wallet_address: account, claim: { $gt: prefix, $lt: afterAllDays } })
    .sort({ claim: -1 })
    .lean<StoredEntry>()
  const lastClaimed = last?.claim.slice(prefix.length) ?? null
  return { available: lastClaimed !== date, lastClaimed, nextResetAt: nextAt, points: dailyPoints }
}

/** The claim contains the day, so there is one bonus a day. */
async function claimDaily(context: Context) {
  const { date, nextAt: nextClaimAt } = dayAt(context.node.now())
  const given = { claim: `${prefix}${date}`, points: dailyPoints, reason: 'Daily bonus' }
  const points = await awardPoints(context, signedIn(context).account, given)
  if (points === 0) return { success: false, points, error: 'You have claimed the bonus of today already', nextClaimAt }
  return { success: true, points, nextClaimAt }
}

const newestAtMost = 50

export const points = defineDomain(contract, {
  async get(_input, context) {
    const { account } = signedIn(context)
    const { points, claims } = await holdingOf(account)
    const [entries, actions] = await Promise.all([entriesOf(account, newestAtMost), earningsOf(account, claims)])
    const claimed = Object.fromEntries(
      [...claims].filter((claim) => !isDailyClaim(claim)).map((claim) => [claim, true as const]),
    )
    return { points, claimed, history: entries.map(entryOutput), actions }
  },

  claim: ({ action }, context) => claimAction(context, action),

  async balance(_input, context) {
    const { account } = signedIn(context)
    const { points } = await holdingOf(account)
    return { address: account, balance: points, lifetime_earned: points }
  },

  async history({ limit, before }, context) {
    const place = before === undefined ? undefined : placeOfId(before)
    const entries = await entriesOf(signedIn(context).account, limit, place)
    return {
      transactions: entries.map(({ _id, points, reason, created_at }) => ({
        id: _id,
        amount: points,
        reason,
        created_at: created_at.toISOString(),
      })),
    }
  },

  daily: (_input, context) => dailyBonusOf(signedIn(context).account, context.node.now()),

  claimDaily: (_input, context) => claimDaily(context),

  leaderboard: ({ limit, period = 'all' }, { node }) => leaderboard(node, limit, period),

  async ownRank(_input, context) {
    const { account } = signedIn(context)
    await holdingOf(account)
    return { entry: await rankOf(account) }
  },
})
