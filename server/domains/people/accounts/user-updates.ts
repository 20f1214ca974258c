import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import { accountOf } from './accounts.ts'
import { Accounts } from './model.ts'
import { suspendAccount, unsuspendAccount } from './roles.ts'

interface UserUpdates {
  is_banned?: boolean | undefined
  ban_reason?: string | null | undefined
  notes?: string | null | undefined
  beta_access?: boolean | undefined
}

/** Changes an account's admin fields. Nobody grants beta access to themselves. */
export async function updateUser(node: Node, admin: string, target: string, updates: UserUpdates): Promise<void> {
  const { is_banned, ban_reason, notes, beta_access } = updates
  if (!(await accountOf(target))) throw new AppError('USER_NOT_FOUND')
  if (beta_access !== undefined && target === admin)
    throw new AppError('FORBIDDEN', { message: 'Another admin must decide this of you' })
  if (is_banned !== undefined)
    await (is_banned ? suspendAccount : unsuspendAccount)(node, admin, target, ban_reason || null)
  const set = {
    ...(notes === undefined ? {} : { admin_notes: notes ?? '' }),
    ...(beta_access === undefined ? {} : { beta_access }),
  }
  if (Object.keys(set).length > 0) await Accounts.updateOne({ _id: target }, { $set: set })
}
