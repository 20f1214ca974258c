import type { Node } from '#server/kernel/context'
import { isDuplicate } from '#server/ports/database/port'
import { roomOfKey } from '#shared/kit/primitives'
import { peersOf } from '#shared/kit/room-key'
import { kinds } from './kinds.ts'
import { Members, Rooms } from './model.ts'

/** Adds a direct room to the lists of both people. */
export async function ensureDm(key: string, at: number): Promise<void> {
  const { type, id } = roomOfKey(key)
  const peers = peersOf(id)
  if (await Rooms.findOne({ _id: key }, { _id: 1 }).lean()) return
  const now = new Date(at).toISOString()
  const fields = {
    type,
    id,
    ...kinds[type].founded.fields,
    peers,
    member_count: peers.length,
    created_at: now,
    updated_at: now,
  }
  const rows = peers.map((user_address) => ({
    updateOne: {
      filter: { _id: `${key}|member:${user_address}` },
      update: {
        $setOnInsert: { room: key, user_address, role: 'member', joined_at: now, is_active: true, applied_seq: 0 },
      },
      upsert: true,
    },
  }))
  // The room is written last: if it exists, its members do too.
  await Members.bulkWrite(rows, { ordered: false }).catch(ignoreDuplicate)
  await Rooms.updateOne({ _id: key }, { $setOnInsert: fields }, { upsert: true }).catch(ignoreDuplicate)
}

/** Has somebody ever written in this room? */
export const hasMessages = (node: Node, key: string): Promise<boolean> => node.log.ask(key, ({ total }) => total > 0)

export function ignoreDuplicate(error: unknown): void {
  if (!isDuplicate(error)) throw error
}
