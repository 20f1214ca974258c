import type { z } from 'zod'
import { messageTold, recordOf, removedBy } from '#server/domains/events'
import { isKnown } from '#server/domains/rooms/room-state/kinds'
import { audiences, type Node } from '#server/kernel/context'
import { hintFrom } from '#server/log/hints'
import { GLOBAL, type RoomKey, type Row } from '#server/log/types'
import { logged } from '#shared/api/moderation'
import { roomOfKey } from '#shared/kit/primitives'
import { logEntryOf } from './entries.ts'
import { hearsOf, isUnheard } from './hearing.ts'
import { letGo } from './listening.ts'
import { itemOfFlag } from './queue-items.ts'
import { followReports, tellItem, tellQueue } from './queue-told.ts'

const namespace = '/moderation'

/** Notifies moderators on this node, and unsubscribes those who lost their rights. */
export function followModeration(node: Node): () => void {
  // Entries are sent in order, because their receivers everywhere are looked up first.
  let told: Promise<unknown> = Promise.resolve()
  const tellModerators = (key: RoomKey, row: Row) => {
    if (isFlagged(row)) void tellFlag(node, key, row).catch(() => {})
    if (!row.chained || isUnheard(key)) return
    const entry = entryOf(key, row)
    node.live.send(logged, audiences.moderators(key), entry)
    if (key !== GLOBAL) told = told.then(() => tellEverywhere(node, key, entry)).catch(() => {})
  }
  node.log.onRows((key, rows, isOurs) => {
    for (const row of rows) {
      tellModerators(key, row)
      if (isOurs && key !== GLOBAL && !isUnheard(key) && concerns(row)) node.peers.tell(topic, row)
      if (key === GLOBAL) void tellItem(node, row).catch(() => {})
      const account = removedBy(row) ?? (recordOf(row.type)?.changesRights === 'of the target' ? row.target : null)
      if (account !== null) letGo(node, key, account)
    }
  })
  followReports(node)
  // Global moderators also receive rooms that are not open here.
  return node.peers.listen(topic, (word) => {
    const hint = hintFrom({ kind: 'rows', node: '', rows: [word] }, keyIn(word))
    if (hint?.kind !== 'rows') return
    for (const row of hint.rows)
      if (isKnown(row.room) && node.log.headHere(row.room) === null) tellModerators(row.room, row)
  })
}

const topic = 'moderation'
const keyIn = (word: unknown): RoomKey =>
  typeof word === 'object' && word !== null && 'room' in word && typeof word.room === 'string' ? word.room : ''

const isFlagged = (row: Row) => (messageTold(row)?.body.flagged.length ?? 0) > 0
const concerns = (row: Row) => row.chained || isFlagged(row)

const entryOf = (key: RoomKey, row: Row): z.infer<typeof logged.payload> => ({
  room: key === GLOBAL ? null : roomOfKey(key),
  entry: logEntryOf(row),
})

/** Sends to global moderators of this room; subscribers of the room itself have the entry already. */
async function tellEverywhere(node: Node, key: RoomKey, entry: z.infer<typeof logged.payload>): Promise<void> {
  const listening = () =>
    node.live
      .connectionsOf(namespace, audiences.moderators(GLOBAL))
      .filter((connection) => !connection.has(audiences.moderators(key)))
  const accounts = [...new Set(listening().flatMap(({ account }) => account ?? []))]
  if (accounts.length === 0) return
  const hearing = await node.log.ask(key, (view, now) => accounts.filter((account) => hearsOf(view, account, now)))
  for (const connection of listening())
    if (connection.account !== null && hearing.includes(connection.account)) connection.emit(logged, entry)
}

async function tellFlag(node: Node, key: RoomKey, row: Row): Promise<void> {
  const message = messageTold(row)
  if (!message) return
  const { flagged, text } = message.body
  await tellQueue(
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
