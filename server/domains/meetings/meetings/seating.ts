import { type Action, audiences, type Connection, type Context, type Node } from '#server/kernel/context'
import { every } from '#server/kernel/every'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { nodeState } from '#server/kernel/node-state'
import {
  type seating as contract,
  meetingEntered,
  meetingLeft,
  meetingOver,
  meetingSignal,
  type Seated,
} from '#shared/api/meeting-seats'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { waitForHost } from './host.ts'
import { iceServersFor } from './ice.ts'
import type { StoredSeat } from './model.ts'
import { meetingOfRoom } from './records.ts'
import { originIn, refuseRemoved } from './removal.ts'
import { giveUp, renew, renewMilliseconds, seatOf, seatsIn, seatsOf, takeSeat } from './seats.ts'

const leftTopic = 'meetings:left'
/** Who sits at this node, by the place. */
const heldOn = nodeState(() => new Map<string, Connection>())
const placeName = 'meeting'

/** Where a connection sits. */
interface Place {
  room: string
  peer: string
}
const placeOf = ({ memory }: Connection) => memory.get(placeName) as Place | undefined

type Turn = ReturnType<typeof fewAtOnce>
const turnName = 'meeting turn'
/** A connection enters once at a time: of several places at once it would remember one, and hold the others for good. */
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

/** Each is a new place: who entered again and again could not be removed by the one that is seen. */
const entriesAMinute = 20

async function takePlace(context: Context, connection: Connection, token: string) {
  const { node, caller } = context
  const pass = await node.services.meetings.read(token)
  if (!pass) throw new AppError('MEETING_TOKEN_INVALID')
  const meeting = await meetingOfRoom(node, pass.room)
  if (!(await node.limits.guard('meeting-entries', `${pass.room} ${caller.account ?? caller.ip}`, entriesAMinute, 60)))
    throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: 60 })
  await refuseRemoved(node, pass.room, pass.identity, caller.ip)
  if (!pass.isHost) await waitForHost(node, meeting)
  await rise(node, connection)
  for (const { room_id, peer } of await seatsOf(pass.room, pass.identity)) {
    await leaveBy(node, { room: room_id, peer })
    context.emit(meetingOver, audiences.peer(room_id, peer), { why: 'elsewhere' })
  }
  const seat = await takeSeat(node, pass, meeting.max_participants, originIn(pass.room, caller.ip))
  // Who was removed meanwhile was told so of the place before.
  await refuseRemoved(node, pass.room, pass.identity, caller.ip).catch(async (error: unknown) => {
    await giveUp(seat.peer)
    throw error
  })
  sit(node, connection, { room: seat.room_id, peer: seat.peer })
  const people = await seatsIn(node, [pass.room])
  const me = shown(seat)
  context.emit(meetingEntered, audiences.meeting(pass.room), { person: me })
  return {
    me,
    people: people.filter(({ peer }) => peer !== seat.peer).map(shown),
    iceServers: iceServersFor(node, seat.peer),
  }
}

export const signal: Action<typeof contract.signal> = async ({ to, signal: said }, context) => {
  const place = placeOf(connectionOf(context))
  const seat = place && (await seatOf(place.peer))
  if (!place || !seat) throw new AppError('FORBIDDEN', { message: 'You are in no meeting' })
  context.emit(meetingSignal, audiences.peer(place.room, to), { from: place.peer, signal: said })
  return done
}

export const leave: Action<typeof contract.leave> = async (_input, context) => {
  await rise(context.node, connectionOf(context))
  return done
}

/** Renews the places of this node, and tells here who left elsewhere. */
export function keepSeats(node: Node): () => void {
  const renewed = () => renew(node, [...heldOn(node).keys()])
  const stop = [
    every(node, renewMilliseconds, renewed, 'places in meetings were not renewed'),
    node.peers.listen(leftTopic, (word) => {
      tellLeft(node, word as Place)
    }),
  ]
  return () => {
    for (const end of stop) end()
  }
}

const shown = ({ peer, name, is_host }: StoredSeat): Seated => ({ peer, name, isHost: is_host })

function sit(node: Node, connection: Connection, place: Place): void {
  connection.memory.set(placeName, place)
  connection.join(audiences.meeting(place.room))
  connection.join(audiences.peer(place.room, place.peer))
  heldOn(node).set(place.peer, connection)
  connection.onClose(() => {
    if (placeOf(connection)?.peer !== place.peer) return
    rise(node, connection).catch((error: unknown) => node.logger.warn({ error }, 'a place in a meeting was not left'))
  })
}

/** The connection leaves the place that it has, if it has one. */
async function rise(node: Node, connection: Connection): Promise<void> {
  const place = placeOf(connection)
  if (!place) return
  connection.memory.delete(placeName)
  connection.leave(audiences.meeting(place.room))
  connection.leave(audiences.peer(place.room, place.peer))
  heldOn(node).delete(place.peer)
  await leaveBy(node, place)
}

/** Gives a place up and says so to those in the room, wherever they are connected. */
export async function leaveBy(node: Node, place: Place): Promise<void> {
  if (!(await giveUp(place.peer))) return
  tellLeft(node, place)
  node.peers.tell(leftTopic, place)
}

/** Says here that a place was left. Whoever sat there hears nothing more of the meeting but why. */
function tellLeft(node: Node, { room, peer }: Place): void {
  heldOn(node).get(peer)?.leave(audiences.meeting(room))
  heldOn(node).delete(peer)
  node.live.send(meetingLeft, audiences.meeting(room), { peer })
}
