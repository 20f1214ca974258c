import { deepStrictEqual } from 'node:assert/strict'
import type { Socket } from 'socket.io-client'
import type { z } from 'zod'
import { type RoomEvent, roomEvent, roomEventBatch } from '#shared/api/rooms/room-events'
import type { Event } from '#shared/kit/contract'
import { type RoomRef, roomKey } from '#shared/kit/primitives'

interface Frame {
  event: string
  payload: unknown
}

/** A connection that stores all received events, so that no test listens too late. */
export interface Line {
  socket: Socket
  frames: readonly Frame[]
  /** Payloads of an event so far. */
  all<P extends z.ZodType>(event: Event<P>): z.output<P>[]
  /** The first payload that matches, of those received already and later ones. */
  hears<P extends z.ZodType>(event: Event<P>, fits?: (payload: z.output<P>) => boolean): Promise<z.output<P>>
  hears(event: string): Promise<unknown>
  /** The received events of a room's log, in the order of arrival, with frames split. */
  log(room: RoomRef): RoomEvent[]
  /** The first event of a room's log that matches. */
  follows(room: RoomRef, fits: (event: RoomEvent) => boolean): Promise<RoomEvent>
  /** Clears the received events. */
  forget(): void
}

/** Parses a payload by its declaration; fails if the payload has other fields. */
function declared<P extends z.ZodType>({ payload }: Event<P>, told: unknown): z.output<P> {
  const read = payload.parse(told)
  deepStrictEqual(read, told)
  return read
}

export function follow(socket: Socket): Line {
  const frames: Frame[] = []
  const listeners = new Set<() => void>()
  const events: RoomEvent[] = []
  const take = (event: string, payload: unknown) => {
    frames.push({ event, payload })
    if (event === roomEvent.name) events.push(declared(roomEvent, payload))
    if (event === roomEventBatch.name) events.push(...declared(roomEventBatch, payload).events)
    for (const listener of [...listeners]) listener()
  }
  socket.onAny((event: string, payload: unknown) => take(event, payload))
  socket.on('connect_error', (error) => take('connect_error', error))
  socket.on('disconnect', (reason) => take('disconnect', reason))

  const all = <P extends z.ZodType>(event: Event<P>): z.output<P>[] =>
    frames.filter((frame) => frame.event === event.name).map(({ payload }) => declared(event, payload))
  const log = (room: RoomRef) => events.filter((event) => roomKey(event.room) === roomKey(room))
  const until = <T>(look: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const listener = () => {
        const found = look()
        if (found === undefined) return
        listeners.delete(listener)
        resolve(found)
      }
      listeners.add(listener)
      listener()
    })

  return {
    socket,
    frames,
    all,
    log,
    hears: (event: string | Event, fits: (payload: never) => boolean = () => true): Promise<never> =>
      until(() =>
        typeof event === 'string'
          ? frames.find((frame) => frame.event === event)
          : all(event).find((payload) => fits(payload as never)),
      ) as Promise<never>,
    follows: (room, fits) => until(() => log(room).find(fits)),
    forget() {
      frames.splice(0)
      events.splice(0)
    },
  }
}
