import type { Node } from '#server/kernel/context'
import { AppError } from '#shared/errors'
import type { StoredMeeting } from './model.ts'
import { isHostIn } from './seats.ts'

const againSeconds = 5

/** A permanent room is opened by its host: everybody else waits until they are there. */
export async function waitForHost(node: Node, { room_id, permanent_of }: StoredMeeting): Promise<void> {
  if (permanent_of === undefined || (await isOpen(node, room_id))) return
  throw new AppError('HOST_ABSENT', { retryAfter: againSeconds })
}

async function isOpen(node: Node, room: string): Promise<boolean> {
  // A provider only counts people, of whom the first was its host.
  const counts = await node.services.meetings.present([room])
  return counts === null ? isHostIn(node, room) : (counts.get(room) ?? 0) > 0
}
