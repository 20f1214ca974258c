import { accountOf } from '#server/domains/accounts/accounts'
import { Accounts } from '#server/domains/accounts/model'
import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { betaAccess as contract } from '#shared/api/beta-access'
import { done } from '#shared/kit/primitives'
import { hasBetaAccess } from './beta.ts'

export const betaAccess = defineDomain(contract, {
  async get(_input, context) {
    const { account } = signedIn(context)
    const appliedAt = (await accountOf(account))?.beta_access_applied_at ?? null
    return {
      hasBetaAccess: await hasBetaAccess(context.node, account),
      hasApplied: appliedAt !== null,
      appliedAt: appliedAt?.toISOString() ?? null,
    }
  },

  async apply(_input, context) {
    const { account } = signedIn(context)
    if (await hasBetaAccess(context.node, account))
      return { ...done, message: 'You can make agents already', hasBetaAccess: true as const }
    const { modifiedCount } = await Accounts.updateOne(
      { _id: account, beta_access_applied_at: { $exists: false } },
      { $set: { beta_access_applied_at: new Date(context.node.now()) } },
    )
    if (modifiedCount === 0) return { ...done, message: 'You have asked already', alreadyApplied: true as const }
    return { ...done, message: 'Thank you. An admin will look at it.', applied: true as const }
  },
})
