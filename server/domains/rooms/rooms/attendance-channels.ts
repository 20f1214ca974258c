import { checkGate, namedGate } from '#server/domains/gates'
import { refuseOthersFile, withCopiedPictures } from '#server/domains/media/files/copies'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { gateToStore, roomFactOf } from '#server/domains/rooms/room-state/facts'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { type Context, signedIn } from '#server/kernel/context'
import type { RoomKey } from '#server/log/types'
import { isDuplicate } from '#server/ports/database/port'
import type { AttendanceGate } from '#shared/api/rooms/gates'
import type { rooms as contract } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'
import type { InputOf } from '#shared/kit/contract'
import { roomKey } from '#shared/kit/primitives'
import { foundRoom } from './founding.ts'
import { gateRefusalOf } from './members.ts'
import { uniqueFormOf } from './names.ts'
import { newSharedKey, topicOf } from './shared-key.ts'

type Input = InputOf<typeof contract.createChannel>

const longestName = 100
const invisibleCharacters = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u2800]+/gu

/** A client's name of an event, as part of a channel's name. */
const sanitised = (name: string): string => name.replace(invisibleCharacters, ' ').replace(/\s+/g, ' ').trim()

/** The gate of a channel for an event or collection; null for others. */
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

/**
 * Creates the only channel of an event or collection, for a holder of its token. The founder names the channel, the
 * provider the token.
 */
export async function foundAttendanceChannel(
  context: Context,
  claimed: AttendanceGate,
  { description, emoji, category }: Input,
): Promise<RoomKey> {
  const { node, creationId: id } = context
  const { account } = signedIn(context)
  const own = roomKey({ type: 'channel', id })
  await refuseExisting(claimed, own)
  const answer = await checkGate({ node, account, gate: claimed, fresh: false })
  if (!answer.passed) throw gateRefusalOf(answer)
  const named = await namedGate({ node, account, gate: claimed, fresh: false })
  const gate = { ...named, image_url: named.image_url ?? (await givenImage(context, claimed.image_url)) }
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
    const name = nameOf(claimed.name, ending)
    return foundRoom(
      context,
      'channel',
      { ...fields, ...withUniqueName(name), p2p_content_topic: topicOf(name, id) },
      [],
    )
  }
  // Events may share a name and archived channels keep theirs, but channels must differ: the id makes them unique.
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

/** The founder's image, copied here; null if it is invalid or another account's file. */
async function givenImage(context: Context, url: string | null): Promise<string | null> {
  const name = 'attendanceImageUrl'
  try {
    await refuseOthersFile(context.node, signedIn(context).account, url, name)
    return (await withCopiedPictures(context, storageFolders.icon, { [name]: url }, [name]))[name]
  } catch (error) {
    if (error instanceof AppError && ['VALIDATION_ERROR', 'INVALID_PARAMETER'].includes(error.code)) return null
    throw error
  }
}

const withUniqueName = (name: string) => ({ name, unique_name: uniqueFormOf(name) })

const nameOf = (name: string, ending: string): string => {
  const signs = [...`Attendance: ${name}`]
  while (signs.join('').length + ending.length > longestName) signs.pop()
  return `${signs.join('').trim()}${ending}`
}

/** Continues only if nothing but the name was taken. */
async function refuseTaken(error: unknown, gate: AttendanceGate, own: RoomKey): Promise<void> {
  if (!(error instanceof AppError) || !isDuplicate(error.cause)) throw error
  await refuseExisting(gate, own)
}

/** An archived channel frees its event; one of older versions does so now. */
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
