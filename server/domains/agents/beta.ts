import { Accounts } from '#server/domains/accounts/model'
import { isAdmin } from '#server/domains/agent-state/access'
import { agentSettings } from '#server/domains/agent-state/settings'
import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'

/** May the account make agents already? A server of one process is open, as long as nothing else is set. */
export async function hasBetaAccess(node: Node, account: string): Promise<boolean> {
  const { beta = node.alone ? 'open' : 'granted' } = agentSettings.of(node)
  if (beta === 'open' || (await isAdmin(node, account))) return true
  return (await Accounts.exists({ _id: account, beta_access: true })) !== null
}

/** Refuses who may not do yet what is for some alone: make agents, where nothing else is said. */
export async function refuseWithoutBeta(node: Node, account: string, message?: string): Promise<void> {
  if (!(await hasBetaAccess(node, account)))
    throw new AppError('BETA_ACCESS_REQUIRED', message === undefined ? {} : { message })
}
