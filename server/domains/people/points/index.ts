import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { placeOfId } from '#server/kernel/store/cursors'
import { points as contract } from '#shared/api/people/points'
import { claimAction, earningsOf } from './actions.ts'
import { claimDaily, dailyBonusOf, isDailyClaim } from './daily.ts'
import { entriesOf, entryOutput, holdingOf } from './ledger.ts'
import { leaderboard, rankOf } from './ranks.ts'

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
