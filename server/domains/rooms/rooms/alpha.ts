import { memberJoined } from '#server/domains/rooms/room-state/events/people'
import type { RoomFact } from '#server/domains/rooms/room-state/facts'
import { kinds } from '#server/domains/rooms/room-state/kinds'
import { becomeMember } from '#server/domains/rooms/room-state/membership'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { actorOf } from '#server/domains/rooms/room-state/standing'
import type { Node } from '#server/kernel/context'
import { isDuplicate } from '#server/ports/database/port'
import type { RoomRef } from '#shared/kit/primitives'
import { alpha, roomKey } from '#shared/kit/room-key'

export const ALPHA = roomKey(alpha)

/** Everybody joins this room at the first sign-in; one who left stays out until the next one. */
export async function joinAlpha(node: Node, account: string): Promise<void> {
  const actor = await actorOf(node, account)
  await node.log.act(ALPHA, {
    sender: account,
    makes: memberJoined,
    judge: (view, now) => {
      const judged = becomeMember(view, now, actor, { invited: true })
      return 'refuse' in judged ? { already: null } : judged
    },
  })
}

/** Creates the room that exists from the first start. */
export const ensureAlpha = (node: Node): Promise<void> =>
  ensureOfficial(node, ALPHA, {
    ...alpha,
    ...kinds.alpha.founded.fields,
  })

type OfficialRoom = RoomRef & Partial<RoomFact> & { unique_name?: string }

/** Creates an official room, without creator and owner; an existing one stays unchanged. */
export async function ensureOfficial(node: Node, key: string, about: OfficialRoom): Promise<void> {
  const now = new Date(node.now()).toISOString()
  const fields = { ...about, is_official: true, created_at: now, updated_at: now }
  await Rooms.updateOne({ _id: key }, { $setOnInsert: fields }, { upsert: true }).catch((error: unknown) => {
    if (!isDuplicate(error)) throw error
  })
}
