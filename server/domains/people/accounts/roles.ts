import { unsignedEntry } from '#server/domains/rooms/events/define'
import type { Node, Role } from '#server/kernel/context'
import { GLOBAL, type Judgement, type View } from '#server/log/types'
import { AppError } from '#shared/errors'
import { accountRoleChanged, accountSuspended, accountUnsuspended } from './events.ts'
import { roleIn, roleKey, type Suspension, suspensionIn } from './facts.ts'
import { isLeavingAccount } from './found.ts'
import { roleSettings } from './settings.ts'

/** The role that an account may use now. */
export const roleOf = (node: Node, account: string): Promise<Role> =>
  node.log.ask(GLOBAL, (view) => effectiveRoleIn(view, account))

/** A suspended account has no role. */
const effectiveRoleIn = (view: View, account: string): Role =>
  suspensionIn(view, account) ? 'user' : roleIn(view, account)

const refuseAct = (message: string): Judgement<null> => ({ refuse: new AppError('FORBIDDEN', { message }) })
const alreadySo: Judgement<null> = { already: null }

/** Is the account suspended now? This node's memory suffices, because every suspension waits for all nodes. */
export function isSuspended({ log }: Node, account: string): boolean | Promise<boolean> {
  const question = (view: View) => suspensionIn(view, account) !== null
  return log.answerHere(GLOBAL, question) ?? log.ask(GLOBAL, question)
}

export const suspensionReasonOf = (node: Node, account: string): Promise<string | null> =>
  node.log.ask(GLOBAL, (view) => suspensionIn(view, account)?.reason ?? null)

/**
 * Suspends an account everywhere. Admins suspend users. Only super admins suspend admins, or change a super admin's
 * decision. Nobody suspends themselves.
 */
export async function suspendAccount(node: Node, actor: string, target: string, reason: string | null): Promise<void> {
  await node.log.act(GLOBAL, {
    sender: actor,
    makes: accountSuspended,
    judge(view) {
      const refusal = refuseRank(view, actor, target)
      if (refusal) return refusal
      const current = suspensionIn(view, target)
      if (current && current.reason === reason) return alreadySo
      if (isDecidedAbove(view, actor, current)) return refuseAct('Only super admins may do this')
      return { accept: unsignedEntry(accountSuspended, {}, { target, reason }) }
    },
  })
}

export async function unsuspendAccount(
  node: Node,
  actor: string,
  target: string,
  reason: string | null,
): Promise<void> {
  await node.log.act(GLOBAL, {
    sender: actor,
    makes: accountUnsuspended,
    judge(view) {
      const refusal = refuseRank(view, actor, target)
      if (refusal) return refusal
      const current = suspensionIn(view, target)
      if (!current) return alreadySo
      if (isDecidedAbove(view, actor, current)) return refuseAct('Only super admins may do this')
      return { accept: unsignedEntry(accountUnsuspended, {}, { target, reason }) }
    },
  })
}

/** Throws where this admin may not decide on that account. */
export async function refuseReach(node: Node, actor: string, target: string): Promise<void> {
  const refusal = await node.log.ask(GLOBAL, (view) => refuseRank(view, actor, target))
  if (refusal && 'refuse' in refusal) throw refusal.refuse
}

function refuseRank(view: View, actor: string, target: string): Judgement<null> | null {
  const mine = effectiveRoleIn(view, actor)
  if (mine === 'user') return refuseAct('Only admins may do this')
  if (actor === target) return refuseAct('You cannot do this to yourself')
  if (roleIn(view, target) !== 'user' && mine !== 'super_admin') return refuseAct('Only super admins may do this')
  return null
}

const isDecidedAbove = (view: View, actor: string, current: Suspension | null): boolean =>
  current !== null && roleIn(view, current.by) === 'super_admin' && effectiveRoleIn(view, actor) !== 'super_admin'

/** Sets the role of an account: super admins only, and never their own. Nobody appoints an account that is to be erased. */
export async function changeRole(node: Node, actor: string, target: string, role: Role): Promise<void> {
  const isLeaving = await isLeavingAccount(target)
  await node.log.act(GLOBAL, {
    sender: actor,
    makes: accountRoleChanged,
    judge(view) {
      if (effectiveRoleIn(view, actor) !== 'super_admin') return refuseAct('Only super admins may do this')
      if (actor === target) return refuseAct('You cannot change your own role')
      const before = roleIn(view, target)
      if (before === role) return alreadySo
      if (isLeaving && role !== 'user' && before !== 'super_admin') return { refuse: new AppError('USER_NOT_FOUND') }
      return { accept: unsignedEntry(accountRoleChanged, { role }, { target }) }
    },
  })
}

/** Gives the configured admins their role, unless a role was ever decided for them. */
export async function ensureAdmins(node: Node): Promise<void> {
  const { admins, superAdmins } = roleSettings.of(node)
  const wanted = new Map<string, Role>([
    ...admins.map((id) => [id, 'admin'] as const),
    ...superAdmins.map((id) => [id, 'super_admin'] as const),
  ])
  for (const [target, role] of wanted) {
    await node.log.act(GLOBAL, {
      sender: 'plaza',
      cid: `configured:${role}:${target}`,
      makes: accountRoleChanged,
      judge(view) {
        if (view.global.get(roleKey(target)) !== null) return alreadySo
        return { accept: unsignedEntry(accountRoleChanged, { role }, { target }) }
      },
    })
  }
}
