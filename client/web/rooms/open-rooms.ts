import type { Client, LiveRoom } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'

const keptOpen = 6

interface Opened {
  account: string | null
  rooms: Map<string, LiveRoom>
}
const openedBy = new WeakMap<Client, Opened>()

/** The live view of a room; the last few stay open, so that going back to one is immediate. */
export function openRoom(client: Client, ref: RoomRef): LiveRoom {
  const { rooms } = openedOf(client)
  const key = roomKey(ref)
  const live = rooms.get(key) ?? client.room(ref)
  rooms.delete(key)
  rooms.set(key, live)
  for (const [oldest, room] of rooms) {
    if (rooms.size <= keptOpen) break
    rooms.delete(oldest)
    room.close()
  }
  return live
}

/** Opens a room afresh: after joining it, or when it could not be opened. */
export function reopenRoom(client: Client, ref: RoomRef): LiveRoom {
  closeRoom(client, ref)
  return openRoom(client, ref)
}

/** The rooms that were opened last, the newest first. */
export const lastOpened = (client: Client): readonly string[] => [...openedOf(client).rooms.keys()].reverse()

export function closeRoom(client: Client, ref: RoomRef): void {
  const { rooms } = openedOf(client)
  rooms.get(roomKey(ref))?.close()
  rooms.delete(roomKey(ref))
}

function openedOf(client: Client): Opened {
  const opened = openedBy.get(client)
  if (opened && isSameAccount(opened.account, client.account)) return opened
  for (const room of opened?.rooms.values() ?? []) room.close()
  const fresh = { account: client.account, rooms: new Map<string, LiveRoom>() }
  openedBy.set(client, fresh)
  return fresh
}
