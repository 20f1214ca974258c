import { bodyOf } from '#server/domains/rooms/projection'
import { isQuarantined, onQuarantine } from '#server/domains/rooms/state'
import { audiences, type Node } from '#server/kernel/context'
import { hintFrom } from '#server/log/hints'
import { GLOBAL, type RoomKey, type Row } from '#server/log/types'
import { logged } from '#shared/api/moderation'
import { roomOfKey } from '#shared/kit/primitives'
import { logEntryOf } from './entries.ts'
import { letGo } from './listening.ts'
import { itemOfFlag, tellItem, tellQueue } from './queue.ts'

const namespace = '/moderation'

/** Tells the moderators on this node what happens, and lets go of those who are none any more. */
export function followModeration(node: Node): () => void {
  node.log.onRows((key, rows, isOurs) => {
    for (const row of rows) {
      tellModerators(node, key, row)
      if (isOurs && key !== GLOBAL && concerns(row)) node.peers.tell(topic, row)
      if (key === GLOBAL) void tellItem(node, row).catch(() => {})
      const account = row.type === 'member.left' ? row.sender : row.target
      if (takesGrant.has(row.type) && account !== null) letGo(node, key, account)
    }
  })
  onQuarantine((word, reason) => {
    if (isQuarantined(word)) node.logger.warn({ word, reason }, 'a pattern is out of use')
  })
  // Who moderates everything also hears of rooms that are not followed here.
  return node.peers.listen(topic, (word) => {
    const hint = hintFrom({ kind: 'rows', node: '', rows: [word] }, keyIn(word))
    if (hint?.kind !== 'rows') return
    for (const row of hint.rows) if (node.log.headHere(row.room) === null) tellModerators(node, row.room, row)
  })
}

const takesGrant = new Set([
  'role.changed',
  'account.role_changed',
  'account.suspended',
  'member.left',
  'member.removed',
  'moderation.applied',
])
const topic = 'moderation'
const keyIn = (word: unknown): RoomKey =>
  typeof word === 'object' && word !== null && 'room' in word && typeof word.room === 'string' ? word.room : ''

const isFlagged = (row: Row) => row.type === 'message.created' && bodyOf(row, 'message.created').flagged.length > 0
const concerns = (row: Row) => row.chained || isFlagged(row)

function tellModerators(node: Node, key: RoomKey, row: Row): void {
  if (row.chained) tellEntry(node, key, row)
  if (isFlagged(row)) void tellFlag(node, key, row).catch(() => {})
}

function tellEntry(node: Node, key: RoomKey, row: Row): void {
  const payload = { room: key === GLOBAL ? null : roomOfKey(key), entry: logEntryOf(row) }
  const scopes = key === GLOBAL ? [GLOBAL] : [GLOBAL, key]
  for (const scope of scopes) node.live.send(namespace, audiences.moderators(scope), logged.name, payload)
}

function tellFlag(node: Node, key: RoomKey, row: Row): Promise<void> {
  const { flagged, text } = bodyOf(row, 'message.created')
  return tellQueue(
    node,
    itemOfFlag({
      message_id: row._id,
      room: key,
      user_address: row.sender,
      content: text,
      flagged_at: new Date(row.at).toISOString(),
      words: flagged,
    }),
  )
}
