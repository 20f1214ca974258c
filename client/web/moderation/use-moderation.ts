import { useEffect } from 'react'
import { table } from '#client/sdk/table'
import type { moderation } from '#shared/api/moderation'
import type { LogEntry, QueueItem } from '#shared/api/moderation-records'
import { AppError } from '#shared/errors'
import type { OutputOf } from '#shared/kit/contract'
import { roomKey } from '#shared/kit/room-key'
import { useClient } from '../connection/client.ts'
import { type Listing, type Loaded, useLoaded } from '../kit/use-loaded.ts'
import { useOpenRoom } from '../rooms/room-context.ts'

const kept = 200

export interface Moderation {
  queue: Listing<readonly QueueItem[]>
  log: Listing<readonly LogEntry[]>
}

/** The queue and the log of moderation, kept up to date by events. */
export function useModeration(): Moderation {
  const client = useClient()
  const { live } = useOpenRoom()
  const key = roomKey(live.ref)
  const desk = useLoaded(key, () => client.moderation.queue({ scope: 'room', room: live.ref }))
  const { change } = desk

  useEffect(() => {
    const stops = [
      client.on(table.events.logged, ({ room, entry }) => {
        if (!isOf(room, key)) return
        change((known) => ({
          ...known,
          logs: [entry, ...known.logs.filter(({ id }) => id !== entry.id)].slice(0, kept),
        }))
      }),
      client.on(table.events.queued, ({ item }) =>
        change((known) => (isIn(item, key) ? { ...known, queue: withItem(known.queue, item) } : known)),
      ),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }, [client, change, key])

  return { queue: part(desk, 'queue'), log: part(desk, 'logs') }
}

/**
 * What waits in other places, in direct conversations among them, for who moderates everywhere; nothing for everybody else, and where it is
 * not wanted.
 */
export function useElsewhere(isWanted: boolean): Listing<readonly QueueItem[]> {
  const client = useClient()
  const key = roomKey(useOpenRoom().live.ref)
  const all = useLoaded<QueueItem[]>(`elsewhere ${isWanted}`, async () => {
    if (!isWanted) return []
    return client.moderation.queue({ scope: 'global' }).then(({ queue }) => queue, nothingIfForbidden)
  })
  const { change } = all
  useEffect(() => {
    if (isWanted) return client.on(table.events.queued, ({ item }) => change((known) => withItem(known, item)))
  }, [client, change, isWanted])
  return { ...all, value: all.value?.filter((item) => !isIn(item, key)) ?? null }
}

function nothingIfForbidden(error: unknown): QueueItem[] {
  if (error instanceof AppError && error.code === 'FORBIDDEN') return []
  throw error
}

/** Is it about this very room? */
export const isIn = ({ room }: QueueItem, key: string): boolean => room !== null && isOf(room, key)

function withItem(queue: QueueItem[], item: QueueItem): QueueItem[] {
  const others = queue.filter(({ id }) => id !== item.id)
  if (item.state !== 'pending') return others
  if (others.length === queue.length) return [item, ...others]
  return queue.map((row) => (row.id === item.id ? item : row))
}

type Desk = OutputOf<typeof moderation.queue>

const part = <Name extends 'queue' | 'logs'>(desk: Loaded<Desk>, name: Name): Listing<Desk[Name]> => ({
  value: desk.value?.[name] ?? null,
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
