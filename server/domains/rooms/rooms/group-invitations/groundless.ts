import { recordOf } from '#server/domains/events'
import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { blocksChanged } from '#server/domains/moderation/blocks/events'
import { isRowOf } from '#server/domains/rooms/events/define'
import { roomIn } from '#server/domains/rooms/room-state/facts'
import { kindOf } from '#server/domains/rooms/room-state/kinds'
import { ranks, rightsIn } from '#server/domains/rooms/room-state/standing'
import type { Node } from '#server/kernel/context'
import { GLOBAL, type RoomKey, type Row, type View } from '#server/log/types'
import type { QueryFilter } from '#server/ports/database/port'
import { endInvitation } from './ending.ts'
import { type GroupInvitationRow, GroupInvitations } from './model.ts'

/** May a member add people now? A suspended or banned one has only the rank. */
export function mayAddPeople(view: View, account: string, now: number): boolean {
  const { isMember, isModerator, rank } = rightsIn(view, account, now)
  return isMember && isModerator && rank >= ranks.admin
}

/**
 * Ends invitations without a basis, as soon as the log shows it. The inviter lost the right, the group was closed, or
 * the invited person joined, was banned or is blocked. It never revives. The appending node does it; missed ones are
 * left out of lists and refused.
 */
export function endGroundlessInvitations(node: Node): () => void {
  node.log.onRows((key, rows, isOurs) => {
    if (!isOurs || !(key === GLOBAL || kindOf(key).joining === 'invited')) return
    for (const row of rows)
      endAfter(node, key, row).catch((error: unknown) =>
        node.logger.warn({ error }, 'an invitation to a group was not ended'),
      )
  })
  return () => {}
}

async function endAfter(node: Node, room: RoomKey, row: Row): Promise<void> {
  const { admits, removes, changesRights } = recordOf(row.type) ?? {}
  if (isRowOf(row, blocksChanged)) return endBetween(node, row.sender, String(row.body.other))
  const target = changesRights === 'of the target' ? row.target : null
  if (room === GLOBAL) return target === null ? undefined : endGroundless(node, { inviter_address: target })
  const [joined, gone] = [admits?.(row) ?? null, removes?.(row, row.body) ?? null]
  if (joined !== null) await endAll(node, { room, invitee_address: joined }, 'accepted')
  if (gone !== null) await endAll(node, { room, invitee_address: gone }, 'ended')
  const inviter_address = gone ?? target
  if (changesRights === 'of everybody') await endGroundless(node, { room })
  else if (inviter_address !== null) await endGroundless(node, { room, inviter_address })
}

async function endBetween(node: Node, one: string, other: string): Promise<void> {
  if (!(await areBlocked(one, other))) return
  const pair = { $in: [one, other] }
  await endAll(node, { inviter_address: pair, invitee_address: pair }, 'ended')
}

type InvitationFilter = QueryFilter<GroupInvitationRow>

const waitingAmong = (among: InvitationFilter) =>
  GroupInvitations.find({ ...among, status: 'pending' }).lean<GroupInvitationRow[]>()

async function endAll(node: Node, among: InvitationFilter, status: 'accepted' | 'ended'): Promise<void> {
  for (const invitation of await waitingAmong(among)) await endInvitation(node, invitation, status)
}

/** Ends invitations whose group is closed, or whose inviter lost the right. */
async function endGroundless(node: Node, among: InvitationFilter): Promise<void> {
  const waiting = await waitingAmong(among)
  for (const room of new Set(waiting.map((invitation) => invitation.room))) {
    const here = waiting.filter((invitation) => invitation.room === room)
    const groundless = await node.log.ask(room, (view, now) =>
      here.filter(({ inviter_address }) => !roomIn(view)?.is_active || !mayAddPeople(view, inviter_address, now)),
    )
    for (const invitation of groundless) await endInvitation(node, invitation, 'ended')
  }
}
