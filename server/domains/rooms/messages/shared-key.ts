import { createHash } from 'node:crypto'
import type { MessageDraft } from '#server/domains/moderation/verdict/content'
import { isBase64, sharedKeyBytes } from '#server/domains/moderation/verdict/sealed-text'
import { devicesNamed } from '#server/domains/people/device-keys/devices'
import { readRoom } from '#server/domains/rooms/room-state/access'
import { currentEpochIn, epochIn, messageFactOf, sealingOf } from '#server/domains/rooms/room-state/facts'
import { DmVectors } from '#server/domains/rooms/room-state/model'
import { presentMessagesBetween } from '#server/domains/rooms/room-state/redaction'
import { standingOf } from '#server/domains/rooms/room-state/standing'
import type { Action, Node } from '#server/kernel/context'
import type { View } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import type { messages as contract } from '#shared/api/rooms/messages'
import { sharedKeyRow, sharedKeyRowsAtMost } from '#shared/api/rooms/messages-paths'
import { channelRef } from '#shared/api/rooms/room-paths'
import { AppError } from '#shared/errors'
import { peersOf, roomOfKey } from '#shared/kit/room-key'
import { sealedBy } from '#shared/kit/room-kinds'
import { epochAt, layouts, tagBytes } from '#shared/kit/sealed-layout'
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
  const rows = from > to ? [] : await presentMessagesBetween(key, from, to)
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

const { version, vectorAt, cipherAt } = layouts.epoch
const leastBytes = cipherAt - vectorAt + tagBytes

export const isCiphertext = (text: string): boolean =>
  isBase64(text) && Buffer.from(text, 'base64').length >= leastBytes

/**
 * The check of a sealed text, by the state of the room. Text with the first byte 1 names its epoch, which must be the
 * current one. Other text is of older clients, whose key follows from the two accounts, and is stored unchanged. The
 * server cannot tell whether a text is secret; its readers can.
 */
export async function sealedTextCheck(
  node: Node,
  room: string,
  account: string,
  draft: MessageDraft,
): Promise<(view: View) => AppError | null> {
  if (sealedBy(roomOfKey(room)) === null) {
    await reserveSharedVector(node, room, account, draft.text)
    return () => null
  }
  const bytes = Buffer.from(draft.text, 'base64')
  if (bytes[0] !== version) return () => null
  if (bytes.length <= vectorAt + leastBytes) throw invalid('too short for a message of version 1')
  if (draft.type !== 'text' || draft.replyTo !== null || draft.mentions.length > 0)
    throw invalid('the type, the reply and the names of a message of version 1 are inside of it')
  const epoch = bytes.subarray(epochAt, vectorAt).toString('base64url')
  const { isKnown, sealedTo } = await node.log.ask(room, (view) => {
    const [current, known] = [currentEpochIn(view), epochIn(view, epoch)]
    return { isKnown: known !== null, sealedTo: current?.epoch_id === epoch ? current.device_ids : [] }
  })
  const there = await devicesNamed(sealedTo, peersOf(roomOfKey(room).id))
  if (isKnown) await reserveVector(room, epoch, bytes, layouts.epoch)
  return (view) => {
    const [current, known] = [currentEpochIn(view), epochIn(view, epoch)]
    if (!known) return invalid('this conversation has no such epoch')
    const isOver = current?.epoch_id !== epoch || current.is_over || there.length < sealedTo.length
    return isOver
      ? new AppError('CONFLICT', { message: epochOverText, details: { epoch_id: current?.epoch_id ?? null } })
      : null
  }
}

/** Only members use up a vector. The verdict on unsealed text is given in the log's turn. */
async function reserveSharedVector(node: Node, room: string, account: string, text: string): Promise<void> {
  const bytes = sharedKeyBytes(text)
  if (bytes === null) return
  const isReserved = (view: View) => sealingOf(view) === 'shared-key' && standingOf(view, account).isMember
  if (await node.log.ask(room, isReserved)) await reserveVector(room, '', bytes, layouts['shared-key'])
}

const epochOverText =
  'Messages are sent under another epoch, or a device has gone: begin one, and seal the message again'
const invalid = (why: string) => new AppError('VALIDATION_ERROR', { message: `text: ${why}` })
const hashOf = (...parts: readonly (string | Uint8Array)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest('base64url')

/** One key must not encrypt two texts with one vector. A repeated message has the same one. */
async function reserveVector(
  room: string,
  epoch: string,
  bytes: Buffer,
  { vectorAt, cipherAt }: (typeof layouts)[keyof typeof layouts],
): Promise<void> {
  const vector = bytes.subarray(vectorAt, cipherAt)
  const used = { _id: hashOf(epoch, vector, room), content: hashOf(bytes) }
  try {
    await DmVectors.create(used)
  } catch (error) {
    if (!isDuplicate(error)) throw error
    if (await DmVectors.exists(used)) return
    throw new AppError('CONFLICT', { message: 'This initialization vector was used before. Seal the message again.' })
  }
}
