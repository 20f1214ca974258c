import { actingIn } from '#server/domains/room-state/access'
import { banIn, memberIn } from '#server/domains/room-state/facts'
import { ranks } from '#server/domains/room-state/standing'
import { budgets } from '#server/kernel/budgets'
import { audiences, type Context, type Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { RoomKey } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import { groupInvited } from '#shared/api/group-invitations'
import { AppError } from '#shared/errors'
import { type GroupInvitationRow, GroupInvitations } from './model.ts'
import { shownAll } from './rows.ts'

const hourSeconds = 3_600
const pendingAtMost = 100
/** Who has said no to a group is left in peace by it for so long. */
const peaceMilliseconds = 30 * 24 * hourSeconds * 1_000

/** Refuses who asks too many people within an hour, or has too many waiting for an answer. */
export async function allowAsking(node: Node, account: string, count: number): Promise<void> {
  if (count === 0) return
  const anHour = budgets.groupInvitations.most
  for (let one = 0; one < count; one++)
    if (!(await node.limits.throttle('group-invitations-by', account, anHour, hourSeconds)))
      throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
  const pending = await GroupInvitations.countDocuments({ inviter_address: account, status: 'pending' })
  if (pending + count > pendingAtMost)
    throw new AppError('CONFLICT', { message: `At most ${pendingAtMost} invitations of yours may wait for an answer` })
}

/**
 * Asks people whether they want to be in a group of this account, each once; who is in already is passed over. Returns whom. Who has declined
 * lately is not asked again, and is among them: a refusal is told to nobody.
 */
export async function askInto(node: Node, account: string, key: RoomKey, people: readonly string[]): Promise<string[]> {
  if (people.length === 0) return []
  const outside = await node.log.ask(key, (view, now) => {
    const { room, standing } = actingIn(view, account, now)
    if (standing.rank < ranks.admin)
      throw new AppError('FORBIDDEN', { message: 'Only the admin of the group may add people' })
    if (!room.is_active) throw new AppError('ROOM_ARCHIVED')
    const outside = people.filter((person) => memberIn(view, person) === null)
    if (outside.some((person) => banIn(view, person, now) !== null)) throw new AppError('BANNED')
    return outside
  })
  for (const person of outside) await ask(node, account, key, person)
  return outside
}

/** Tells those among these people who are asked into a group and have not answered. */
export async function tellAsked(context: Context, key: RoomKey, people: readonly string[]): Promise<void> {
  if (people.length === 0) return
  const asked = { _id: { $in: people.map((person) => idOf(key, person)) }, status: 'pending' as const }
  const rows = await GroupInvitations.find(asked).lean<GroupInvitationRow[]>()
  for (const invitation of await shownAll(context.node, rows))
    context.emit(groupInvited, audiences.account(invitation.invitee_address), { invitation })
}

export const idOf = (key: RoomKey, person: string): string => `${key} ${person}`

async function ask(node: Node, account: string, key: RoomKey, person: string): Promise<void> {
  const now = node.now()
  const _id = idOf(key, person)
  const fields = {
    invitation_id: newId(),
    inviter_address: account,
    status: 'pending' as const,
    created_at: new Date(now).toISOString(),
    responded_at: null,
  }
  try {
    await GroupInvitations.create({ _id, room: key, invitee_address: person, ...fields })
  } catch (error) {
    if (!isDuplicate(error)) throw error
    const answeredBefore = new Date(now - peaceMilliseconds).toISOString()
    const left = { status: { $in: ['accepted' as const, 'withdrawn' as const, 'ended' as const] } }
    const calm = { status: 'declined' as const, responded_at: { $lt: answeredBefore } }
    await GroupInvitations.updateOne({ _id, $or: [left, calm] }, { $set: fields })
  }
}
