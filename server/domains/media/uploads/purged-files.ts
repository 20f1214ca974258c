import { type StoredUpload, UploadRecords } from '#server/domains/media/files/model'
import { namedFiles } from '#server/domains/media/files/removal'
import { hasOpenPurge, isPurged, openPurgesIn } from '#server/domains/rooms/room-state/redaction'
import type { Node } from '#server/kernel/context'
import type { RawRoute } from '#server/kernel/http/raw-route'
import { filesPath } from '#server/kernel/page'
import { sharedLook } from '#server/kernel/shared-look'
import { RoomEvents } from '#server/log/model'
import type { Row } from '#server/log/types'
import { isKey } from '#server/ports/storage/port'
import { AppError } from '#shared/errors'

/** A file that more messages name is served until it is removed. */
const mostMessages = 50

/** Refuses files of purged messages that are still stored. Without a store that answers, all files are served. */
export const purgedFiles = (node: Node): RawRoute => ({
  path: `${filesPath}{*key}`,
  answer: 'file',
  async give({ path }) {
    const key = path.slice(filesPath.length)
    if (isKey(key) && (await isPurgedFile(node, key).catch(() => false))) throw new AppError('NOT_FOUND')
    return false
  },
})

/** Usually no purge is open, and one look tells that for all requests of a turn. */
async function isPurgedFile(node: Node, key: string): Promise<boolean> {
  if (node.isStoreAway() || !(await sharedLook(node, 'open purges', hasOpenPurge))) return false
  return sharedLook(node, `purged file ${key}`, () => isOfPurgesAlone(node, key))
}

async function isOfPurgesAlone(node: Node, key: string): Promise<boolean> {
  const naming = RoomEvents.find({ 'body.media': key }, { room: 1, sender: 1, seq: 1 }).limit(mostMessages)
  const rows = await naming.lean<Pick<Row, 'room' | 'sender' | 'seq'>[]>()
  if (rows.length === 0 || rows.length === mostMessages) return false
  const open = await openPurgesIn([...new Set(rows.map(({ room }) => room))])
  const isGone = (row: (typeof rows)[number]) =>
    isPurged(
      open.filter(({ room }) => room === row.room),
      row,
    )
  if (!rows.every(isGone)) return false
  const record = await UploadRecords.findOne({ _id: key }).lean<StoredUpload>()
  const shownElsewhere = record && (await namedFiles(node, [record], () => false))
  return shownElsewhere?.size === 0
}
