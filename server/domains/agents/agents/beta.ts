import { isAdmin } from '#server/domains/agents/agent-state/access'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { Accounts } from '#server/domains/people/accounts/model'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { betaAccess as contract } from '#shared/api/agents/beta-access'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { betaSettings } from './settings.ts'

export const betaAccess = defineDomain(
  contract,
  {
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
  },
  { settings: betaSettings },
)

/** Whether the account may create agents. A single-process server is open by default. */
async function hasBetaAccess(node: Node, account: string): Promise<boolean> {
  const { beta = node.alone ? 'open' : 'granted' } = betaSettings.of(node)
  if (beta === 'open' || (await isAdmin(node, account))) return true
  return (await Accounts.exists({ _id: account, beta_access: true })) !== null
}

/** Refuses accounts without beta access. */
export async function refuseWithoutBeta(node: Node, account: string, message?: string): Promise<void> {
  if (!(await hasBetaAccess(node, account)))
    throw new AppError('BETA_ACCESS_REQUIRED', message === undefined ? {} : { message })
}
