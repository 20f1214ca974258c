import { Agents } from '#server/domains/agents/agent-state/model'
import { Bookings } from '#server/domains/meetings/scheduling/model'
import { Payments } from '#server/domains/payments/payments/model'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { planErasure } from '#server/domains/people/accounts/leaving'
import type { Account } from '#server/domains/people/accounts/model'
import { forgetProfile } from '#server/domains/people/accounts/profiles'
import { endAllSessions } from '#server/domains/people/identity/session-ends'
import { Webhooks } from '#server/domains/platform/webhooks/model'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { Streams } from '#server/domains/streams/streams/model'
import type { Node } from '#server/kernel/context'
import type { MessagesOfErased } from '#shared/api/platform/own-data'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { newAlias } from './alias.ts'
import { erasing, noteErasure, reminding, writeOfErasure } from './erasing.ts'

const reminderMilliseconds = 2 * 86_400_000

/** Refuses an erasure that is not confirmed by the name or the address of the account. */
export function refuseUnconfirmed(account: Account, confirm: string): void {
  const given = confirm.trim()
  const names = [account.display_name, account.username, account.username && `@${account.username}`]
  const isNamed = names.some((name) => name?.trim().toLowerCase() === given.toLowerCase())
  if ((given !== '' && isNamed) || isSameAccount(account._id, given)) return
  throw new AppError('VALIDATION_ERROR', {
    message: 'confirm: type the name or the address of your account',
    details: { path: 'confirm' },
  })
}

interface Asked {
  id: string
  account: string
  messages: MessagesOfErased
  /** So long the erasure can be taken back. */
  graceMilliseconds: number
}

/** Plans the erasure of an account, and signs it out everywhere. */
export async function planFor(node: Node, { id, account, messages, graceMilliseconds }: Asked): Promise<Date> {
  const dueAt = node.now() + graceMilliseconds
  const erased_at = new Date(dueAt)
  await planErasure(account, id, erased_at)
  const work = { id, account, alias: newAlias(), messages }
  await noteErasure(node, work, erased_at)
  await node.jobs.add(erasing, work, `erasure ${id}`, dueAt)
  if (graceMilliseconds > 0) {
    const remindAt = dueAt - Math.min(reminderMilliseconds, graceMilliseconds / 2)
    await node.jobs.add(reminding, { id, account }, `erasure-reminder-due ${id}`, remindAt)
    await writeOfErasure(node, account, id, 'notice')
  }
  await endAllSessions(node, account)
  forgetProfile(node, account)
  return erased_at
}

/** What an erasure would end, by count. */
export async function countedFor(account: string, now: number) {
  const upcoming = { parties: account, scheduled_at: { $gt: new Date(now) }, status: { $ne: 'cancelled' as const } }
  const [rooms, agents, streams, calls, webhooks, payments] = await Promise.all([
    Rooms.countDocuments({ owner_address: account, is_active: true }),
    Agents.countDocuments({ owner_address: account, visibility: { $ne: 'official' } }),
    Streams.countDocuments({ user_address: account }),
    Bookings.countDocuments(upcoming),
    Webhooks.countDocuments({ account }),
    Payments.countDocuments({ $or: [{ payer: account as `0x${string}` }, { pay_to: account as `0x${string}` }] }),
  ])
  return { rooms, agents, streams, calls, webhooks, payments }
}

export async function erasureOf(account: string) {
  const known = await accountOf(account)
  if (!known) throw new AppError('UNAUTHORIZED')
  return { erased_at: known.erased_at?.toISOString() ?? null, kept_at: known.kept_at?.toISOString() ?? null }
}
