import { useSyncExternalStore } from 'react'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey, roomOfKey } from '#shared/kit/room-key'
import { lookOf } from './kind.ts'

export const panels = ['members', 'media', 'pins', 'search', 'moderation'] as const
export type PanelName = (typeof panels)[number]

export interface Route {
  room: RoomRef | null
  panel: PanelName | null
  /** What follows `#/agents/`; null where no agents are shown. */
  agents: readonly string[] | null
  /** `#/live`: who is live; `#/go-live`: a stream of one's own. */
  live: 'now' | 'new' | null
  /** `#/calls`: the calls of the account. */
  calls: boolean
  /** `#/friends`: the friends of the account. */
  friends: boolean
  /** `#/starred`: the messages that the account has starred. */
  starred: boolean
  /** What follows `#/profile/`: whose profile; empty for one's own, to be changed. */
  profile: string | null
}

const nowhere: Route = {
  room: null,
  panel: null,
  agents: null,
  live: null,
  calls: false,
  friends: false,
  starred: false,
  profile: null,
}

/** The address of the page says which room is open, and which panel beside it: `#/alpha/members`. */
export function useRoute(): Route {
  const hash = useSyncExternalStore(listenToHash, hashOfPage)
  const [, key, part, ...rest] = hash.split('/').map(decodeURIComponent)
  if (key === 'agents') return { ...nowhere, agents: [part ?? '', ...rest].filter(Boolean) }
  if (key === 'calls') return { ...nowhere, calls: true }
  if (key === 'friends') return { ...nowhere, friends: true }
  if (key === 'starred') return { ...nowhere, starred: true }
  if (key === 'profile') return { ...nowhere, profile: part ?? '' }
  if (key === 'go-live') return { ...nowhere, live: 'new' }
  if (key === 'live' && !part) return { ...nowhere, live: 'now' }
  const panelOf = (named: string | undefined) => panels.find((name) => name === named) ?? null
  if (key === 'live' && part) return { ...nowhere, room: { type: 'stream', id: part }, panel: panelOf(rest[0]) }
  return { ...nowhere, room: key ? roomOfKey(key) : null, panel: panelOf(part) }
}

export function goTo(room: RoomRef | null, panel: PanelName | null = null): void {
  location.hash = linkToRoom(room, panel)
}

/** Turns the panel to another part of it, which is no step of the history. */
export function turnTo(room: RoomRef, panel: PanelName): void {
  location.replace(linkToRoom(room, panel))
}

export function linkToRoom(room: RoomRef | null, panel: PanelName | null = null): string {
  const place = room && lookOf(room).isWatched ? ['live', room.id ?? ''] : room ? [roomKey(room)] : []
  const parts = [...place, ...(room && panel ? [panel] : [])]
  return `#/${parts.map(encodeURIComponent).join('/')}`
}

export const linkToCalls = '#/calls'
export const linkToFriends = '#/friends'
export const linkToStarred = '#/starred'
export const linkToLive = '#/live'
export const linkToGoLive = '#/go-live'

/** To the profile of an account as others see it; without one, to one's own. */
export const linkToProfile = (address?: string): string =>
  `#/${['profile', ...(address ? [address] : [])].map(encodeURIComponent).join('/')}`

export const linkToAgents = (...path: readonly string[]): string =>
  `#/${['agents', ...path].map(encodeURIComponent).join('/')}`

export function goToAgents(...path: readonly string[]): void {
  location.hash = linkToAgents(...path)
}

export const hashOfPage = (): string => location.hash

export function listenToHash(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}
