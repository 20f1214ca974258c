import { randomInt } from 'node:crypto'
import { hiddenAccountsAmong } from '#server/domains/people/accounts/found'
import type { Context, Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { readDuplicate } from '#server/kernel/store/read-back'
import { isDuplicate } from '#server/ports/database/port'
import { isJoinCode, placesAtMost } from '#shared/api/meetings/meetings'
import { AppError } from '#shared/errors'
import { linkTo } from '#shared/kit/pages'
import { Meetings, type StoredMeeting } from './model.ts'

const lifeMilliseconds = 24 * 3_600_000
const codeCharacters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
const codeLength = 6
/** Codes that are nobody's, asked for from one address within a minute. */
const guesses = { most: 20, seconds: 60 }

const newCode = (): string =>
  Array.from({ length: codeLength }, () => codeCharacters[randomInt(codeCharacters.length)]).join('')

/** A new meeting, or the first one of the same key. */
export const openMeeting = (
  { node, creationId }: Context,
  host: string,
  given: Pick<StoredMeeting, 'title' | 'max_participants'>,
): Promise<StoredMeeting> =>
  insert(node, { _id: creationId }, { ...given, host_wallet_address: host }, node.now() + lifeMilliseconds)

/** The permanent room of an account; simultaneous requests get the same. */
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

/** The meeting of a booked call, which ends with it. Throws MEETING_ENDED after its host ended it. */
export async function meetingOfCall(node: Node, { id, host, title, ends }: BookedCall): Promise<StoredMeeting> {
  const _id = `call-${id}`
  const meeting =
    (await Meetings.findOne({ _id }).lean<StoredMeeting>()) ??
    (await insert(node, { _id }, { title, max_participants: placesAtMost, host_wallet_address: host }, ends.getTime()))
  if (meeting.status === 'ended') throw new AppError('MEETING_ENDED')
  return meeting
}

/** The link to a meeting, by its code or the account of a permanent room. */
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
      const before = await readDuplicate(() => Meetings.findOne(same).lean<StoredMeeting>())
      // Otherwise the code was taken.
      if (before) return before
    }
  }
}

/** The newest open meetings of an account. */
export const meetingsOf = (host: string, now: number, limit: number): Promise<StoredMeeting[]> =>
  Meetings.find({ host_wallet_address: host, status: 'active', expires_at: { $gt: new Date(now) } })
    .sort({ created_at: -1, _id: -1 })
    .limit(limit)
    .lean<StoredMeeting[]>()

/** Loads a meeting by its code, open or over. Guessing addresses are soon refused. */
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

/** Loads an open meeting by its code. It is over while nobody finds its host. */
export async function openMeetingAt(context: Context, code: string): Promise<StoredMeeting> {
  const meeting = await refuseOver(context.node, await meetingAt(context, code))
  const hidden = await hiddenAccountsAmong([meeting.host_wallet_address], context.caller.account, 'directories')
  if (hidden.size > 0) throw new AppError('MEETING_ENDED')
  return meeting
}

/** Loads the open meeting of a provider's room. */
export async function meetingOfRoom(node: Node, room_id: string): Promise<StoredMeeting> {
  const meeting = await Meetings.findOne({ room_id }).lean<StoredMeeting>()
  if (!meeting) throw new AppError('MEETING_EXPIRED')
  return refuseOver(node, meeting)
}

async function refuseOver(node: Node, meeting: StoredMeeting): Promise<StoredMeeting> {
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
