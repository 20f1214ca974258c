import { randomInt } from 'node:crypto'
import type { Context, Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { readBack } from '#server/kernel/read-back'
import { isDuplicate } from '#server/ports/database/port'
import { isJoinCode, placesAtMost } from '#shared/api/meetings'
import { AppError } from '#shared/errors'
import { linkTo } from '#shared/kit/pages'
import { Meetings, type StoredMeeting } from './model.ts'

const lifeMilliseconds = 24 * 3_600_000
const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const codeLength = 6
/** Codes that are nobody's, asked for from one address within a minute. */
const guesses = { most: 20, seconds: 60 }

const newCode = (): string => Array.from({ length: codeLength }, () => letters[randomInt(letters.length)]).join('')

/** A new meeting; one that is made again with its key is the first one. */
export const openMeeting = (
  { node, creationId }: Context,
  host: string,
  given: Pick<StoredMeeting, 'title' | 'max_participants'>,
): Promise<StoredMeeting> =>
  insert(node, { _id: creationId }, { ...given, host_wallet_address: host }, node.now() + lifeMilliseconds)

/** The room that an account has for good; several who ask for it at once get the same. */
export const permanentRoom = async (node: Node, host: string): Promise<StoredMeeting> =>
  (await Meetings.findOne({ permanent_of: host }).lean<StoredMeeting>()) ??
  (await insert(
    node,
    { _id: newId(), permanent_of: host },
    { title: 'Permanent room', max_participants: placesAtMost, host_wallet_address: host },
    null,
  ))

interface BookedCall {
  id: string
  host: string
  title: string
  ends: Date
}

/** The meeting of a call that was booked: the same for all who come to it, on whatever node, and over with it. Throws MEETING_ENDED where its host has ended it. */
export async function meetingOfCall(node: Node, { id, host, title, ends }: BookedCall): Promise<StoredMeeting> {
  const _id = `call-${id}`
  const meeting =
    (await Meetings.findOne({ _id }).lean<StoredMeeting>()) ??
    (await insert(node, { _id }, { title, max_participants: placesAtMost, host_wallet_address: host }, ends.getTime()))
  if (meeting.status === 'ended') throw new AppError('MEETING_ENDED')
  return meeting
}

/** Where people enter a meeting: by its code, or the address of the account whose permanent room it is. */
export const joinUrlOf = ({ settings }: Node, code: string): string => settings.publicUrl + linkTo('meeting', { code })

async function insert(
  node: Node,
  is: Pick<StoredMeeting, '_id' | 'permanent_of'>,
  given: Pick<StoredMeeting, 'title' | 'max_participants' | 'host_wallet_address'>,
  expires: number | null,
): Promise<StoredMeeting> {
  const { _id, permanent_of } = is
  const same = permanent_of === undefined ? { _id } : { permanent_of }
  for (;;) {
    const meeting: StoredMeeting = {
      ...is,
      ...given,
      room_id: newId(),
      join_code: newCode(),
      status: 'active',
      created_at: new Date(node.now()),
      expires_at: expires === null ? null : new Date(expires),
      ended_at: null,
    }
    try {
      await Meetings.create(meeting)
      return meeting
    } catch (error) {
      if (!isDuplicate(error)) throw error
      const before = await readBack(() => Meetings.findOne(same).lean<StoredMeeting>())
      // Otherwise the code is another's.
      if (before) return before
    }
  }
}

/** The newest of an account that go on. */
export const meetingsOf = (host: string, now: number, limit: number): Promise<StoredMeeting[]> =>
  Meetings.find({ host_wallet_address: host, status: 'active', expires_at: { $gt: new Date(now) } })
    .sort({ created_at: -1, _id: -1 })
    .limit(limit)
    .lean<StoredMeeting[]>()

/** A meeting by its code, also one that is over. Who names codes that are nobody's is soon told nothing of any. */
export async function meetingAt({ node, caller }: Context, code: string): Promise<StoredMeeting> {
  const { limits } = node
  const { most, seconds } = guesses
  if (!(await limits.wouldAllow('meeting-codes', caller.ip, most, seconds)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: seconds })
  const named = isJoinCode(code) ? { join_code: code } : { permanent_of: code }
  const meeting = await Meetings.findOne(named).lean<StoredMeeting>()
  if (meeting) return meeting
  await limits.guard('meeting-codes', caller.ip, most, seconds)
  throw new AppError('ROOM_NOT_FOUND', {
    message: code.length <= codeLength ? 'Room not found' : 'This account has not opened its permanent room yet',
  })
}

/** The same, where it goes on. */
export const openMeetingAt = async (context: Context, code: string): Promise<StoredMeeting> =>
  goingOn(context.node, await meetingAt(context, code))

/** The meeting of a room at the provider, where it goes on. */
export async function meetingOfRoom(node: Node, room_id: string): Promise<StoredMeeting> {
  const meeting = await Meetings.findOne({ room_id }).lean<StoredMeeting>()
  if (!meeting) throw new AppError('MEETING_EXPIRED')
  return goingOn(node, meeting)
}

async function goingOn(node: Node, meeting: StoredMeeting): Promise<StoredMeeting> {
  const { _id, status, expires_at } = meeting
  if (status === 'ended') throw new AppError('MEETING_ENDED')
  if (status === 'active' && (expires_at === null || expires_at.getTime() > node.now())) return meeting
  await Meetings.updateOne({ _id, status: 'active' }, { $set: { status: 'expired' } })
  throw new AppError('MEETING_EXPIRED')
}

/** Marks a meeting as ended; a permanent room stays. */
export async function endMeeting({ _id, permanent_of }: StoredMeeting, now: number): Promise<void> {
  if (permanent_of !== undefined) return
  await Meetings.updateOne({ _id, ended_at: null }, { $set: { status: 'ended', ended_at: new Date(now) } })
}
