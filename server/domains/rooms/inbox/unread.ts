import { z } from 'zod'
import { recordOf, removedBy } from '#server/domains/events'
import { blocksChanged } from '#server/domains/moderation/blocks/events'
import { isOf } from '#server/domains/rooms/events/define'
import { onRead } from '#server/domains/rooms/messages/reads'
import { membershipsAmong, membershipsOf } from '#server/domains/rooms/room-state/membership'
import { audiences, type Connection, type Node } from '#server/kernel/context'
import { RoomHeads } from '#server/log/model'
import { GLOBAL, type RoomKey, type Row } from '#server/log/types'
import { unreadSnapshot } from '#shared/api/inbox'
import { peersOf, roomOfKey } from '#shared/kit/room-key'
import { isBetweenTwo } from '#shared/kit/room-kinds'
import { forgetGone, snapshotOf, tellAfterBlocks, tellOf, tellWithout } from './recounts.ts'

const namespace = '/notifications'
const toldEveryMilliseconds = 1_000
const foundEveryMilliseconds = 5_000
const recordedMilliseconds = 100

/** Told to other nodes at once, so that nobody waits for the next poll. */
const marked = 'unread:marked'
const joined = 'unread:joined'
const About = z.object({ account: z.string().max(200), key: z.string().max(200) })
type About = z.output<typeof About>

type Listener = Connection & { account: string | null }

const audienceOf = (key: RoomKey) => `n:${key}`

/** A new connection hears where it stands, and from then on what changes. */
export async function greetNotifications(node: Node, connection: Listener): Promise<void> {
  const { account } = connection
  if (account === null) return
  connection.join('all')
  connection.memory.set(followed, new Map() satisfies Followed)
  connection.onClose(() => {
    for (const key of [...(followedBy(connection)?.keys() ?? [])]) unfollow(connection, key)
    connection.memory.delete(followed)
    forgetGone(node, account)
  })
  const keys = await membershipsOf(account)
  await Promise.all(keys.map((key) => follow(node, connection, key)))
  connection.emit(unreadSnapshot, await snapshotOf(node, account, keys))
}

const followed = 'followed'
type Followed = Map<RoomKey, Promise<() => void>>

/** The rooms a connection is told of, each with what lets it go; none once it is closed. */
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
 * Changes of a room are gathered for a second and told once to each account that listens. Counts are computed from records, which are
 * written after the row: where they were not, they are told again.
 */
export function followUnread(node: Node): () => void {
  const due = new Set<RoomKey>()
  /** Up to which row the records of a room are waited for. */
  const unrecorded = new Map<RoomKey, number>()
  const noteUnrecorded = (key: RoomKey) => {
    const head = node.log.headHere(key)
    if (head && head.recorded < head.seq) unrecorded.set(key, head.seq)
  }
  node.log.onRows((key, rows, isOurs) => {
    if (key === GLOBAL) tellBlockers(node, rows)
    followMembership(node, key, rows, isOurs, noteUnrecorded)
    const recounts = ({ n, type }: Row) => n !== null || recordOf(type)?.recounts === true
    if (rows.some(recounts) && node.live.audienceSize(namespace, audienceOf(key)) > 0) due.add(key)
  })
  const timer = setInterval(() => {
    const keys = new Set(due)
    due.clear()
    void tellChanged(keys).catch(() => {})
  }, toldEveryMilliseconds).unref()
  async function tellChanged(keys: Set<RoomKey>): Promise<void> {
    for (const key of keys) noteUnrecorded(key)
    for (const key of await recordedAmong(node, unrecorded)) {
      unrecorded.delete(key)
      keys.add(key)
    }
    tellRooms(node, keys)
  }
  const finder = node.alone
    ? undefined
    : setInterval(() => void findRooms(node).catch(() => {}), foundEveryMilliseconds).unref()
  onRead(node, (account, { key }) => {
    node.peers.tell(marked, { account, key } satisfies About)
    tellOf(node, account, [key])
  })
  const deaf = [
    node.peers.listen(marked, (word) => {
      const { data } = About.safeParse(word)
      if (data) tellOf(node, data.account, [data.key])
    }),
    node.peers.listen(joined, (word) => {
      const { data } = About.safeParse(word)
      if (data) setTimeout(() => void hearOnceIn(node, data).catch(() => {}), recordedMilliseconds).unref()
    }),
  ]
  return () => {
    for (const stop of deaf) stop()
    clearInterval(timer)
    clearInterval(finder)
  }
}

/** Those of the rooms whose records are written up to the row. What another node has recorded, the head in the store tells first. */
async function recordedAmong(node: Node, rooms: ReadonlyMap<RoomKey, number>): Promise<RoomKey[]> {
  // A room is closed only once all of it is recorded.
  const isHere = ([key, seq]: [RoomKey, number]) => (node.log.headHere(key)?.recorded ?? seq) >= seq
  const there = [...rooms].filter((room) => !isHere(room)).map(([key]) => key)
  const heads = there.length > 0 ? await RoomHeads.find({ _id: { $in: there } }, { applied: 1 }).lean() : []
  const applied = new Map(heads.map((head) => [head._id, head.applied]))
  return [...rooms].filter((room) => isHere(room) || (applied.get(room[0]) ?? 0) >= room[1]).map(([key]) => key)
}

/** A room joined, or a conversation begun, on another node is in no log that this one follows. */
async function findRooms(node: Node): Promise<void> {
  const connected = node.live.connectionsOf(namespace, 'all').flatMap(({ account }) => account ?? [])
  if (connected.length === 0) return
  for (const { account, room } of await membershipsAmong([...new Set(connected)])) await hearOf(node, account, room)
}

/** The message of the other node comes with the row, before the record is written; members missing then are found later. */
async function hearOnceIn(node: Node, { account, key }: About): Promise<void> {
  if (node.live.audienceSize(namespace, audiences.account(account)) === 0) return
  if ((await membershipsOf(account)).includes(key)) await hearOf(node, account, key)
}

async function hearOf(node: Node, account: string, key: RoomKey): Promise<void> {
  const here = node.live.connectionsOf(namespace, audiences.account(account))
  const deaf = here.filter((connection) => followedBy(connection)?.has(key) === false)
  if (deaf.length === 0) return
  await Promise.all(deaf.map((connection) => follow(node, connection, key)))
  tellOf(node, account, [key])
}

/** Each account that listens is counted once for all of its rooms among these. */
function tellRooms(node: Node, keys: Iterable<RoomKey>): void {
  const changed = new Map<string, RoomKey[]>()
  for (const key of keys) {
    const listening = node.live.connectionsOf(namespace, audienceOf(key)).flatMap(({ account }) => account ?? [])
    for (const account of new Set(listening)) changed.set(account, [...(changed.get(account) ?? []), key])
  }
  for (const [account, theirs] of changed) tellOf(node, account, theirs)
}

function tellBlockers(node: Node, rows: readonly Row[]): void {
  const accounts = new Set(rows.filter((row) => isOf(row, blocksChanged)).map(({ sender }) => sender))
  for (const account of accounts) tellAfterBlocks(node, account)
}

/** Whoever joins a room is told of it from then on, whoever leaves is not; both people of a dm are told from its first message. */
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
      tune(node, key, account, !isOut)
      if (isOut) tellWithout(node, account, key)
      // By then the record of it is mostly written, so that the room is in the list that is asked for.
      if (isOurs && isIn)
        setTimeout(() => {
          noteUnrecorded(key)
          tellOf(node, account, [key])
        }, toldEveryMilliseconds).unref()
      if (isOurs && !isOut && (isIn || row.n === 1)) node.peers.tell(joined, { account, key } satisfies About)
    }
  }
}

function tune(node: Node, key: RoomKey, account: string, isIn: boolean): void {
  for (const connection of node.live.connectionsOf(namespace, audiences.account(account))) {
    if (isIn) void follow(node, connection, key).catch(() => {})
    else unfollow(connection, key)
  }
}
