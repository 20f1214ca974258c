import { updateAgentProfile } from '#server/domains/agents/agent-rooms/memberships'
import { Agents, type StoredAgent } from '#server/domains/agents/agent-state/model'
import { ofFound } from '#server/domains/people/accounts/found'
import { Accounts } from '#server/domains/people/accounts/model'
import type { Node } from '#server/kernel/context'
import { isDuplicate } from '#server/ports/database/port'
import { isSameAccount } from '#shared/kit/accounts'
import { type ErasedAccount, withAlias } from './alias.ts'

/** Official agents are of the installation: those of the account get another owner, and pictures of its own another address. */
export async function handOverAgents(node: Node, erased: ErasedAccount): Promise<void> {
  const isErased = (account: string | null) => account !== null && isSameAccount(account, erased.account)
  for (const agent of await Agents.find({ visibility: 'official' }).lean<StoredAgent[]>()) {
    const isOwn = isErased(agent.owner_address)
    const avatar_url = withAlias(agent.avatar_url, erased)
    if (!isOwn && avatar_url === agent.avatar_url) continue
    const x402_wallet_address = isErased(agent.x402_wallet_address) ? null : agent.x402_wallet_address
    const about = { avatar_url, x402_wallet_address }
    if (isOwn) await giveToHeir(agent._id, erased, about)
    else await Agents.updateOne({ _id: agent._id }, { $set: about })
    await updateAgentProfile(node, { ...agent, avatar_url })
  }
}

/** An owner has each name once, so that an heir with an agent of this name is passed over. */
async function giveToHeir(_id: string, { account, alias }: ErasedAccount, about: Partial<StoredAgent>): Promise<void> {
  const superAdmins = { ...ofFound, role: 'super_admin' as const, _id: { $ne: account } }
  const heirs = await Accounts.find(superAdmins, { _id: 1 }).sort({ created_at: 1, _id: 1 }).lean()
  for (const owner_address of [...heirs.map((heir) => heir._id), alias]) {
    const change = { $set: { ...about, owner_address }, $unset: { place: '' } }
    const isGiven = await Agents.updateOne({ _id }, change).then(
      () => true,
      (error: unknown) => {
        if (isDuplicate(error)) return false
        throw error
      },
    )
    if (isGiven) return
  }
}
