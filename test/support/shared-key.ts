import { createCipheriv, randomBytes } from 'node:crypto'
import { scriptedAttendance } from '#server/ports/attendance/scripted'
import { rooms } from '#shared/api/rooms/rooms'
import { type Booted, boot } from './boot.ts'
import { folderStorage } from './folder-storage.ts'
import type { Person } from './people.ts'

export const script = scriptedAttendance({
  events: Array.from({ length: 60 }, (_, at) => ({ id: at + 1, name: `Meeting ${at + 1}`, imageUrl: '' })),
  collections: [],
})
export const bootShared = async (more: Parameters<typeof boot>[0] = {}): Promise<Booted> =>
  boot({ ...more, services: { attendance: script, storage: await folderStorage() } })

let events = 0
/** A new channel of an event, whose members share a key; these are its members, the first its founder. */
export async function sharedRoom(founder: Person, ...others: readonly Person[]) {
  const attendanceEventId = ++events
  for (const { account } of [founder, ...others]) script.mint(account, attendanceEventId)
  const { channel } = await founder.does('rest', rooms.createChannel, { attendanceEventId })
  const room = { type: 'channel', id: channel.id } as const
  for (const other of others) await other.does('rest', rooms.join, { room })
  return { room, key: Buffer.from(channel.p2p_symmetric_key ?? '', 'base64') }
}

/** A message of version 2, as a client without the SDK makes it of what docs/protocol.md says. */
export function sealedUnder(
  key: Buffer,
  { room, sender, client_msg_id }: { room: { id: string }; sender: string; client_msg_id: string },
  inner: object,
  iv = randomBytes(12),
): string {
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(Buffer.from([room.id, sender, client_msg_id].join('\n')))
  const json = JSON.stringify({ type: 'text', client_msg_id, ...inner })
  const sealed = Buffer.concat([cipher.update(json, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return Buffer.concat([Buffer.of(2), iv, sealed]).toString('base64')
}
