import { z } from 'zod'
import { recordOf, removedBy } from '#server/domains/events'
import { blocksChanged } from '#server/domains/moderation/blocks/events'
import { isRowOf } from '#server/domains/rooms/events/define'
import { onRead } from '#server/domains/rooms/messages/reads'
import { membershipsOf, membershipsOfAll } from '#server/domains/rooms/room-state/membership'
import { repeatWork } from '#server/kernel/beat'
import { audiences, type Connection, type Node } from '#server/kernel/context'
import { definePeerMessage, definePeerTopic } from '#server/kernel/peer-message'
import { every } from '#server/kernel/work/every'
import { RoomHeads } from '#server/log/model'
import { GLOBAL, type RoomKey, type Row } from '#server/log/types'
import { unreadSnapshot } from '#shared/api/rooms/inbox'
import { peersOf, roomOfKey } from '#shared/kit/room-key'
import { isBetweenTwo } from '#shared/kit/room-kinds'
import {
  dropListener,
  sendUnread,
  sendUnreadAfterBlocks,
  sendUnreadAfterLeaving,
  unreadSnapshotOf,
} from './recounts.ts'

const namespace = '/notifications'
const sendEveryMilliseconds = 1_000
const foundEveryMilliseconds = 5_000
const recordedMilliseconds = 100

const AccountAndRoom = z.object({ account: z.string().max(200), key: z.string().max(200) })
/** Sent to other nodes at once, so that nobody waits for the next poll. */
const joinedTopic = definePeerTopic('unread:joined', AccountAndRoom)
const readMessage = definePeerMessage('unread:marked', AccountAndRoom, (node, { account, key }) =>
  sendUnread(node, account, [key]),
)

type Listener = Connection & { account: string | null }

const audienceOf = (key: RoomKey) => `n:${key}`

/** Sends the present counts to a new connection, and then changes. */
export async function greetNotifications(node: Node, connection: Listener): Promise<void> {
  const { account } = connection
  if (account === null) return
  connection.join('all')
  connection.memory.set(followed, new Map() satisfies Followed)
  connection.onClose(() => {
    for (const key of [...(followedBy(connection)?.keys() ?? [])]) unfollow(connection, key)
    connection.memory.delete(followed)
    dropListener(node, account)
  })
  const keys = await membershipsOf(account)
  await Promise.all(keys.map((key) => follow(node, connection, key)))
  connection.emit(unreadSnapshot, await unreadSnapshotOf(node, account, keys))
}

const followed = 'followed'
type Followed = Map<RoomKey, Promise<() => void>>

/** The rooms that a connection follows, each with its release function; none after it has closed. */
const followedBy = (connection: Connection) => connection.memory.get(followed) as Followed | undefined

async function follow(node: Node, connection: Connection, key: RoomKey): Promise<void> {
  const rooms = followedBy(connection)
  if (!rooms) return
  connection.join(audienceOf(key))
  const hold = rooms.get(key) ?? node.log.hold(key)
  rooms.set(key, hold)
  await hold.catch((error: unknown) => {
    rooms.delete(key)
    throw error
  })
}

function unfollow(connection: Connection, key: RoomKey): void {
  connection.leave(audienceOf(key))
  const rooms = followedBy(connection)
  rooms
    ?.get(key)
    ?.then((release) => release())
    .catch(() => {})
  rooms?.delete(key)
}

/**
 * Changes of a room are collected for a second, and sent once to each listening account. Counts depend on records,
 * which follow the row: late ones are sent again.
 */
export function followUnread(node: Node): () => void {
  const due = new Set<RoomKey>()
  /** The row of each room whose records are still missing. */
  const unrecorded = new Map<RoomKey, number>()
  const noteUnrecorded = (key: RoomKey) => {
    const head = node.log.headHere(key)
    if (head && head.recorded < head.seq) unrecorded.set(key, head.seq)
  }
  node.log.onRows((key, rows, isOurs) => {
    if (key === GLOBAL) sendUnreadToBlockers(node, rows)
    followMembership(node, key, rows, isOurs, noteUnrecorded)
    const recounts = ({ n, type }: Row) => n !== null || recordOf(type)?.recounts === true
    if (rows.some(recounts) && node.live.audienceSize(namespace, audienceOf(key)) > 0) due.add(key)
  })
  const sendAll = () => {
    if (due.size + unrecorded.size === 0) return
    const keys = new Set(due)
    due.clear()
    void sendChanged(keys).catch(() => {})
  }
  async function sendChanged(keys: Set<RoomKey>): Promise<void> {
    for (const key of keys) noteUnrecorded(key)
    for (const key of await recordedAmong(node, unrecorded)) {
      unrecorded.delete(key)
      keys.add(key)
    }
    sendUnreadOfRooms(node, keys)
  }
  onRead(node, (account, { key }) => readMessage.publish(node, { account, key }))
  const unsubscribed = [
    repeatWork(sendEveryMilliseconds, sendAll),
    readMessage.follow(node),
    node.alone ? () => {} : every(node, foundEveryMilliseconds, () => findRooms(node), 'joined rooms were not found'),
    joinedTopic.listen(node, '', (joined) => {
      setTimeout(() => void followOnceMember(node, joined).catch(() => {}), recordedMilliseconds).unref()
    }),
  ]
  return () => {
    for (const stop of unsubscribed) stop()
  }
}

/**
 * The rooms whose records are written up to the row. For records of other nodes, the stored head is the first to show
 * it.
 */
async function recordedAmong(node: Node, rooms: ReadonlyMap<RoomKey, number>): Promise<RoomKey[]> {
  // A room is closed only after all its records are written.
  const isHere = ([key, seq]: [RoomKey, number]) => (node.log.headHere(key)?.recorded ?? seq) >= seq
  const there = [...rooms].filter((room) => !isHere(room)).map(([key]) => key)
  const heads = there.length > 0 ? await RoomHeads.find({ _id: { $in: there } }, { applied: 1 }).lean() : []
  const applied = new Map(heads.map((head) => [head._id, head.applied]))
  return [...rooms].filter((room) => isHere(room) || (applied.get(room[0]) ?? 0) >= room[1]).map(([key]) => key)
}

/** This node follows no log of a room that was joined on another node. */
async function findRooms(node: Node): Promise<void> {
  const connected = node.live.connectionsOf(namespace, 'all').flatMap(({ account }) => account ?? [])
  if (connected.length === 0) return
  for (const { account, room } of await membershipsOfAll([...new Set(connected)]))
    await followNewRoom(node, account, room)
}

/** The other node's message comes with the row, before the record. Missing members are found later. */
async function followOnceMember(node: Node, { account, key }: z.output<typeof AccountAndRoom>): Promise<void> {
  if (node.live.audienceSize(namespace, audiences.account(account)) === 0) return
  if ((await membershipsOf(account)).includes(key)) await followNewRoom(node, account, key)
}

async function followNewRoom(node: Node, account: string, key: RoomKey): Promise<void> {
  const here = node.live.connectionsOf(namespace, audiences.account(account))
  const unsubscribed = here.filter((connection) => followedBy(connection)?.has(key) === false)
  if (unsubscribed.length === 0) return
  await Promise.all(unsubscribed.map((connection) => follow(node, connection, key)))
  sendUnread(node, account, [key])
}

/** Each listening account is counted once for all of its rooms. */
function sendUnreadOfRooms(node: Node, keys: Iterable<RoomKey>): void {
  const changed = new Map<string, RoomKey[]>()
  for (const key of keys) {
    const listening = node.live.connectionsOf(namespace, audienceOf(key)).flatMap(({ account }) => account ?? [])
    for (const account of new Set(listening)) changed.set(account, [...(changed.get(account) ?? []), key])
  }
  for (const [account, theirs] of changed) sendUnread(node, account, theirs)
}

function sendUnreadToBlockers(node: Node, rows: readonly Row[]): void {
  const accounts = new Set(rows.filter((row) => isRowOf(row, blocksChanged)).map(({ sender }) => sender))
  for (const account of accounts) sendUnreadAfterBlocks(node, account)
}

/** Members are notified from their joining until they leave; both people of a direct room from its first message. */
function followMembership(
  node: Node,
  key: RoomKey,
  rows: readonly Row[],
  isOurs: boolean,
  noteUnrecorded: (key: RoomKey) => void,
): void {
  for (const row of rows) {
    const { type, id } = roomOfKey(key)
    const [joins, leaves] = [recordOf(row.type)?.admits?.(row) ?? null, removedBy(row)]
    const [isIn, isOut] = [joins !== null, leaves !== null]
    const isLine = isBetweenTwo(type) && row.n !== null
    const concerned = joins ?? leaves
    const accounts = isLine ? peersOf(id) : concerned === null ? [] : [concerned]
    for (const account of accounts) {
      followOrUnfollow(node, key, account, !isOut)
      if (isOut) sendUnreadAfterLeaving(node, account, key)
      // By then the record is usually written, so the room is in the requested list.
      if (isOurs && isIn)
        setTimeout(() => {
          noteUnrecorded(key)
          sendUnread(node, account, [key])
        }, sendEveryMilliseconds).unref()
      if (isOurs && !isOut && (isIn || row.n === 1)) joinedTopic.tell(node, '', { account, key })
    }
  }
}

function followOrUnfollow(node: Node, key: RoomKey, account: string, isIn: boolean): void {
  for (const connection of node.live.connectionsOf(namespace, audiences.account(account))) {
    if (isIn) void follow(node, connection, key).catch(() => {})
    else unfollow(connection, key)
  }
}
