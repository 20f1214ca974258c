import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { isDuplicate } from '#server/ports/database/port'
import type { Pass } from '#server/ports/meetings/port'
import { AppError } from '#shared/errors'
import { Seats, type StoredMeeting, type StoredSeat } from './model.ts'

/** A place that is not renewed for so long is free. */
const leaseMilliseconds = 30_000
export const seatRenewMilliseconds = 10_000

/** Takes a place in a room. Throws MEETING_FULL without a free one. The first is the host's. */
export async function takeSeat(
  node: Node,
  { room, identity, name, isHost }: Pass,
  most: number,
  from: string,
): Promise<StoredSeat> {
  const now = node.now()
  await Seats.deleteMany({ room_id: room, until: { $lte: new Date(now) } })
  const until = new Date(now + leaseMilliseconds)
  const seat = { room_id: room, peer: newId(), identity, name, is_host: isHost, from, until }
  for (let place = isHost ? 0 : 1; place < (isHost ? 1 : most); place++) {
    const taken = { _id: `${room} ${place}`, ...seat }
    try {
      await Seats.create(taken)
      return taken
    } catch (error) {
      if (!isDuplicate(error)) throw error
    }
  }
  throw new AppError('MEETING_FULL')
}

/** The people in rooms, in the order of entry. */
export const seatsIn = (node: Node, rooms: readonly string[]): Promise<StoredSeat[]> =>
  Seats.find({ room_id: { $in: [...rooms] }, until: { $gt: new Date(node.now()) } })
    .sort({ peer: 1 })
    .lean<StoredSeat[]>()

/** The number of people in each room. */
export async function peopleCounts(node: Node, rooms: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const seats = await seatsIn(node, rooms)
  return new Map(rooms.map((room) => [room, seats.filter(({ room_id }) => room_id === room).length]))
}

/** Whether the host is in a room of this server. */
export const isHostIn = async (node: Node, room_id: string): Promise<boolean> =>
  (await Seats.exists({ room_id, is_host: true, until: { $gt: new Date(node.now()) } })) !== null

/** Whether a person is in any meeting of this server. */
export const isInMeeting = async (node: Node, identity: string): Promise<boolean> =>
  (await Seats.exists({ identity, until: { $gt: new Date(node.now()) } })) !== null

export const seatOf = (peer: string): Promise<StoredSeat | null> => Seats.findOne({ peer }).lean<StoredSeat>()

/** The places that an identity holds. */
export const seatsOf = (room_id: string, identity: string): Promise<StoredSeat[]> =>
  Seats.find({ room_id, identity }).lean<StoredSeat[]>()

/** False if the place was released before. */
export const deleteSeat = async (peer: string): Promise<boolean> => (await Seats.deleteOne({ peer })).deletedCount === 1

export const deleteSeatsIn = async (room_id: string): Promise<void> => {
  await Seats.deleteMany({ room_id })
}

/** Renews the places that connections of this node hold. */
export async function renewSeats(node: Node, peers: readonly string[]): Promise<void> {
  if (peers.length === 0) return
  const until = new Date(node.now() + leaseMilliseconds)
  await Seats.updateMany({ peer: { $in: [...peers] } }, { $set: { until } })
}

const againSeconds = 5

/** Refuses guests of a permanent room while its host is away. */
export async function refuseWithoutHost(node: Node, { room_id, permanent_of }: StoredMeeting): Promise<void> {
  if (permanent_of === undefined || (await isOpen(node, room_id))) return
  throw new AppError('HOST_ABSENT', { retryAfter: againSeconds })
}

async function isOpen(node: Node, room: string): Promise<boolean> {
  // A provider only counts people, of whom the host was first.
  const counts = await node.services.meetings.present([room])
  return counts === null ? isHostIn(node, room) : (counts.get(room) ?? 0) > 0
}
