import type { Node } from '#server/kernel/context'
import { entryOf } from './entries.ts'
import { roomArchived } from './events/rooms.ts'
import { roomIn } from './facts.ts'

/** Archives a room without a check of rights. */
export async function archiveRoom(node: Node, key: string, actor: { account: string; name: string }): Promise<void> {
  await node.log.act(key, {
    sender: actor.account,
    makes: roomArchived,
    judge: (view) => (roomIn(view)?.is_active ? { accept: entryOf(view, actor, roomArchived, {}) } : { already: null }),
  })
}
