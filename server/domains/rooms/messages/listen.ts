import { keyOf, readableRoomOf } from '#server/domains/rooms/room-state/access'
import { memberIn, muteIn, pinsIn, rulesIn } from '#server/domains/rooms/room-state/facts'
import { capabilitiesOf } from '#server/domains/rooms/room-state/judge-draft'
import type { Standing } from '#server/domains/rooms/room-state/standing'
import { type Action, audiences, type Connection, type Context, type Node, signedIn } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import type { RoomKey, View } from '#server/log/types'
import type { messages as contract } from '#shared/api/rooms/messages'
import { AppError } from '#shared/errors'
import { roomOfKey } from '#shared/kit/primitives'
import { pinnedMessages } from './history.ts'
import { countConnection } from './occupancy.ts'
import { eventsOf, rowsAfter } from './pages.ts'
import { onlineCountIn, schedulePresence } from './presence.ts'
import { firstUnreadOf, unreadCountsOf } from './reads.ts'
import { reachableCapabilities } from './send.ts'

/** The last epoch sent to all listeners of protocol 2 in each room; unset if a listener missed it. */
const sentEpochsOn = nodeState(() => new Map<RoomKey, string>())

/** A new listener has not received the epoch. Rooms without listeners need no entry. */
export const forgetSentEpoch = (node: Node, key: RoomKey): void => void sentEpochsOn(node).delete(key)

/** Must the next event contain its epoch? */
export function isNewEpoch(node: Node, key: RoomKey, epoch: string): boolean {
  const sent = sentEpochsOn(node)
  if (sent.get(key) === epoch) return false
  sent.set(key, epoch)
  return true
}

const page = 200

/** The state of a room for a joining member; throws if they may not. */
function joiningState(view: View, account: string, now: number, node: Node) {
  const { standing, room: about } = readableRoomOf(view, account, now)
  const mute = muteIn(view, account, now)
  if (!standing?.isMember) throw new AppError('NOT_A_MEMBER')
  const capabilities = capabilitiesOf(view, { node, account, now })
  return {
    head: { epoch: view.epoch, seq: view.seq, total: view.total },
    standing,
    mute,
    capabilities,
    rules: rulesIn(view),
    pins: pinsIn(view),
    members: about.member_count,
    member: memberIn(view, account),
  }
}

const permissionsOf = ({ canPin, canDelete, canMute, canManageMods, isModerator, isAdmin }: Standing) => ({
  canPin,
  canDelete,
  canMute,
  canManageMods,
  isModerator,
  isAdmin,
})

const meOf = ({ standing, mute, capabilities }: ReturnType<typeof joiningState>) => ({
  role: standing.role,
  permissions: permissionsOf(standing),
  next_send_at: capabilities.next_send_at,
  muted_until: mute?.muted_until ?? null,
  is_muted: mute !== null,
})

/** The socket joins before the page is read, so that no row is missed. */
export const join: Action<typeof contract.join> = async ({ room, after_seq, epoch, backlog }, context) => {
  const { account } = signedIn(context)
  const { connection, node } = context
  if (!connection) throw new AppError('NOT_FOUND')
  const key = await keyOf(room)
  const release = await node.log.hold(key)
  try {
    const state = await node.log.ask(
      key,
      (view, now) => joiningState(view, account, now, node),
      () => {
        if (!connection.isOpen) throw new AppError('SERVICE_UNAVAILABLE')
        connection.join(audiences.room(key))
        rememberRoom(context, connection, key, release)
        forgetSentEpoch(node, key)
      },
    )
    // A person removed meanwhile was notified, and must not get a successful answer afterwards.
    context.onAnswer(() => {
      if (connection.has(audiences.room(key))) return
      stopListening(context, connection, key)
      throw new AppError('NOT_A_MEMBER')
    })
    const isLost =
      (epoch !== undefined && epoch !== '' && epoch !== state.head.epoch) || (after_seq ?? 0) > state.head.seq
    const from = isLost || after_seq === undefined ? Math.max(0, state.head.seq - (backlog ?? 0)) : after_seq
    const rows = from < state.head.seq ? await rowsAfter(node, key, from, Math.min(page, state.head.seq - from)) : []
    const { seq: read_seq, unread } = await unreadCountsOf(key, account, state.member, state.head)
    const first_unread = unread > 0 ? await firstUnreadOf(key, account, state.member, state.head) : null
    const capabilities = await reachableCapabilities(node, key, account, state.capabilities.capabilities)
    schedulePresence(node, key)
    const { rules_id: _, version, updated_by: __, updated_at: ___, ...rules } = state.rules
    return {
      room: roomOfKey(key),
      epoch: state.head.epoch,
      head_seq: state.head.seq,
      from_seq: from,
      events: await eventsOf(rows, true),
      complete: (rows.at(-1)?.seq ?? from) >= state.head.seq,
      ...(isLost ? { reset: true } : {}),
      rules,
      rules_version: version,
      me: { ...meOf(state), capabilities, read_seq, unread, first_unread },
      pins: await pinnedMessages(node, key, state.pins, true),
      members_count: state.members,
      online: onlineCountIn(node, key),
    }
  } catch (error) {
    if (!roomsOf(connection).has(key)) release()
    throw error
  }
}

const heldRooms = 'rooms'

/** The rooms of a connection, each with its release function. */
export function roomsOf(connection: Connection): Map<RoomKey, () => void> {
  const known = connection.memory.get(heldRooms) as Map<RoomKey, () => void> | undefined
  if (known) return known
  const rooms = new Map<RoomKey, () => void>()
  connection.memory.set(heldRooms, rooms)
  return rooms
}

function rememberRoom(context: Context, connection: Connection, key: RoomKey, release: () => void): void {
  const rooms = roomsOf(connection)
  if (rooms.has(key)) return void release()
  const depart = countConnection(context.node, key, signedIn(context).account)
  rooms.set(key, () => {
    depart()
    release()
  })
}

/** Removes a connection from a room. */
export function stopListening(context: Pick<Context, 'node'>, connection: Connection, key: RoomKey): void {
  connection.leave(audiences.room(key))
  forgetSentEpoch(context.node, key)
  roomsOf(connection).get(key)?.()
  roomsOf(connection).delete(key)
  schedulePresence(context.node, key)
}

export const leave: Action<typeof contract.leave> = async ({ room }, context) => {
  if (context.connection) stopListening(context, context.connection, await keyOf(room))
  return {}
}
