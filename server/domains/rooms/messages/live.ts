import { setImmediate as breathe } from 'node:timers/promises'
import { recordOf, removedBy } from '#server/domains/events'
import { isRowOf, type TargetNotice } from '#server/domains/rooms/events/define'
import { mayListen } from '#server/domains/rooms/room-state/access'
import { messageCreated } from '#server/domains/rooms/room-state/events/messages'
import { memberIn } from '#server/domains/rooms/room-state/facts'
import { repeatWork } from '#server/kernel/beat'
import { audiences, type Connection, type Node } from '#server/kernel/context'
import { nodeState } from '#server/kernel/operate/node-state'
import { GLOBAL, type RoomKey, type Row, type View } from '#server/log/types'
import { leanBatch, leanEvent } from '#shared/api/rooms/lean'
import { type RoomEvent, roomEvent, roomEventBatch } from '#shared/api/rooms/room-events'
import { access, capabilitiesChanged, heads } from '#shared/api/rooms/rooms'
import { errors } from '#shared/errors'
import { dmOf, roomKey, roomOfKey } from '#shared/kit/primitives'
import { isNewEpoch, roomsOf, stopListening } from './listen.ts'
import { eventOf } from './pages.ts'
import { endTyping } from './presence.ts'
import { capabilitiesNow } from './send.ts'

const sendEveryMilliseconds = 25_000
const slotMilliseconds = 1_000
const sentAtOnce = 50

/** Connections take turns, so that they are not all notified at once. */
const turnOf = nodeState(() => ({
  slots: Array.from({ length: sendEveryMilliseconds / slotMilliseconds }, () => new Set<Connection>()),
  arrivals: 0,
  at: 0,
}))

/** Sends the heads of its rooms to the connection every 25 s. */
export function addHeadReceiver(node: Node, connection: Connection): void {
  const turn = turnOf(node)
  const slot = turn.slots[turn.arrivals++ % turn.slots.length]
  slot?.add(connection)
  connection.onClose(() => slot?.delete(connection))
}

export function startHeads(node: Node): () => void {
  const turn = turnOf(node)
  return repeatWork(slotMilliseconds, () => {
    const slot = turn.slots[turn.at++ % turn.slots.length]
    if (slot && slot.size > 0) void sendSlot(node, slot)
  })
}

async function sendSlot(node: Node, slot: ReadonlySet<Connection>): Promise<void> {
  let sent = 0
  for (const connection of slot) {
    void sendHeads(node, connection).catch(() => {})
    if (++sent % sentAtOnce === 0) await breathe()
  }
}

async function sendHeads(node: Node, connection: Connection): Promise<void> {
  const held = [...roomsOf(connection).keys()]
  if (held.length === 0) return
  const known = await Promise.all(held.map(async (key) => [key, (await node.log.head(key)).seq] as const))
  connection.emit(heads, { heads: Object.fromEntries(known) })
}

/** The functions that end waits, by their audience. */
const waitersOn = nodeState(() => new Map<string, Set<() => void>>())

/** Ends the waits of an audience, a room or an account; called for each concerned audience of a row. */
const endWaits = (node: Node, audience: string): void => {
  for (const wake of waitersOn(node).get(audience) ?? []) wake()
}
/** Does any call wait for rows on this node? */
export const hasWaits = (node: Node): boolean => waitersOn(node).size > 0

/**
 * Resolves on timeout, on a new row of the room or about the account, or on disconnect. It resolves at once if the row
 * exists or the caller has gone.
 */
export async function waitForRows(
  node: Node,
  { room, account }: { room: RoomKey; account: string | null },
  milliseconds: number,
  signal: AbortSignal,
  isThere: () => Promise<boolean>,
): Promise<void> {
  if (signal.aborted) return
  const waiting = waitersOn(node)
  const audienceNames = [audiences.room(room), ...(account === null ? [] : [audiences.account(account)])]
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      for (const audience of audienceNames) {
        const those = waiting.get(audience)
        those?.delete(end)
        if (those?.size === 0) waiting.delete(audience)
      }
      resolve()
    }
    const timer = setTimeout(end, milliseconds)
    for (const audience of audienceNames) waiting.set(audience, (waiting.get(audience) ?? new Set()).add(end))
    signal.addEventListener('abort', end, { once: true })
    void isThere().then((already) => already && end(), end)
  })
}

const namespace = '/rooms'

/** Sends the rows of each log to this node's sockets, in order and each once. */
export function followRooms(node: Node): void {
  node.log.onRows((key, rows) => {
    if (key === GLOBAL) return globalChanged(node, rows)
    sendRows(node, key, rows)
    endWaits(node, audiences.room(key))
  })
}

/** A removed person stops listening before the next frame. */
function sendRows(node: Node, key: RoomKey, rows: readonly Row[]): void {
  for (const { rows: together, removed } of framesOf(rows, removedBy)) {
    const last = together.at(-1)
    for (const row of together) {
      if (row !== last || removed === null) notifyTarget(node, key, row)
      if (isRowOf(row, messageCreated)) endTyping(node, key, row.sender)
    }
    sendEvents(node, key, together.map(eventOf))
    if (removed === null || !last) continue
    notifyTarget(node, key, last)
    removeSockets(node, key, removed)
  }
  refreshCapabilities(node, key, rows)
}

function sendEvents(node: Node, key: RoomKey, events: readonly RoomEvent[]): void {
  const audience = audiences.room(key)
  if (node.live.audienceSize(namespace, audience) === 0) return
  const [first] = events
  const isNews = ({ epoch }: RoomEvent) => isNewEpoch(node, key, epoch)
  if (first && events.length === 1) {
    node.live.send(roomEvent, audience, first, () => leanEvent(first, isNews(first)))
  } else {
    const batch = { room: roomOfKey(key), events: [...events] }
    node.live.send(roomEventBatch, audience, batch, () => leanBatch(batch, isNews))
  }
}

function removeSockets(node: Node, key: RoomKey, account: string): void {
  const theirs = node.live.connectionsOf(namespace, audiences.account(account))
  for (const connection of theirs) if (connection.has(audiences.room(key))) stopListening({ node }, connection, key)
}

const targetStates: Record<
  TargetNotice,
  { state: 'granted' | 'muted' | 'banned' | 'removed' | 'warned'; code: string; text: string }
> = {
  banned: { state: 'banned', code: 'BANNED', text: errors.BANNED[1] },
  unbanned: { state: 'granted', code: 'GRANTED', text: 'You may come back to this room' },
  muted: { state: 'muted', code: 'MUTED', text: errors.MUTED[1] },
  unmuted: { state: 'granted', code: 'GRANTED', text: 'You may write in this room again' },
  warned: { state: 'warned', code: 'WARNED', text: 'A moderator has warned you' },
  removed: { state: 'removed', code: 'NOT_A_MEMBER', text: 'You were removed from this room' },
}

/** Notifies the target before any effect of the act. */
function notifyTarget(node: Node, key: RoomKey, row: Row): void {
  const notice = recordOf(row.type)?.notice?.(row.body)
  if (!notice || row.target === null) return
  const until = row.until === null ? null : new Date(row.until).toISOString()
  node.live.send(access, audiences.account(row.target), {
    room: roomOfKey(key),
    ...targetStates[notice],
    until,
    reason: row.reason,
    appeal: null,
  })
}

/** The people whose rights these rows change. */
const targetsOf = (rows: readonly Row[]): string[] =>
  rows.flatMap(({ type, target }) =>
    target !== null && recordOf(type)?.changesRights === 'of the target' ? [target] : [],
  )

/** Sends changed capabilities, after the rows. */
function refreshCapabilities(node: Node, key: RoomKey, rows: readonly Row[]): void {
  const all = rows.some(({ type }) => recordOf(type)?.changesRights === 'of everybody')
  const targets = targetsOf(rows)
  if (!all && targets.length === 0) return
  const here = node.live.connectionsOf(namespace, audiences.room(key))
  const concerned = new Set(
    here.flatMap(({ account }) => (account !== null && (all || targets.includes(account)) ? [account] : [])),
  )
  for (const account of concerned) void sendCapabilities(node, key, account).catch(() => {})
}

async function sendCapabilities(node: Node, key: RoomKey, account: string): Promise<void> {
  const isMember = await node.log.ask(key, (view) => memberIn(view, account) !== null)
  if (isMember)
    node.live.send(capabilitiesChanged, audiences.account(account), await capabilitiesNow(node, key, account))
}

/** Tells those who have a conversation with one of these deleted accounts that they can send nothing there. */
export function closeConversationsWith(node: Node, deleted: ReadonlySet<string>): void {
  const connected = new Set(node.live.connectionsOf(namespace, 'all').flatMap(({ account }) => account ?? []))
  for (const account of connected)
    for (const peer of deleted) {
      const key = roomKey(dmOf(account, peer))
      // A node holds the conversations of accounts that listen, or that get unread counts.
      if (node.log.headHere(key) === null) continue
      void capabilitiesNow(node, key, account).then(
        (known) => node.live.send(capabilitiesChanged, audiences.account(account), known),
        () => {},
      )
    }
}

/** Global events affect sending, listening and waiting in every room. */
function globalChanged(node: Node, rows: readonly Row[]): void {
  for (const { target } of rows) if (target !== null) endWaits(node, audiences.account(target))
  for (const account of new Set(targetsOf(rows))) {
    for (const connection of node.live.connectionsOf(namespace, audiences.account(account)))
      for (const key of [...roomsOf(connection).keys()]) {
        stopUnlessAllowed(node, connection, key, account)
        if (roomsOf(connection).has(key)) void sendCapabilities(node, key, account).catch(() => {})
      }
  }
}

/** Former staff stop listening before the next frame. If the right is not known at once, they wait until it is. */
function stopUnlessAllowed(node: Node, connection: Connection, key: RoomKey, account: string): void {
  const may = (view: View, now = view.at) => mayListen(view, account, now)
  const listens = node.log.answerHere(key, may)
  if (listens) return
  if (listens === false) {
    stopListening({ node }, connection, key)
    return
  }
  connection.leave(audiences.room(key))
  node.log
    .ask(key, may, (still) => {
      if (!still) stopListening({ node }, connection, key)
      else if (connection.isOpen && roomsOf(connection).has(key)) connection.join(audiences.room(key))
    })
    .catch(() => stopListening({ node }, connection, key))
}

/** A new connection gets heads, and its rooms are released when it closes. */
export function greetConnection(node: Node, connection: Connection): void {
  connection.join('all')
  addHeadReceiver(node, connection)
  connection.onClose(() => {
    for (const key of [...roomsOf(connection).keys()]) stopListening({ node }, connection, key)
  })
}

interface Frame {
  rows: readonly Row[]
  /** The person whom its last row removes; they receive this frame, and no later one. */
  removed: string | null
}

/** One frame for simultaneous rows; a row that removes a person ends its frame. */
export function framesOf(rows: readonly Row[], removedBy: (row: Row) => string | null): Frame[] {
  const frames: Frame[] = []
  let start = 0
  for (const [index, row] of rows.entries()) {
    const removed = removedBy(row)
    if (removed === null && index < rows.length - 1) continue
    frames.push({ rows: rows.slice(start, index + 1), removed })
    start = index + 1
  }
  return frames
}
