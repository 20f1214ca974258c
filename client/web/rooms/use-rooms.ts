import { createContext, useContext, useEffect, useRef } from 'react'
import { table } from '#client/sdk/table'
import type { RoomSummary } from '#shared/api/room'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey, roomRef } from '#shared/kit/room-key'
import { useClient, useConnectionState } from '../connection/client.ts'
import { type Loaded, useLoaded } from '../kit/use-loaded.ts'

/** The key of a room in a list; `alpha` has no id there. */
export const refOf = ({ type, id }: { type: RoomSummary['type']; id: string }): RoomRef => roomRef(type, id)
export const keyOf = (room: { type: RoomSummary['type']; id: string }): string => roomKey(refOf(room))

/** The previews in the list may be this old; the counts are never delayed. */
const previewMilliseconds = 5_000

type Rooms = Loaded<readonly RoomSummary[]>
export const RoomsContext = createContext<Rooms | null>(null)

export function useRoomList(): Rooms {
  const rooms = useContext(RoomsContext)
  if (!rooms) throw new Error('There is no list of rooms above this component.')
  return rooms
}

/** The rooms of the account with their unread counts, kept up to date. */
export function useRooms(): Rooms {
  const client = useClient()
  const isOnline = useConnectionState() === 'online'
  const rooms = useLoaded<readonly RoomSummary[]>('rooms', async () => (await client.inbox.list()).rooms)
  const { change, reload } = rooms
  const known = useRef(rooms.value)
  known.current = rooms.value

  const due = useRef<ReturnType<typeof setTimeout> | null>(null)

  useEffect(
    () =>
      client.on(table.events.unreadChanged, ({ room, unread, mentions, head_seq, read_seq }) => {
        const key = roomKey(room)
        const row = known.current?.find((one) => keyOf(one) === key)
        if (!row) return reload()
        change((rows) => rows.map((one) => (one === row ? { ...one, unread, mentions, head_seq, read_seq } : one)))
        if (head_seq === row.head_seq) return
        if (!row.last_message) return reload()
        due.current ??= setTimeout(() => {
          due.current = null
          reload()
        }, previewMilliseconds)
      }),
    [client, change, reload],
  )
  useEffect(
    () =>
      client.on(table.events.unreadSnapshot, (told) => {
        const keys = new Set(told.rooms.map(({ room }) => roomKey(room)))
        const rows = known.current
        if (!rows) return
        // What is asked for now may still have a room that was just left.
        const left = rows.filter((one) => keys.has(keyOf(one)))
        if (left.length < rows.length) change(() => left)
        if (left.length < keys.size) reload()
      }),
    [client, change, reload],
  )
  useEffect(() => () => clearTimeout(due.current ?? undefined), [])
  useEffect(() => {
    const reloadIfSeen = () => {
      if (isOnline && !document.hidden) reload()
    }
    reloadIfSeen()
    document.addEventListener('visibilitychange', reloadIfSeen)
    return () => document.removeEventListener('visibilitychange', reloadIfSeen)
  }, [isOnline, reload])

  return rooms
}
