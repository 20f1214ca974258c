import { createHash, createHmac } from 'node:crypto'
import { z } from 'zod'
import { type Action, audiences, type Connection, type Context, type Node } from '#server/kernel/context'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { nodeState } from '#server/kernel/operate/node-state'
import { definePeerMessage } from '#server/kernel/peer-message'
import { every } from '#server/kernel/work/every'
import {
  type seating as contract,
  meetingEntered,
  meetingLeft,
  meetingOver,
  meetingSignal,
  type Seated,
} from '#shared/api/meetings/meeting-seats'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { Removals, type StoredSeat } from './model.ts'
import { meetingOfRoom } from './records.ts'
import {
  deleteSeat,
  refuseWithoutHost,
  renewSeats,
  seatOf,
  seatRenewMilliseconds,
  seatsIn,
  seatsOf,
  takeSeat,
} from './seats.ts'
import { meetingSettings } from './settings.ts'

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
