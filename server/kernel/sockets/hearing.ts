import { type Event, scopeOfEvents } from '#shared/kit/contract'
import type { Caller } from '../context.ts'

/** Who is told what: a service token hears a domain's events where its scopes let it read there; people hear all of theirs. */
export interface Hearing {
  hears(caller: Caller, event: object): boolean
  /** The rooms of Socket.IO of those who may not hear an event. */
  deafTo(event: Event): string[]
  /** Those of them that a connection of this caller is in. */
  deafnessOf(caller: Caller): string[]
}

type Told = Readonly<Record<string, Readonly<Record<string, Event>>>>

/** By the domain that tells an event; those of the connection itself are in none, and for all. */
export function hearingOf(told: Told): Hearing {
  const scopes = new Map<object, string>(
    Object.entries(told).flatMap(([domain, events]) =>
      Object.values(events).map((event) => [event, scopeOfEvents(domain)] as const),
    ),
  )
  const without = (scope: string) => `without ${scope}`
  return {
    hears({ scopes: granted }, event) {
      const scope = scopes.get(event)
      return granted === undefined || scope === undefined || granted.includes(scope)
    },
    deafTo(event) {
      const scope = scopes.get(event)
      return scope === undefined ? [] : [without(scope)]
    },
    deafnessOf({ scopes: granted }) {
      if (granted === undefined) return []
      return [...new Set(scopes.values())].filter((scope) => !granted.includes(scope)).map(without)
    },
  }
}
