import { recordOf } from '#server/domains/events'
import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { blocksChanged } from '#server/domains/moderation/blocks/events'
import { isLeavingAccount } from '#server/domains/people/accounts/found'
import { isRowOf } from '#server/domains/rooms/events/define'
import { roomIn } from '#server/domains/rooms/room-state/facts'
import { kindOf } from '#server/domains/rooms/room-state/kinds'
import { becomeMember } from '#server/domains/rooms/room-state/membership'
import { roomAnswer } from '#server/domains/rooms/room-state/rows'
import { actorOf, ranks, rightsIn, standingOf } from '#server/domains/rooms/room-state/standing'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { GLOBAL, type RoomKey, type Row, type View } from '#server/log/types'
import type { QueryFilter } from '#server/ports/database/port'
import { groupInvitations as contract } from '#shared/api/rooms/group-invitations'
import { AppError, type ErrorCode } from '#shared/errors'
import { done, roomKey } from '#shared/kit/primitives'
import { enterRoom } from '../members.ts'
import {
  endInvitation,
  endMessage,
  invitationIdOf,
  openInvitationsOf,
  undecidedFilter,
  withdrawAnswered,
} from './inviting.ts'
import { type GroupInvitationRow, GroupInvitations } from './model.ts'

/** May a member add people now? A suspended or banned one has only the rank. */
function mayAddPeople(view: View, account: string, now: number): boolean {
  const { isMember, isModerator, rank } = rightsIn(view, account, now)
  return isMember && isModerator && rank >= ranks.admin
}

/**
 * Ends invitations without a basis, as soon as the log shows it. The inviter lost the right, the group was closed, or
 * the invited person joined, was banned or is blocked. It never revives. The appending node does it; missed ones are
 * left out of lists and refused.
 */
function endGroundlessInvitations(node: Node): () => void {
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

export const groupInvitations = defineDomain(
  contract,
  {
    async list({ limit, before }, context) {
      const { invitations, next } = await openInvitationsOf(context.node, signedIn(context).account, limit, before)
      return { invitations, has_more: next !== null, next }
    },

    async accept({ id }, context) {
      const { account } = signedIn(context)
      const { node } = context
      const invitation = await reserveInvitation(node, account, id)
      const { room, inviter_address } = invitation
      if (await areBlocked(account, inviter_address)) {
        await endInvitation(node, invitation, 'ended')
        throw unknownInvitation()
      }
      const [actor, isLeaving] = await Promise.all([actorOf(node, account), isLeavingAccount(inviter_address)])
      await enterRoom(node, room, {
        who: account,
        judge(view, now, pass) {
          const joined = becomeMember(view, now, actor, { invited: true, pass })
          const isOpen = invitation.status === 'pending' && now <= Date.parse(invitation.accepting_until ?? '')
          // The inviter may still keep the account, and the invitation with it.
          if ('accept' in joined && isLeaving) return { refuse: unknownInvitation() }
          if ('accept' in joined && (!isOpen || !mayAddPeople(view, inviter_address, now)))
            return { refuse: new AppError('INVITATION_REVOKED') }
          return joined
        },
      }).catch(async (error: unknown) => {
        if (error instanceof AppError && finalErrors.has(error.code)) await endInvitation(node, invitation, 'ended')
        throw error
      })
      await endInvitation(node, invitation, 'accepted')
      return { ...done, group: await roomAnswer(node, room, account) }
    },

    async decline({ id }, context) {
      const { account } = signedIn(context)
      const invitation = await invitationTo(account, id, ['pending', 'declined'])
      const isDeclined = invitation.status === 'declined'
      if (
        !isDeclined &&
        !(await endInvitation(context.node, invitation, 'declined', undecidedFilter(context.node.now())))
      )
        await invitationTo(account, id, ['declined'])
      return done
    },

    async withdraw({ id, address }, context) {
      const { account } = signedIn(context)
      const { node } = context
      const key = roomKey({ type: 'group', id })
      const isAdmin = await node.log.ask(key, (view) => standingOf(view, account).rank >= ranks.admin)
      const theirs = { _id: invitationIdOf(key, address), ...(isAdmin ? {} : { inviter_address: account }) }
      const invitation = await GroupInvitations.findOne(theirs).lean<GroupInvitationRow>()
      const status = invitation?.status === 'unsent' ? 'unsent' : 'pending'
      const isTaken =
        invitation !== null &&
        ((await endInvitation(node, invitation, 'withdrawn', undecidedFilter(node.now(), status))) ||
          (await withdrawAnswered(invitation)))
      if (!isTaken) throw unknownInvitation()
      return done
    },
  },
  { start: (node) => [endMessage.follow(node), endGroundlessInvitations(node)] },
)

const unknownInvitation = () => new AppError('NOT_FOUND', { message: 'Invitation not found, or answered already' })

/** These errors end an invitation, because it can never be valid again. */
const finalErrors: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['BANNED', 'ROOM_ARCHIVED', 'INVITATION_REVOKED'])

/** Longer than the log's answer. If the process dies, the invitation is open again afterwards. */
const acceptingMilliseconds = 30_000

/**
 * Reserves the invitation, so that it is neither declined nor withdrawn meanwhile. An ended one is returned unchanged.
 */
async function reserveInvitation(node: Node, account: string, id: string): Promise<GroupInvitationRow> {
  const until = new Date(node.now() + acceptingMilliseconds).toISOString()
  const taken = await GroupInvitations.findOneAndUpdate(
    { invitation_id: id, invitee_address: account, status: 'pending' },
    { $set: { accepting_until: until } },
    { returnDocument: 'after' },
  ).lean<GroupInvitationRow>()
  return taken ?? invitationTo(account, id, ['accepted', 'ended'])
}

/** This account's invitation of this id in one of these states; other people's are not found. */
async function invitationTo(
  account: string,
  id: string,
  states: readonly GroupInvitationRow['status'][],
): Promise<GroupInvitationRow> {
  const mine = { invitation_id: id, invitee_address: account, status: { $in: states } }
  const found = await GroupInvitations.findOne(mine).lean<GroupInvitationRow>()
  if (!found) throw unknownInvitation()
  return found
}
