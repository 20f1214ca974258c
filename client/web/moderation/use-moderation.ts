import { createContext, useContext, useEffect } from 'react'
import { table } from '#client/sdk/table'
import type { moderation } from '#shared/api/moderation/moderation'
import type { LogEntry, QueueItem } from '#shared/api/moderation/moderation-records'
import { AppError } from '#shared/errors'
import type { OutputOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { useClient } from '../connection/client.ts'
import { useBackOnline } from '../connection/use-back-online.ts'
import { type Listing, type Loaded, useLoaded } from '../kit/use-loaded.ts'
import { kindOf } from '../rooms/kind.ts'

const kept = 200

interface Moderation {
  queue: Listing<readonly QueueItem[]>
  /**
   * What waits in other places, in direct conversations among them: in the lobby, for who moderates everywhere; nothing for everybody else.
   */
  elsewhere: Listing<readonly QueueItem[]>
  log: Listing<readonly LogEntry[]>
  /** How much waits for a decision: `3`, or `50+` where there is more than was loaded; null where nothing does. */
  waiting: string | null
}

export const ModerationContext = createContext<Moderation | null>(null)

export function useModeration(): Moderation {
  const moderation = useContext(ModerationContext)
  if (!moderation) throw new Error('There is no room with moderators above this component.')
  return moderation
}

const nothing: Desk = { queue: [], next_cursor: null, logs: [], log_head: 0, moderators_online: [] }

/** The queue and the log of a room's moderation, kept up to date by events; for who does not moderate it, nothing is asked. */
export function useLoadedModeration(room: RoomRef, isModerator: boolean): Moderation {
  const client = useClient()
  const key = roomKey(room)
  const isLobby = kindOf(room).shownAs === 'lobby'
  const desk = useDesk(`${key} ${isModerator}`, isModerator ? { scope: 'room', room } : null)
  const all = useDesk(`elsewhere ${isModerator && isLobby}`, isModerator && isLobby ? { scope: 'global' } : null)
  const [changeDesk, changeAll] = [desk.change, all.change]

  useEffect(() => {
    if (!isModerator) return
    const stops = [
      client.on(table.events.logged, ({ room: about, entry }) => {
        if (!isOf(about, key)) return
        changeDesk((known) => ({
          ...known,
          logs: [entry, ...known.logs.filter(({ id }) => id !== entry.id)].slice(0, kept),
        }))
      }),
      client.on(table.events.queued, ({ item }) =>
        (isIn(item, key) ? changeDesk : changeAll)((known) => ({ ...known, queue: withItem(known.queue, item) })),
      ),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }, [client, changeDesk, changeAll, key, isModerator])

  const elsewhere = part(all, 'queue', (items) => items.filter((item) => !isIn(item, key)))
  const count = (desk.value?.queue.length ?? 0) + (elsewhere.value?.length ?? 0)
  const isMore = [desk, all].some(({ value }) => value !== null && value.next_cursor !== null)
  return {
    queue: part(desk, 'queue'),
    log: part(desk, 'logs'),
    elsewhere,
    waiting: count > 0 ? `${count}${isMore ? '+' : ''}` : null,
  }
}

type Asked = { scope: 'room'; room: RoomRef } | { scope: 'global' }

/** Asked for again with each connection, as one hears events only of what was asked for on it. */
function useDesk(key: string, asked: Asked | null): Loaded<Desk> {
  const client = useClient()
  const desk = useLoaded<Desk>(key, async () => {
    if (asked === null) return nothing
    return client.moderation.queue(asked).catch((error: unknown) => nothingIfForbidden(error, asked))
  })
  useBackOnline(desk.reload)
  return desk
}

/** Few of those who moderate the lobby moderate everything. */
function nothingIfForbidden(error: unknown, { scope }: Asked): Desk {
  if (scope === 'global' && error instanceof AppError && error.code === 'FORBIDDEN') return nothing
  throw error
}

/** Is it about this very room? */
export const isIn = ({ room }: QueueItem, key: string): boolean => room !== null && isOf(room, key)

/** The queue after an item of it came, was claimed, or was decided. */
export function withItem(queue: readonly QueueItem[], item: QueueItem): QueueItem[] {
  const others = queue.filter(({ id }) => id !== item.id)
  if (item.state !== 'pending') return others
  if (others.length === queue.length) return [item, ...others]
  return queue.map((row) => (row.id === item.id ? item : row))
}

type Desk = OutputOf<typeof moderation.queue>

const part = <Name extends 'queue' | 'logs'>(
  desk: Loaded<Desk>,
  name: Name,
  only = (items: Desk[Name]): Desk[Name] => items,
): Listing<Desk[Name]> => ({
  value: desk.value && only(desk.value[name]),
  error: desk.error,
  isLoading: desk.isLoading,
  reload: desk.reload,
})

/** An event without a room applies to all rooms. */
function isOf(room: unknown, key: string): boolean {
  if (typeof room !== 'object' || room === null || !('type' in room)) return true
  const id = 'id' in room && typeof room.id === 'string' ? room.id : null
  return (id === null ? String(room.type) : `${String(room.type)}:${id}`) === key
}
