import type { Node } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { isDuplicate } from '#server/ports/database/port'
import type { Pass } from '#server/ports/meetings/port'
import { AppError } from '#shared/errors'
import { Seats, type StoredSeat } from './model.ts'

/** A place whose node has not said for so long that somebody holds it is free. */
const leaseMilliseconds = 30_000
export const renewMilliseconds = 10_000

/** Takes one of the places of a room; MEETING_FULL where none is free. The first is its host's, so that no guests hold them out. */
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

/** Who is in a room, those who entered first first. */
export const seatsIn = (node: Node, rooms: readonly string[]): Promise<StoredSeat[]> =>
  Seats.find({ room_id: { $in: [...rooms] }, until: { $gt: new Date(node.now()) } })
    .sort({ peer: 1 })
    .lean<StoredSeat[]>()

/** How many are in each of these rooms. */
export async function countedIn(node: Node, rooms: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const seats = await seatsIn(node, rooms)
  return new Map(rooms.map((room) => [room, seats.filter(({ room_id }) => room_id === room).length]))
}

/** Whether its host is in a room that is held over this server. */
export const isHostIn = async (node: Node, room_id: string): Promise<boolean> =>
  (await Seats.exists({ room_id, is_host: true, until: { $gt: new Date(node.now()) } })) !== null

export const seatOf = (peer: string): Promise<StoredSeat | null> => Seats.findOne({ peer }).lean<StoredSeat>()

/** The places in which somebody sits already. */
export const seatsOf = (room_id: string, identity: string): Promise<StoredSeat[]> =>
  Seats.find({ room_id, identity }).lean<StoredSeat[]>()

/** False where the place was given up before. */
export const giveUp = async (peer: string): Promise<boolean> => (await Seats.deleteOne({ peer })).deletedCount === 1

export const clear = async (room_id: string): Promise<void> => {
  await Seats.deleteMany({ room_id })
}

/** Says of the places that connections of this node hold that they are held. */
export async function renew(node: Node, peers: readonly string[]): Promise<void> {
  if (peers.length === 0) return
  const until = new Date(node.now() + leaseMilliseconds)
  await Seats.updateMany({ peer: { $in: [...peers] } }, { $set: { until } })
}
