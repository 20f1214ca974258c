import { useEffect } from 'react'
import { events } from '#client/sdk/index'
import type { moderation } from '#shared/api/moderation'
import type { LogEntry, QueueItem } from '#shared/api/moderation-records'
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
      client.on(events.logged, ({ room, entry }) => {
        if (!isOf(room, key)) return
        change((known) => ({
          ...known,
          logs: [entry, ...known.logs.filter(({ id }) => id !== entry.id)].slice(0, kept),
        }))
      }),
      client.on(events.queued, ({ item }) =>
        change((known) => {
          const others = known.queue.filter(({ id }) => id !== item.id)
          const isNew = others.length === known.queue.length
          if (item.state !== 'pending') return { ...known, queue: others }
          if (isNew) return { ...known, queue: [item, ...others] }
          return { ...known, queue: known.queue.map((row) => (row.id === item.id ? item : row)) }
        }),
      ),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }, [client, change, key])

  return { queue: part(desk, 'queue'), log: part(desk, 'logs') }
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
