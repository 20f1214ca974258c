import { messagesOf } from '#server/domains/rooms/messages/pages'
import { readRoom } from '#server/domains/rooms/room-state/access'
import { messageIn } from '#server/domains/rooms/room-state/facts'
import { audiences, type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { fewAtOnce } from '#server/kernel/few-at-once'
import { newId } from '#server/kernel/ids'
import { isDuplicate } from '#server/ports/database/port'
import type { Message } from '#shared/api/rooms/message'
import { stars as contract, type Starred, starChanged, starsAtMost } from '#shared/api/rooms/stars'
import { AppError } from '#shared/errors'
import { dmOf, done, type RoomRef, type RoomType, roomKey, roomOfKey } from '#shared/kit/primitives'
import { idIn, peerIn } from '#shared/kit/room-key'
import { isBetweenTwo, isSingle } from '#shared/kit/room-kinds'
import { type Star, Stars } from './model.ts'

const roomsAtOnce = 4

/** The id of a star begins with the caller's account, so only its owner can load it. */
const idOf = (account: string, message: string) => `${account} ${message}`

export const stars = defineDomain(contract, {
  async list({ type, limit, before }, context) {
    const { account } = signedIn(context)
    const ofType = type === undefined ? {} : { room_type: type }
    const from = before === undefined ? {} : { star_id: { $lt: before } }
    const found = await Stars.find({ user_address: account, ...ofType, ...from })
      .sort({ star_id: -1 })
      .limit(limit + 1)
      .lean<Star[]>()
    const page = found.slice(0, limit)
    await context.charge(roomsOf(page).length)
    const readable = await readableAmong(context, page)
    const messages = page.flatMap((star) => {
      const message = readable.get(star.message_id)
      return message ? [starOutput(star, message)] : []
    })
    return { messages, next: found.length > limit ? (page.at(-1)?.star_id ?? null) : null }
  },

  async add(input, context) {
    const { account } = signedIn(context)
    const { messageId: message_id, notes } = input
    const room = roomKey(roomOf(account, input))
    const message = (await readNow(context, room, [message_id])).get(message_id)
    if (!message) throw new AppError('MESSAGE_NOT_FOUND')
    const _id = idOf(account, message_id)
    const isThere = await Stars.exists({ _id })
    if (!isThere) await freeStars(context, account)
    const now = new Date(context.node.now()).toISOString()
    const made = { star_id: newId(), user_address: account, message_id, created_at: now }
    const roomFields = { room: roomKey(message.room), room_type: message.room.type }
    const write = () =>
      Stars.findOneAndUpdate(
        { _id },
        {
          ...(notes !== undefined && { $set: { notes } }),
          $setOnInsert: { ...made, ...roomFields, ...(notes === undefined && { notes: null }) },
        },
        { upsert: true, returnDocument: 'after' },
      ).lean<Star>()
    const star = await write().catch((error: unknown) => {
      if (!isDuplicate(error)) throw error
      return write()
    })
    if (!star) throw new Error('The star is gone')
    context.emit(starChanged, audiences.account(account), { message_id, is_starred: true })
    return { ...done, starred: starOutput(star, message) }
  },

  async remove({ messageId: message_id }, context) {
    const { account } = signedIn(context)
    await Stars.deleteOne({ _id: idOf(account, message_id) })
    context.emit(starChanged, audiences.account(account), { message_id, is_starred: false })
    return done
  },
})

interface StarInput {
  messageType: RoomType
  channelId?: string | undefined
  groupId?: string | undefined
  peerAddress?: string | undefined
}

function roomOf(account: string, { messageType: type, channelId, groupId, peerAddress }: StarInput): RoomRef {
  if (isSingle(type)) return { type, id: null }
  const id = isBetweenTwo(type) ? peerAddress && dmOf(account, peerAddress).id : (channelId ?? groupId)
  if (id !== undefined) return { type, id }
  throw new AppError('VALIDATION_ERROR', {
    message: 'Name the room of the message, by channelId, groupId or peerAddress',
  })
}

/** Refuses a star above the limit; stars of unreadable messages are removed first. */
async function freeStars(context: Context, account: string): Promise<void> {
  if ((await Stars.countDocuments({ user_address: account })) < starsAtMost) return
  const all = await Stars.find({ user_address: account }).limit(starsAtMost).lean<Star[]>()
  await context.charge(roomsOf(all).length)
  const readable = await readableAmong(context, all)
  const gone = all.flatMap(({ _id, message_id }) => (readable.has(message_id) ? [] : [_id]))
  if (gone.length === 0)
    throw new AppError('CONFLICT', { message: `You have ${starsAtMost} stars. Take one away first.` })
  await Stars.deleteMany({ _id: { $in: gone } })
}

const roomsOf = (found: readonly Star[]): string[] => [...new Set(found.map(({ room }) => room))]

type Readable = ReadonlyMap<string, Message>

/** The readable messages among these, by id. */
async function readableAmong(context: Context, found: readonly Star[]): Promise<Readable> {
  const inTurn = fewAtOnce(roomsAtOnce)
  const idsIn = (room: string) => found.flatMap((star) => (star.room === room ? [star.message_id] : []))
  const pages = await Promise.all(
    roomsOf(found).map((room) => inTurn(() => readNow(context, room, idsIn(room)).catch(noMessages))),
  )
  return new Map(pages.flatMap((page) => [...page]))
}

/** An unreadable room shows no messages. */
function noMessages(error: unknown): Readable {
  if (error instanceof AppError && error.status < 500) return new Map()
  throw error
}

/** The present messages of a readable room, without deleted ones. */
async function readNow({ node, caller }: Context, room: string, ids: readonly string[]): Promise<Readable> {
  const { key, standing, also } = await readRoom(node, caller, roomOfKey(room), (view) =>
    ids.map((id) => messageIn(view, id)),
  )
  const facts = also.filter((fact) => fact !== null).filter(({ body }) => !body.deleted)
  const isInsider = standing?.isMember === true || standing?.isModerator === true
  return new Map((await messagesOf(key, facts, isInsider)).map((message) => [message.id, message]))
}

const starOutput = (star: Star, { room, sender, sender_address, content, created_at }: Message): Starred => ({
  id: star.star_id,
  user_address: star.user_address,
  message_id: star.message_id,
  message_type: room.type,
  room,
  channel_id: idIn('channel_id', room),
  group_id: idIn('group_id', room),
  peer_address: peerIn(room, star.user_address),
  sender_address,
  sender_name: sender.name,
  content,
  original_created_at: created_at,
  notes: star.notes ?? null,
  created_at: star.created_at,
})
