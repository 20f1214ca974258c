import { ranks, standingOf } from '#server/domains/rooms/room-state/standing'
import type { Node } from '#server/kernel/context'
import { GLOBAL, type RoomKey } from '#server/log/types'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { Reports } from './model.ts'

/** The weight of an account's decision on a report, and whether it counts globally or in its room. */
interface Weight {
  decidesGlobally: boolean
  weight: number
}

/** Admins and global moderators decide globally, unless their role in the room is higher. */
export async function weightOf({ log }: Node, account: string, room: RoomKey | null): Promise<Weight> {
  const everywhere = await log.ask(GLOBAL, (view) => standingOf(view, account))
  const here = room === null ? null : await log.ask(room, (view) => standingOf(view, account))
  const isModerator = everywhere.isModerator && (here === null || here.rank <= ranks.moderator)
  const decidesGlobally = everywhere.isAdmin || isModerator
  return { decidesGlobally, weight: decidesGlobally ? ranks.superAdmin + everywhere.rank : (here ?? everywhere).rank }
}

/** The state of a report or flag before a decision. */
interface DecisionState {
  id: string
  state: string
  room_state: string | null
  claimed_by: string | null
  decided_by: string | null
  room_decided_by: string | null
}

interface StoredReport {
  _id: string
  status: string
  claimed_by?: string | null
  reviewed_by?: string | null
  room_status?: string | null
  room_decided_by?: string | null
}

/** The state of a stored report; older versions stored no decision of a room. */
export const beforeDecision = (row: StoredReport): DecisionState => ({
  id: row._id,
  state: row.status,
  claimed_by: row.claimed_by ?? null,
  decided_by: row.reviewed_by ?? null,
  room_state: row.room_status ?? null,
  room_decided_by: row.room_decided_by ?? null,
})

/** Is the report decided? */
export const isClosed = (state: string | null): boolean => state === 'action_taken' || state === 'dismissed'

/**
 * Refuses a decision on a report that an equal or higher rank has claimed, or a higher rank has decided. Returns
 * whether this account decides globally.
 */
export async function refuseOverruling(
  node: Node,
  account: string,
  room: RoomKey | null,
  { claimed_by, state, decided_by, room_state, room_decided_by }: DecisionState,
): Promise<boolean> {
  const mine = await weightOf(node, account, room)
  const weighs = async (other: string | null) =>
    other === null || isSameAccount(other, account) ? -1 : (await weightOf(node, other, room)).weight
  if ((await weighs(claimed_by)) >= mine.weight) throw new AppError('CONFLICT', { message: claimedText })
  const deciders = [isClosed(state) ? decided_by : null, isClosed(room_state) ? room_decided_by : null]
  for (const decider of deciders)
    if ((await weighs(decider)) > mine.weight)
      throw new AppError('CONFLICT', { message: 'Somebody above you has decided this' })
  return mine.decidesGlobally
}

const claimedText = 'Somebody else looks at this already'

/** Refuses a late decision: another account has claimed or decided meanwhile. */
export function refuseLateDecision<T>(found: T | null): T {
  if (found === null) throw new AppError('CONFLICT', { message: claimedText })
  return found
}

/** Matches the report if nobody has claimed or decided it since it was read. */
export const unchangedFilter = ({ id, state, claimed_by, decided_by, room_state, room_decided_by }: DecisionState) => ({
  _id: id,
  status: state,
  claimed_by,
  reviewed_by: decided_by,
  room_status: room_state,
  room_decided_by,
})

interface RoomDecision {
  status: string
  by: string
  at: string
  note: string | null
}

/** Decides a report for the moderators of its room. It stays open and unclaimed for global moderators. */
export async function settleForRoom(item: DecisionState, { status, by, at, note }: RoomDecision): Promise<void> {
  const decided = { room_status: status, room_decided_by: by, room_decided_at: at, room_notes: note }
  const change = { ...decided, ...(isClosed(status) ? { claimed_by: null } : {}) }
  refuseLateDecision(await Reports.findOneAndUpdate(unchangedFilter(item), { $set: change }).lean())
}
