import { z } from 'zod'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { moderation } from '#shared/api/moderation/moderation'
import { LogEntry } from '#shared/api/moderation/moderation-records'
import { rooms } from '#shared/api/rooms/rooms'
import type { CallOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import type { Line } from './line.ts'
import { moderates, type Person } from './people.ts'

/** The optional fields of an act. */
export type More = Omit<CallOf<typeof moderation.act>, 'room' | 'action'>
export interface Grants {
  canPin?: boolean
  canDelete?: boolean
  canMute?: boolean
  canManageMods?: boolean
}
export const every: Grants = { canPin: true, canDelete: true, canMute: true, canManageMods: true }

/** Appoints a moderator of a room, or a global one. */
export const appoint = (by: Person, room: RoomRef | null, who: Person, patch: Grants = {}) =>
  moderates(by, { room, action: 'promote', target: who.account, patch })

const Logged = z.object({ logs: z.array(LogEntry) })
/** The acts in a room, or in all of them, newest first. */
export const logOf = async (
  who: Person,
  room: RoomRef | null,
  query: Partial<CallOf<typeof moderation.inspect>> = {},
) => Logged.parse(await who.does('rest', moderation.inspect, { action: 'mod-log', channelId: room?.id, ...query })).logs

let officials = 0

/** An official channel, which no operation creates, with these members. */
export async function officialChannel(...members: readonly Person[]): Promise<RoomRef & { id: string }> {
  const id = crypto.randomUUID()
  const now = new Date().toISOString()
  const name = `Official ${++officials}`
  const fields = { type: 'channel', id, name, emoji: '📣', category: 'general', is_official: true }
  await Rooms.create({ _id: `channel:${id}`, ...fields, created_at: now, updated_at: now })
  const room = { type: 'channel', id } as const
  for (const member of members) await member.does('rest', rooms.join, { room })
  return room
}

/** Subscribes to the events of moderators, on the caller's connection, which forgets earlier ones. */
export async function subscribe(who: Person, room: RoomRef | null): Promise<Line> {
  const line = await who.line('/moderation')
  line.forget()
  await who.does(line, moderation.queue, room ? { scope: 'room', room } : { scope: 'global' })
  return line
}
