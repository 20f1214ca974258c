import { type Event, scopeOfEvents } from '#shared/kit/contract'
import type { Caller } from '../context.ts'

/** The receivers of events. A service token receives those of domains that its scopes may read; people receive all. */
export interface EventScopes {
  mayReceive(caller: Caller, event: object): boolean
  /** The Socket.IO rooms of connections that may not receive an event. */
  excludedRooms(event: Event): string[]
  /** Such rooms of this caller's connections. */
  excludedRoomsOf(caller: Caller): string[]
}

type EventsByDomain = Readonly<Record<string, Readonly<Record<string, Event>>>>

/** Events by their domain; events of the connection itself have none, and reach all. */
export function eventScopesOf(byDomain: EventsByDomain): EventScopes {
  const scopes = new Map<object, string>(
    Object.entries(byDomain).flatMap(([domain, events]) =>
      Object.values(events).map((event) => [event, scopeOfEvents(domain)] as const),
    ),
  )
  const without = (scope: string) => `without ${scope}`
  return {
    mayReceive({ scopes: granted }, event) {
      const scope = scopes.get(event)
      return granted === undefined || scope === undefined || granted.includes(scope)
    },
    excludedRooms(event) {
      const scope = scopes.get(event)
      return scope === undefined ? [] : [without(scope)]
    },
    excludedRoomsOf({ scopes: granted }) {
      if (granted === undefined) return []
      return [...new Set(scopes.values())].filter((scope) => !granted.includes(scope)).map(without)
    },
  }
}
