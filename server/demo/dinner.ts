import { demoChannels } from '#server/domains/rooms/room-state/demo-rooms'
import { ensureOfficial } from '#server/domains/rooms/rooms/alpha'
import { uniqueFormOf } from '#server/domains/rooms/rooms/names'
import { newSharedKey, topicOf } from '#server/domains/rooms/rooms/shared-key'
import type { Node } from '#server/kernel/context'
import { roomKey } from '#shared/kit/primitives'

/** The event of the demo that no visitor was at. */
const dinner = { by: 'attendance', event_id: 103, name: 'Founders Dinner 2026', image_url: null } as const

/** A channel whose token visitors do not hold, so that they see what it is to be refused. */
export async function foundDinner(node: Node): Promise<void> {
  if (!node.services.attendance?.isScripted) return
  const id = demoChannels.at(-1) ?? ''
  const room = { type: 'channel', id } as const
  const name = `Attendance: ${dinner.name}`
  await ensureOfficial(node, roomKey(room), {
    ...room,
    name,
    description: 'Community channel for holders of this attendance token.',
    emoji: '🎟️',
    category: 'events',
    messaging_type: 'p2p',
    p2p_content_topic: topicOf(name, id),
    gate: dinner,
    ...{ unique_name: uniqueFormOf(name), p2p_key: newSharedKey(node, roomKey(room)) },
  })
}
