import { accountOf, plazaAccount } from '#server/domains/people/accounts/accounts'
import { type Account, Phones } from '#server/domains/people/accounts/model'
import { friendsOf, otherPersonOf } from '#server/domains/people/friends/pairs'
import { pageOf } from '#server/domains/people/profiles/pages'
import { type Context, signedIn } from '#server/kernel/context'
import { type PointsAction, type PointsState, pointsActions } from '#shared/api/people/points'
import { isSameAccount } from '#shared/kit/accounts'
import { type Award, awardPoints, type Holding, holdingOf, verifiedAwards } from './ledger.ts'

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
export async function earningsOf(id: string, claims: Holding['claims']) {
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
export async function claimAction(context: Context, action: PointsAction) {
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
