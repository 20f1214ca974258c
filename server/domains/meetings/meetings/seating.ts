import { createHash, createHmac } from 'node:crypto'
import { z } from 'zod'
import { type Action, audiences, type Connection, type Context, type Node } from '#server/kernel/context'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { newId } from '#server/kernel/ids'
import { nodeState } from '#server/kernel/operate/node-state'
import { definePeerMessage } from '#server/kernel/peer-message'
import { every } from '#server/kernel/work/every'
import { isDuplicate } from '#server/ports/database/port'
import type { Pass } from '#server/ports/meetings/port'
import {
  type seating as contract,
  meetingEntered,
  meetingLeft,
  meetingOver,
  meetingSignal,
  type Seated,
} from '#shared/api/meetings/meetings'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { Removals, Seats, type StoredMeeting, type StoredSeat } from './model.ts'
import { meetingOfRoom } from './records.ts'
import { meetingSettings } from './settings.ts'

/** A place that is not renewed for so long is free. */
const leaseMilliseconds = 30_000
const seatRenewMilliseconds = 10_000

/** Takes a place in a room. Throws MEETING_FULL without a free one. The first is the host's. */
async function takeSeat(
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
const seatsIn = (node: Node, rooms: readonly string[]): Promise<StoredSeat[]> =>
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
const deleteSeat = async (peer: string): Promise<boolean> => (await Seats.deleteOne({ peer })).deletedCount === 1

export const deleteSeatsIn = async (room_id: string): Promise<void> => {
  await Seats.deleteMany({ room_id })
}

/** Renews the places that connections of this node hold. */
async function renewSeats(node: Node, peers: readonly string[]): Promise<void> {
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

const removedMilliseconds = 3_600_000
const guestPrefix = 'guest:'

/** A new identity for each guest token. */
export const guestIdentity = (id: string): string => guestPrefix + id

/** The hashed address of a person in a room. */
const originHash = (room: string, ip: string): string =>
  createHash('sha256').update(`${room} ${ip}`).digest('base64url')

const idOf = (room: string, who: string) => `${room} ${who}`

/** Removes the person for an hour, with guests from the same address. */
export async function removePerson(node: Node, { room_id, identity, from = identity }: StoredSeat): Promise<void> {
  const until = new Date(node.now() + removedMilliseconds)
  for (const who of new Set([identity, from]))
    await Removals.updateOne({ _id: idOf(room_id, who) }, { $set: { until } }, { upsert: true })
}

export async function refuseRemoved(node: Node, room: string, identity: string, ip: string): Promise<void> {
  const known = identity.startsWith(guestPrefix) ? [identity, originHash(room, ip)] : [identity]
  const ids = known.map((who) => idOf(room, who))
  if (await Removals.exists({ _id: { $in: ids }, until: { $gt: new Date(node.now()) } }))
    throw new AppError('FORBIDDEN', { message: 'The host has removed you from this meeting' })
}

/** Connections with a place at this node, by peer. */
const heldOn = nodeState(() => new Map<string, Connection>())
const placeName = 'meeting'

/** The place of a connection. */
interface Place {
  room: string
  peer: string
}
const placeOf = ({ memory }: Connection) => memory.get(placeName) as Place | undefined

type Turn = ReturnType<typeof fewAtOnce>
const turnName = 'meeting turn'
/** Entries of a connection are serialized: it remembers one place, and would hold others forever. */
function turnOf({ memory }: Connection): Turn {
  const turn = (memory.get(turnName) as Turn | undefined) ?? fewAtOnce(1)
  memory.set(turnName, turn)
  return turn
}

const connectionOf = ({ connection }: Context): Connection => {
  if (!connection) throw new AppError('VALIDATION_ERROR', { message: 'Meet over a socket' })
  return connection
}

export const enter: Action<typeof contract.enter> = ({ token }, context) => {
  const connection = connectionOf(context)
  return turnOf(connection)(() => takePlace(context, connection, token))
}

/** Each entry is a new place: endless entries would evade removal. */
const entriesAMinute = 20

async function takePlace(context: Context, connection: Connection, token: string) {
  const { node, caller } = context
  const pass = await node.services.meetings.read(token)
  if (!pass) throw new AppError('MEETING_TOKEN_INVALID')
  const meeting = await meetingOfRoom(node, pass.room)
  if (!(await node.limits.guard('meeting-entries', `${pass.room} ${caller.account ?? caller.ip}`, entriesAMinute, 60)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: 60 })
  await refuseRemoved(node, pass.room, pass.identity, caller.ip)
  if (!pass.isHost) await refuseWithoutHost(node, meeting)
  await leaveOwnPlace(node, connection)
  for (const { room_id, peer } of await seatsOf(pass.room, pass.identity)) {
    await leavePlace(node, { room: room_id, peer })
    context.emit(meetingOver, audiences.peer(room_id, peer), { why: 'elsewhere' })
  }
  const seat = await takeSeat(node, pass, meeting.max_participants, originHash(pass.room, caller.ip))
  // The person was removed meanwhile, from an earlier place.
  await refuseRemoved(node, pass.room, pass.identity, caller.ip).catch(async (error: unknown) => {
    await deleteSeat(seat.peer)
    throw error
  })
  holdPlace(node, connection, { room: seat.room_id, peer: seat.peer })
  const people = await seatsIn(node, [pass.room])
  const me = shown(seat)
  context.emit(meetingEntered, audiences.meeting(pass.room), { person: me })
  return {
    me,
    people: people.filter(({ peer }) => peer !== seat.peer).map(shown),
    iceServers: iceServersFor(node, seat.peer),
  }
}

export const signal: Action<typeof contract.signal> = async ({ to, signal: payload }, context) => {
  const place = placeOf(connectionOf(context))
  const seat = place && (await seatOf(place.peer))
  if (!place || !seat) throw new AppError('FORBIDDEN', { message: 'You are in no meeting' })
  context.emit(meetingSignal, audiences.peer(place.room, to), { from: place.peer, signal: payload })
  return done
}

export const leave: Action<typeof contract.leave> = async (_input, context) => {
  await leaveOwnPlace(context.node, connectionOf(context))
  return done
}

/** Renews the places of this node, and follows departures at other nodes. */
export function keepMeetingPlaces(node: Node): () => void {
  const renewed = () => renewSeats(node, [...heldOn(node).keys()])
  const stop = [
    every(node, seatRenewMilliseconds, renewed, 'places in meetings were not renewed'),
    leftMessage.follow(node),
  ]
  return () => {
    for (const end of stop) end()
  }
}

const shown = ({ peer, name, is_host }: StoredSeat): Seated => ({ peer, name, isHost: is_host })

function holdPlace(node: Node, connection: Connection, place: Place): void {
  connection.memory.set(placeName, place)
  connection.join(audiences.meeting(place.room))
  connection.join(audiences.peer(place.room, place.peer))
  heldOn(node).set(place.peer, connection)
  connection.onClose(() => {
    if (placeOf(connection)?.peer !== place.peer) return
    leaveOwnPlace(node, connection).catch((error: unknown) =>
      node.logger.warn({ error }, 'a place in a meeting was not left'),
    )
  })
}

/** The connection leaves its place, if any. */
async function leaveOwnPlace(node: Node, connection: Connection): Promise<void> {
  const place = placeOf(connection)
  if (!place) return
  connection.memory.delete(placeName)
  connection.leave(audiences.meeting(place.room))
  connection.leave(audiences.peer(place.room, place.peer))
  heldOn(node).delete(place.peer)
  await leavePlace(node, place)
}

/** Releases a place and notifies the room on all nodes. */
export async function leavePlace(node: Node, place: Place): Promise<void> {
  if (!(await deleteSeat(place.peer))) return
  leftMessage.publish(node, place)
}

/** A departure, for the room at each node. The person who left gets nothing more of the meeting but the reason. */
const leftMessage = definePeerMessage(
  'meetings:left',
  z.object({ room: z.string(), peer: z.string() }),
  (node, { room, peer }: Place) => {
    heldOn(node).get(peer)?.leave(audiences.meeting(room))
    heldOn(node).delete(peer)
    node.live.send(meetingLeft, audiences.meeting(room), { peer })
  },
)

/** The lifetime of TURN credentials. */
const turnSeconds = 14_400

/** ICE servers of a peer; TURN servers with a password for this visit (`use-auth-secret`). */
function iceServersFor(node: Node, peer: string) {
  const { stun, turn, secret } = meetingSettings.of(node)
  const username = `${Math.floor(node.now() / 1_000) + turnSeconds}:${peer}`
  const credential = secret === null ? null : createHmac('sha1', secret).update(username).digest('base64')
  return [
    ...(stun.length > 0 ? [{ urls: stun }] : []),
    ...(turn.length > 0 && credential !== null ? [{ urls: turn, username, credential }] : []),
  ]
}
