import { recordOf, removedBy } from '#server/domains/events'
import { isRowOf, type TargetNotice } from '#server/domains/rooms/events/define'
import { mayListen } from '#server/domains/rooms/room-state/access'
import { messageCreated } from '#server/domains/rooms/room-state/events/messages'
import { memberIn } from '#server/domains/rooms/room-state/facts'
import { audiences, type Connection, type Node } from '#server/kernel/context'
import { GLOBAL, type RoomKey, type Row, type View } from '#server/log/types'
import { leanBatch, leanEvent } from '#shared/api/rooms/lean'
import { type RoomEvent, roomEvent, roomEventBatch } from '#shared/api/rooms/room-events'
import { access, capabilitiesChanged } from '#shared/api/rooms/rooms'
import { errors } from '#shared/errors'
import { roomOfKey } from '#shared/kit/primitives'
import { framesOf } from './frames.ts'
import { addHeadReceiver } from './heads.ts'
import { roomsOf, stopListening } from './listen.ts'
import { endTyping } from './presence.ts'
import { eventOf } from './render.ts'
import { endWaits } from './row-waits.ts'
import { capabilitiesNow } from './send.ts'
import { isNewEpoch } from './sent-epochs.ts'

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
