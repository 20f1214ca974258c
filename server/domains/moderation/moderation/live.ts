import type { z } from 'zod'
import { messageOfEvent, recordOf, removedBy } from '#server/domains/events'
import { isKnownRoom } from '#server/domains/rooms/room-state/kinds'
import { audiences, type Node } from '#server/kernel/context'
import { hintFrom } from '#server/log/hints'
import { GLOBAL, type RoomKey, type Row } from '#server/log/types'
import { logged } from '#shared/api/moderation/moderation'
import { roomOfKey } from '#shared/kit/primitives'
import { logEntryOf } from './entries.ts'
import { followReports, sendChangedItem, sendItem } from './queue-events.ts'
import { itemOfFlag } from './queue-items.ts'
import { hasNoModerators, receivesModeration } from './receivers.ts'
import { unsubscribeModerator } from './subscriptions.ts'

const namespace = '/moderation'

/** Notifies moderators on this node, and unsubscribes those who lost their rights. */
export function followModeration(node: Node): () => void {
  // Entries are sent in order, because their receivers everywhere are looked up first.
  let sending: Promise<unknown> = Promise.resolve()
  const sendToModerators = (key: RoomKey, row: Row) => {
    if (isFlagged(row)) void sendFlag(node, key, row).catch(() => {})
    if (!row.chained || hasNoModerators(key)) return
    const entry = entryOf(key, row)
    node.live.send(logged, audiences.moderators(key), entry)
    if (key !== GLOBAL) sending = sending.then(() => sendToGlobalModerators(node, key, entry)).catch(() => {})
  }
  node.log.onRows((key, rows, isOurs) => {
    for (const row of rows) {
      sendToModerators(key, row)
      if (isOurs && key !== GLOBAL && !hasNoModerators(key) && isForModerators(row)) node.peers.tell(topic, row)
      if (key === GLOBAL) void sendChangedItem(node, row).catch(() => {})
      const account = removedBy(row) ?? (recordOf(row.type)?.changesRights === 'of the target' ? row.target : null)
      if (account !== null) unsubscribeModerator(node, key, account)
    }
  })
  followReports(node)
  // Global moderators also receive rooms that are not open here.
  return node.peers.listen(topic, (word) => {
    const hint = hintFrom({ kind: 'rows', node: '', rows: [word] }, keyIn(word))
    if (hint?.kind !== 'rows') return
    for (const row of hint.rows)
      if (isKnownRoom(row.room) && node.log.headHere(row.room) === null) sendToModerators(row.room, row)
  })
}

const topic = 'moderation'
const keyIn = (word: unknown): RoomKey =>
  typeof word === 'object' && word !== null && 'room' in word && typeof word.room === 'string' ? word.room : ''

const isFlagged = (row: Row) => (messageOfEvent(row)?.body.flagged.length ?? 0) > 0
const isForModerators = (row: Row) => row.chained || isFlagged(row)

const entryOf = (key: RoomKey, row: Row): z.infer<typeof logged.payload> => ({
  room: key === GLOBAL ? null : roomOfKey(key),
  entry: logEntryOf(row),
})

/** Sends to global moderators of this room; subscribers of the room itself have the entry already. */
async function sendToGlobalModerators(node: Node, key: RoomKey, entry: z.infer<typeof logged.payload>): Promise<void> {
  const listening = () =>
    node.live
      .connectionsOf(namespace, audiences.moderators(GLOBAL))
      .filter((connection) => !connection.has(audiences.moderators(key)))
  const accounts = [...new Set(listening().flatMap(({ account }) => account ?? []))]
  if (accounts.length === 0) return
  const receivers = await node.log.ask(key, (view, now) =>
    accounts.filter((account) => receivesModeration(view, account, now)),
  )
  for (const connection of listening())
    if (connection.account !== null && receivers.includes(connection.account)) connection.emit(logged, entry)
}

async function sendFlag(node: Node, key: RoomKey, row: Row): Promise<void> {
  const message = messageOfEvent(row)
  if (!message) return
  const { flagged, text } = message.body
  await sendItem(
    node,
    itemOfFlag({
      message_id: message.id,
      room: key,
      user_address: row.sender,
      content: text,
      flagged_at: new Date(row.at).toISOString(),
      words: flagged,
    }),
  )
}
