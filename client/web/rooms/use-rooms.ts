import { createContext, useCallback, useContext, useEffect, useRef, useSyncExternalStore } from 'react'
import { table } from '#client/sdk/table'
import type { Client, LiveRoom, RoomState } from '#client/sdk/types'
import type { RoomSummary } from '#shared/api/rooms/room'
import { isSameAccount } from '#shared/kit/accounts'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey, roomRef } from '#shared/kit/room-key'
import { useClient, useConnectionState } from '../connection/client.ts'
import { type Loaded, useLoaded } from '../kit/use-loaded.ts'

/** The key of a room in a list; `alpha` has no id there. */
export const refOf = ({ type, id }: { type: RoomSummary['type']; id: string }): RoomRef => roomRef(type, id)
export const keyOf = (room: { type: RoomSummary['type']; id: string }): string => roomKey(refOf(room))

export interface Rooms extends Loaded<readonly RoomSummary[]> {
  /** Those that can be read, but not written in, any more. */
  archived: readonly RoomSummary[]
  /** The person has seen all of a room up to this seq: nothing of it is in its badge, though the server may not know yet. */
  see: (room: RoomRef, seq: number) => void
}
export const RoomsContext = createContext<Rooms | null>(null)

export function useRoomList(): Rooms {
  const rooms = useContext(RoomsContext)
  if (!rooms) throw new Error('There is no list of rooms above this component.')
  return rooms
}

const unlessSeen = (row: RoomSummary, seen: ReadonlyMap<string, number>): RoomSummary =>
  (seen.get(keyOf(row)) ?? 0) >= row.head_seq && row.head_seq > 0 ? { ...row, unread: 0, mentions: 0 } : row

/** Events during the load are newer than the loaded list. */
function withNews(row: RoomSummary, known: readonly RoomSummary[] | null): RoomSummary {
  const told = known?.find((one) => keyOf(one) === keyOf(row))
  if (!told || told.head_seq <= row.head_seq) return row
  const { unread, mentions, head_seq, read_seq, last_message } = told
  return { ...row, unread, mentions, head_seq, read_seq, last_message }
}

const none: readonly RoomSummary[] = []

/** The rooms of the account with their unread counts and newest messages, kept up to date. */
export function useRooms(): Rooms {
  const client = useClient()
  const isOnline = useConnectionState() === 'online'
  const known = useRef<readonly RoomSummary[] | null>(null)
  const seen = useRef(new Map<string, number>())
  const rooms = useLoaded<readonly RoomSummary[]>('rooms', async () => {
    const { rooms: listed } = await client.inbox.list()
    return listed.map((row) => unlessSeen(withNews(row, known.current), seen.current))
  })
  const { change, reload } = rooms
  known.current = rooms.value
  const archived = useLoaded<readonly RoomSummary[]>('archived', async () =>
    known.current === null ? none : (await client.inbox.list({ archived: true })).rooms,
  )
  const { reload: reloadArchived } = archived
  const open = rooms.value?.map(keyOf).toSorted().join(' ')
  const before = useRef<readonly string[] | null>(null)
  useEffect(() => {
    if (open === undefined) return
    const keys = open.split(' ')
    // A room that is archived leaves the list of the others.
    if (before.current === null || before.current.some((key) => !keys.includes(key))) reloadArchived()
    before.current = keys
  }, [open, reloadArchived])

  useEffect(
    () =>
      client.on(table.events.unreadChanged, ({ room, unread, mentions, head_seq, read_seq, last_message }) => {
        const key = roomKey(room)
        if (!known.current?.some((one) => keyOf(one) === key)) return reload()
        const news = { unread, mentions, head_seq, read_seq, last_message }
        change((rows) => rows.map((one) => (keyOf(one) === key ? unlessSeen({ ...one, ...news }, seen.current) : one)))
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
  useEffect(
    () =>
      client.on(table.events.capabilitiesChanged, ({ capabilities }) => {
        // The other person of a conversation was deleted, and has no name any more.
        if (capabilities.text?.code === 'USER_NOT_FOUND') reload()
      }),
    [client, reload],
  )
  useEffect(() => {
    const reloadIfSeen = () => {
      if (isOnline && !document.hidden) reload()
    }
    reloadIfSeen()
    document.addEventListener('visibilitychange', reloadIfSeen)
    return () => document.removeEventListener('visibilitychange', reloadIfSeen)
  }, [isOnline, reload])

  const see = useCallback(
    (room: RoomRef, seq: number) => {
      const key = roomKey(room)
      seen.current.set(key, Math.max(seq, seen.current.get(key) ?? 0))
      const row = known.current?.find((one) => keyOf(one) === key)
      if (row && row.unread > 0 && unlessSeen(row, seen.current) !== row)
        change((rows) => rows.map((one) => (keyOf(one) === key ? unlessSeen(one, seen.current) : one)))
    },
    [change],
  )
  return { ...rooms, archived: archived.value ?? none, see }
}

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

export function useRoom(room: LiveRoom): RoomState {
  return useSyncExternalStore(
    (listener) => room.subscribe(listener),
    () => room.state,
  )
}
