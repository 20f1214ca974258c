import { readRoom } from '#server/domains/rooms/room-state/access'
import { messageFactOf, sealingOf } from '#server/domains/rooms/room-state/facts'
import type { Action } from '#server/kernel/context'
import { messagesBetween as rowsBetween } from '#server/log/store'
import type { View } from '#server/log/types'
import type { messages as contract } from '#shared/api/rooms/messages'
import { channelRef } from '#shared/api/rooms/room-paths'
import { sharedKeyRow, sharedKeyRowsAtMost } from '#shared/api/rooms/shared-key-messages'
import { AppError } from '#shared/errors'
import { firstMessageSince } from './history.ts'
import { messagesOf } from './pages.ts'

export const sharedKeyHistory: Action<typeof contract.sharedKeyHistory> = async ({ id, since }, context) => {
  const { node, caller } = context
  const { key, room, also } = await readRoom(node, caller, channelRef(id), (view) => {
    const fault = otherSealingError(view)
    if (fault) throw fault
    return { total: view.total }
  })
  const { total } = also
  const from =
    since === undefined
      ? Math.max(1, total - sharedKeyRowsAtMost + 1)
      : await firstMessageSince(key, Date.parse(since), total)
  const to = Math.min(total, from + sharedKeyRowsAtMost - 1)
  const rows = from > to ? [] : await rowsBetween(key, from, to)
  const found = await messagesOf(key, rows.map(messageFactOf), true)
  const messages = found
    .filter(({ is_deleted }) => !is_deleted)
    .map((message) => ({ ...sharedKeyRow(message), content_topic: room.p2p_content_topic }))
  return { messages }
}

/** The refusal of shared-key text in another room; null if it belongs here. */
export const otherSealingError = (view: View): AppError | null =>
  sealingOf(view) === 'shared-key'
    ? null
    : new AppError('VALIDATION_ERROR', { message: 'Wrong channel type: this room has no shared key' })
