import { profilesOf } from '#server/domains/people/accounts/profiles'
import { hasBlock, keyOf, readableRoomOf } from '#server/domains/rooms/room-state/access'
import { muteIn } from '#server/domains/rooms/room-state/facts'
import { kindOf } from '#server/domains/rooms/room-state/kinds'
import { presenceState, presencesOf } from '#server/domains/rooms/room-state/online'
import { repeatWork } from '#server/kernel/beat'
import { type Action, audiences, type Context, type Node, signedIn } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import type { RoomKey } from '#server/log/types'
import type { messages as contract } from '#shared/api/rooms/messages'
import { ephemeral } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'
import { type RoomRef, roomOfKey } from '#shared/kit/primitives'
import {
  countOccupancy,
  isToRepeat,
  joinOccupancy,
  leaveOccupancy,
  type Occupancy,
  scheduleOccupancy,
  stopTyping,
  typistsIn,
} from './occupancy.ts'

const typingMilliseconds = 6_000
const sendEveryMilliseconds = 1_000
const repeatCheckMilliseconds = 5_000
/** Above this many people only their number is sent, and less often. */
const quietAbove = 500
const countedEveryMilliseconds = 5_000

interface PresenceState {
  occupancy: Occupancy
  isDue: boolean
  version: number
}

const roomsOn = nodeState(() => new Map<RoomKey, PresenceState>())

function presenceStateOf(node: Node, key: RoomKey): PresenceState {
  const known = roomsOn(node).get(key)
  if (known) return known
  const occupancy = joinOccupancy(node, key, () => scheduleSending(node, key, passing))
  const passing: PresenceState = { occupancy, isDue: false, version: 0 }
  roomsOn(node).set(key, passing)
  return passing
}

/** Repeats and expires the parts of nodes, so that lost messages do not matter. */
export function followPresence(node: Node): () => void {
  const all = () => [...roomsOn(node)]
  node.peers.onReturn(() => {
    for (const [key, { occupancy }] of all()) scheduleOccupancy(node, key, occupancy)
  })
  node.nodes.onChange(() => {
    for (const [key, passing] of all()) if (passing.occupancy.parts.size > 0) scheduleSending(node, key, passing)
  })
  const stopRepeating = repeatWork(repeatCheckMilliseconds, () => {
    for (const [key, { occupancy }] of all()) if (isToRepeat(occupancy)) scheduleOccupancy(node, key, occupancy)
  })
  return () => {
    stopRepeating()
    for (const [key, { occupancy }] of all()) leaveOccupancy(node, key, occupancy)
    roomsOn(node).clear()
  }
}

/** The number of people who listen to a room. */
export const onlineCountIn = (node: Node, key: RoomKey): number =>
  countOccupancy(node, key, roomsOn(node).get(key)?.occupancy)

/** Notifies the room once for all changes of a second. */
export function schedulePresence(node: Node, key: RoomKey): void {
  const passing = presenceStateOf(node, key)
  scheduleOccupancy(node, key, passing.occupancy)
  scheduleSending(node, key, passing)
}

function scheduleSending(node: Node, key: RoomKey, passing: PresenceState): void {
  if (passing.isDue) return
  passing.isDue = true
  const wait = onlineCountIn(node, key) > quietAbove ? countedEveryMilliseconds : sendEveryMilliseconds
  setTimeout(() => {
    passing.isDue = false
    sendPresence(node, key, passing)
  }, wait).unref()
}

function sendPresence(node: Node, key: RoomKey, passing: PresenceState): void {
  const { occupancy } = passing
  const now = node.now()
  for (const [account, { until }] of occupancy.typing) if (until <= now) occupancy.typing.delete(account)
  const hasListeners = node.live.audienceSize('/rooms', audiences.room(key)) > 0
  if (!hasListeners && occupancy.typing.size === 0) return void dropPresence(node, key, passing)
  const online = onlineCountIn(node, key)
  const typing = online > quietAbove ? [] : typistsIn(node, occupancy, now)
  passing.version++
  node.live.sendVolatile(ephemeral, audiences.room(key), {
    room: roomOfKey(key),
    typing: typing.map(({ id, name, until }) => ({ id, name, until: new Date(until).toISOString() })),
    online,
    v: passing.version,
  })
  if (typing.length > 0) scheduleSending(node, key, passing)
}

function dropPresence(node: Node, key: RoomKey, { occupancy }: PresenceState): void {
  if (!roomsOn(node).delete(key)) return
  leaveOccupancy(node, key, occupancy)
}

export const typing: Action<typeof contract.typing> = ({ room, on }, context) => setTyping(context, room, on)

/** Notifies a room that the caller types, or has stopped. */
export async function setTyping(context: Context, room: RoomRef, on: boolean) {
  const { account } = signedIn(context)
  const key = await keyOf(room)
  await context.node.log.ask(key, (view, now) => {
    const { standing } = readableRoomOf(view, account, now)
    if (hasBlock(view)) throw new AppError('BLOCKED')
    if (!standing?.isMember) throw new AppError('NOT_A_MEMBER')
    if (muteIn(view, account, now)) throw new AppError('MUTED')
  })
  if (!kindOf(key).tells.typing) return {}
  const name = (await profilesOf(context.node, [account])).get(account)?.name ?? account
  const { occupancy } = presenceStateOf(context.node, key)
  if (on) occupancy.typing.set(account, { id: account, name, until: context.node.now() + typingMilliseconds })
  else stopTyping(occupancy, account)
  schedulePresence(context.node, key)
  return {}
}

/** A sent message ends typing. */
export const endTyping = (node: Node, key: RoomKey, account: string): void => {
  const passing = roomsOn(node).get(key)
  if (passing && stopTyping(passing.occupancy, account)) schedulePresence(node, key)
}

export const presence: Action<typeof contract.presence> = async (input, { connection }) => {
  connection?.memory.set(presenceState, input.state)
  return {}
}

export const presenceOf: Action<typeof contract.presenceOf> = async ({ addresses }, { node }) => {
  const presences = await presencesOf(node, addresses)
  return Object.fromEntries(addresses.map((address) => [address, presences.get(address) === 'active']))
}
