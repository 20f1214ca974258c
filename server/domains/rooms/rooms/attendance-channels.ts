import { checkGate, namedGate } from '#server/domains/gates'
import { withCopiedPictures } from '#server/domains/media/files/copies'
import { refuseOthersFile } from '#server/domains/media/files/others'
import { folders } from '#server/domains/moderation/verdict/storage-folders'
import { gateToStore, roomFactOf } from '#server/domains/rooms/room-state/facts'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { type Context, signedIn } from '#server/kernel/context'
import type { RoomKey } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import type { AttendanceGate } from '#shared/api/gates'
import type { rooms as contract } from '#shared/api/rooms'
import { AppError } from '#shared/errors'
import type { InputOf } from '#shared/kit/contract'
import { roomKey } from '#shared/kit/primitives'
import { found } from './founding.ts'
import { refusalOf } from './gating.ts'
import { uniqueName } from './names.ts'
import { newSharedKey, topicOf } from './shared-key.ts'

type Input = InputOf<typeof contract.createChannel>

const longestName = 100
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u2800]+/gu

/** What a client calls an event, as part of the name of a channel. */
const sanitised = (name: string): string => name.replace(unseen, ' ').replace(/\s+/g, ' ').trim()

/** The gate of a channel that belongs to an event or to a collection; null for every other channel. */
export function attendanceGateOf(input: Input): AttendanceGate | null {
  const { attendanceEventId: event_id, attendanceCollectionId: collection_id } = input
  const named = input.attendanceEventName ?? input.attendanceCollectionName ?? input.name ?? ''
  const image_url = input.attendanceImageUrl ?? input.attendanceCollectionImageUrl ?? null
  const by = { by: 'attendance', image_url } as const
  if (event_id !== undefined) return { ...by, event_id, name: sanitised(named) || `Event #${event_id}` }
  if (collection_id !== undefined)
    return { ...by, collection_id, name: sanitised(named) || `Collection #${collection_id}` }
  return null
}

/** Creates the one channel of an event or of a collection, for somebody who holds its token. Its name is the founder's; the gate says what the provider calls the token. */
export async function foundAttendanceChannel(
  context: Context,
  said: AttendanceGate,
  { description, emoji, category }: Input,
): Promise<RoomKey> {
  const { node, creationId: id } = context
  const { account } = signedIn(context)
  const own = roomKey({ type: 'channel', id })
  await refuseExisting(said, own)
  const answer = await checkGate({ node, account, gate: said, fresh: false })
  if (!answer.passed) throw refusalOf(answer)
  const named = await namedGate({ node, account, gate: said, fresh: false })
  const gate = { ...named, image_url: named.image_url ?? (await givenImage(context, said.image_url)) }
  const fields = {
    description: description ?? 'Community channel for holders of this attendance token.',
    emoji: emoji ?? '🎟️',
    category: category ?? 'events',
    icon_url: gate.image_url,
    messaging_type: 'p2p',
    p2p_key: newSharedKey(node, own),
    gate,
  } as const
  const create = (ending: string) => {
    const name = nameOf(said.name, ending)
    return found(context, 'channel', { ...fields, ...withUniqueName(name), p2p_content_topic: topicOf(name, id) }, [])
  }
  // Events may share a name, and archived channels keep theirs, but channels may not: then the id tells them apart.
  const subject = gate.event_id ?? gate.collection_id
  let taken: unknown
  for (const ending of ['', ` (#${subject})`, ` (#${subject}, ${id.slice(-8)})`]) {
    const made = await create(ending).catch(async (error: unknown) => {
      await refuseTaken(error, gate, own)
      taken = error
    })
    if (made) return made
  }
  throw taken
}

/** The image that its founder gave, here; null of what is none, or a file of somebody else. */
async function givenImage(context: Context, url: string | null): Promise<string | null> {
  const name = 'attendanceImageUrl'
  try {
    await refuseOthersFile(context.node, signedIn(context).account, url, name)
    return (await withCopiedPictures(context, folders.icon, { [name]: url }, [name]))[name]
  } catch (error) {
    if (error instanceof AppError && ['VALIDATION_ERROR', 'INVALID_PARAMETER'].includes(error.code)) return null
    throw error
  }
}

const withUniqueName = (name: string) => ({ name, unique_name: uniqueName(name) })

const nameOf = (name: string, ending: string): string => {
  const signs = [...`Attendance: ${name}`]
  while (signs.join('').length + ending.length > longestName) signs.pop()
  return `${signs.join('').trim()}${ending}`
}

/** Goes on only where nothing but the name was taken. */
async function refuseTaken(error: unknown, gate: AttendanceGate, own: RoomKey): Promise<void> {
  if (!(error instanceof AppError) || !isDuplicate(error.cause)) throw error
  await refuseExisting(gate, own)
}

/** One that is archived holds no place; those that an older version has archived are made to give theirs up. */
async function refuseExisting({ event_id, collection_id }: AttendanceGate, own: RoomKey): Promise<void> {
  const which = event_id === undefined ? { 'gate.collection_id': collection_id } : { 'gate.event_id': event_id }
  const existing = await Rooms.findOne(which).lean()
  if (!existing || existing._id === own) return
  if (!existing.is_active) {
    const gate = gateToStore(roomFactOf(existing))
    await Rooms.updateOne({ _id: existing._id, is_active: false }, { $set: { gate } })
    return
  }
  throw new AppError('VALIDATION_ERROR', {
    message: 'A channel for this attendance token already exists',
    details: { existingChannelId: existing.id },
  })
}
