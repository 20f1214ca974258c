import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { refuseNewContact } from '#server/domains/people/accounts/found'
import { refuseDisplayName } from '#server/domains/people/accounts/profile-changes'
import { profileOf, profilesOf } from '#server/domains/people/accounts/profiles'
import { refuseNames, refuseWords } from '#server/domains/rooms/room-state/judge-draft'
import { audiences, type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { newId } from '#server/kernel/ids'
import { GLOBAL } from '#server/log/types'
import { meetings as contract, meetingOver, placesAtMost } from '#shared/api/meetings/meetings'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'
import type { StoredMeeting } from './model.ts'
import { endMeeting, joinUrlOf, meetingAt, meetingsOf, openMeeting, openMeetingAt, permanentRoom } from './records.ts'
import {
  deleteSeatsIn,
  enter,
  guestIdentity,
  isHostIn,
  keepMeetingPlaces,
  leave,
  leavePlace,
  peopleCounts,
  refuseRemoved,
  refuseWithoutHost,
  removePerson,
  seatOf,
  seatsOf,
  signal,
} from './seating.ts'
import { meetingSettings } from './settings.ts'

const listedAtMost = 10
const hourSeconds = 3_600
const most = { opened: { many: 50, seconds: 24 * hourSeconds }, tokens: { many: 60, seconds: hourSeconds } }

export const meetings = defineDomain(
  contract,
  {
    async create({ title = 'Quick Meeting', maxParticipants = placesAtMost }, context) {
      const { account } = signedIn(context)
      const { node } = context
      await node.log.ask(GLOBAL, (view) => refuseNames(node, view, account, { name: title }))
      await count(node, 'meetings-by', account, most.opened)
      const meeting = await openMeeting(context, account, { title, max_participants: maxParticipants })
      return { ...done, room: { ...shown(meeting), joinUrl: joinUrlOf(node, meeting.join_code) } }
    },

    async list(_input, context) {
      const { node } = context
      const open = await meetingsOf(signedIn(context).account, node.now(), listedAtMost)
      const present = await presentIn(node, open)
      return {
        rooms: open.map((meeting) => ({
          ...counted(meeting, present),
          joinUrl: joinUrlOf(node, meeting.join_code),
        })),
      }
    },

    async permanent({ wallet_address }, { node }) {
      await refuseNewContact(wallet_address)
      const { room_id } = await permanentRoom(node, wallet_address)
      const permanentUrl = joinUrlOf(node, wallet_address)
      return { ...done, room: { roomId: room_id, permanentUrl, walletAddress: wallet_address } }
    },

    async get({ code }, context) {
      const { node } = context
      const meeting = await openMeetingAt(context, code)
      const { host_wallet_address: address } = meeting
      const host = (await profilesOf(node, [address])).get(address) ?? profileOf({ _id: address })
      return {
        room: {
          ...counted(meeting, await presentIn(node, [meeting])),
          isPermanent: meeting.permanent_of !== undefined,
          host: {
            address,
            displayName: host.name,
            avatar: host.avatar_url,
            isPresent: node.services.meetings.url === null ? await isHostIn(node, meeting.room_id) : null,
          },
        },
      }
    },

    async end({ code }, context) {
      const { node } = context
      const meeting = await hostedAt(context, code)
      await endMeeting(meeting, node.now())
      await deleteSeatsIn(meeting.room_id)
      context.emit(meetingOver, audiences.meeting(meeting.room_id), { why: 'ended' })
      await node.services.meetings.close(meeting.room_id)
      const isPermanent = meeting.permanent_of !== undefined
      return { ...done, message: isPermanent ? 'Everybody has left; the room stays' : 'The meeting has ended' }
    },

    async remove({ code, peer }, context) {
      const { node } = context
      const { room_id: room } = await hostedAt(context, code)
      const seat = await seatOf(peer)
      if (seat?.room_id !== room) throw new AppError('NOT_FOUND', { message: 'Nobody in this meeting' })
      if (seat.is_host) throw new AppError('VALIDATION_ERROR', { message: 'The host leaves or ends the meeting' })
      await removePerson(node, seat)
      for (const one of await seatsOf(room, seat.identity)) {
        await leavePlace(node, { room, peer: one.peer })
        context.emit(meetingOver, audiences.peer(room, one.peer), { why: 'removed' })
      }
      return done
    },

    async token({ code, displayName }, context) {
      const name = displayName.normalize('NFC')
      const { node, caller } = context
      const meeting = await openMeetingAt(context, code)
      const { host_wallet_address: host, room_id: room, max_participants } = meeting
      const { account, ip } = caller
      const identity = account ?? guestIdentity(newId())
      await refuseRemoved(node, room, identity, ip)
      if (account !== null && (await areBlocked(account, host)))
        throw new AppError('BLOCKED', { message: 'You cannot meet this user' })
      if (account === null || !(await isTheirs(node, account, name)))
        await refuseDisplayName('displayName', account ?? '', name)
      await node.log.ask(GLOBAL, (view) => refuseWords(node, view, account ?? ip, [name]))
      const isHost = isSameAccount(account, host)
      if (!isHost) await refuseWithoutHost(node, meeting)
      await count(node, 'meeting-tokens', account ?? ip, most.tokens)
      const { url } = node.services.meetings
      const token = await node.services.meetings.admit({ room, identity, name, isHost }, max_participants)
      return { token, roomId: room, isHost, identity, url }
    },

    enter,
    signal,
    leave,
  },
  { settings: meetingSettings, start: (node) => [keepMeetingPlaces(node)] },
)

/** Loads a meeting of the caller; others get the answer of a missing one. */
async function hostedAt(context: Context, code: string): Promise<StoredMeeting> {
  const { account } = signedIn(context)
  const meeting = await meetingAt(context, code)
  if (!isSameAccount(meeting.host_wallet_address, account)) throw new AppError('ROOM_NOT_FOUND')
  return meeting
}

/** Limits meetings and visits, which cost money at a provider. */
async function count(node: Node, what: string, whose: string, { many, seconds }: typeof most.tokens): Promise<void> {
  if (!(await node.limits.guard(what, whose, many, seconds)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: seconds })
}

/** Whether an account has this name already; it may keep it. */
async function isTheirs(node: Node, account: string, name: string): Promise<boolean> {
  const profile = (await profilesOf(node, [account])).get(account)
  return profile !== undefined && [profile.name, profile.username, profile.display_name].includes(name)
}

const shown = ({ _id, room_id, join_code, title, max_participants, expires_at }: StoredMeeting) => ({
  id: _id,
  roomId: room_id,
  joinCode: join_code,
  title,
  maxParticipants: max_participants,
  expiresAt: expires_at?.toISOString() ?? null,
})

const counted = (meeting: StoredMeeting, present: ReadonlyMap<string, number>) => ({
  ...shown(meeting),
  participantCount: present.get(meeting.room_id) ?? 0,
  createdAt: meeting.created_at.toISOString(),
})

/** The number of people in each room; without the provider's answer the list comes without it. */
async function presentIn(node: Node, among: readonly StoredMeeting[]): Promise<ReadonlyMap<string, number>> {
  const rooms = among.map(({ room_id }) => room_id)
  const counts = await node.services.meetings.present(rooms).catch((error: unknown) => {
    node.logger.warn({ error }, 'the provider of meetings does not say who is there')
    return new Map<string, number>()
  })
  return counts ?? peopleCounts(node, rooms)
}
