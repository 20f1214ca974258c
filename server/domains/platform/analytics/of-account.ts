import { Calls } from '#server/domains/meetings/calls/model'
import { Pairs } from '#server/domains/people/friends/model'
import { Members } from '#server/domains/rooms/room-state/model'
import { Streams } from '#server/domains/streams/streams/model'
import type { Counters } from '#shared/api/account-records'
import { foundedBy, type RoomType } from '#shared/kit/room-kinds'

const [channel, group] = [foundedBy('createChannel'), foundedBy('createGroup')]

/** Each is a range of an index that begins with the account. */
export async function countersOf(account: string): Promise<Counters> {
  const friends = (side: 'from_address' | 'to_address') => Pairs.countDocuments({ [side]: account, state: 'friends' })
  const roomsOf = (type: RoomType) =>
    Members.countDocuments({ user_address: account, is_active: true, room: { $gte: `${type}:`, $lt: `${type};` } })
  const streams = (which: object) => Streams.countDocuments({ user_address: account, ...which })
  const [asked, answered, groups_count, channels_joined, calls, called, ...ofStreams] = await Promise.all([
    friends('from_address'),
    friends('to_address'),
    roomsOf(group),
    roomsOf(channel),
    Calls.countDocuments({ caller_address: account }),
    Calls.countDocuments({ callee_address: account }),
    streams({}),
    streams({ started_at: { $ne: null } }),
    streams({ ended_at: { $ne: null } }),
  ])
  const [streams_created, streams_started, streams_ended] = ofStreams
  return {
    ...{ friends_count: asked + answered, groups_count, channels_joined, total_calls: calls + called },
    ...{ streams_created, streams_started, streams_ended },
  }
}
