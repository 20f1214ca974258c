import { randomBytes } from 'node:crypto'
import { readRoom } from '#server/domains/rooms/room-state/access'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { type Action, type Context, type Node, signedIn } from '#server/kernel/context'
import { seal, tryUnseal } from '#server/kernel/seal'
import type { RoomKey } from '#server/log/types'
import type { rooms as contract } from '#shared/api/rooms/rooms'
import { AppError } from '#shared/errors'

const keyBytes = 32
const sealBinding = (key: RoomKey) => `p2p ${key}`

/** A new shared key of a p2p room, sealed with this server's keys. */
export const newSharedKey = ({ settings }: Node, key: RoomKey): string =>
  seal(settings.sessionKeys, randomBytes(keyBytes).toString('base64'), sealBinding(key))

/** The shared key of a p2p room; null for others, or if its sealing key was removed. Receivers must be members. */
async function sharedKeyOf({ settings }: Node, key: RoomKey): Promise<string | null> {
  const room = await Rooms.findOne({ _id: key }, { p2p_key: 1 }).lean()
  return room?.p2p_key ? tryUnseal(settings.sessionKeys, room.p2p_key, sealBinding(key)) : null
}

/** The shared key in the answer to a new member. */
export async function withSharedKey(node: Node, key: RoomKey): Promise<{ p2p_symmetric_key?: string }> {
  const shared = await sharedKeyOf(node, key)
  return shared === null ? {} : { p2p_symmetric_key: shared }
}

export const sharedKey: Action<typeof contract.sharedKey> = async ({ room }, context: Context) => {
  signedIn(context)
  const { key, standing } = await readRoom(context.node, context.caller, room, () => null)
  if (!standing?.isMember) throw new AppError('NOT_A_MEMBER')
  const shared = await sharedKeyOf(context.node, key)
  if (shared === null) throw new AppError('NOT_FOUND', { message: 'This room has no shared key' })
  return { p2p_symmetric_key: shared }
}

/** The topic of a p2p channel's messages. */
export function topicOf(name: string, id: string): string {
  const safe = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 20)
    .replace(/^-|-$/g, '')
  return `/plaza/1/channel-${safe}-${id.slice(0, 8)}/proto`
}
