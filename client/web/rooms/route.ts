import { useSyncExternalStore } from 'react'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey, roomOfKey } from '#shared/kit/room-key'

export const panels = ['members', 'search', 'moderation'] as const
export type PanelName = (typeof panels)[number]

export interface Route {
  room: RoomRef | null
  panel: PanelName | null
}

/** The address of the page says which room is open, and which panel beside it: `#/alpha/members`. */
export function useRoute(): Route {
  const hash = useSyncExternalStore(listenToHash, hashOfPage)
  const [, key, panel] = hash.split('/').map(decodeURIComponent)
  return { room: key ? roomOfKey(key) : null, panel: panels.find((name) => name === panel) ?? null }
}

export function goTo(room: RoomRef | null, panel: PanelName | null = null): void {
  const parts = room ? [roomKey(room), ...(panel ? [panel] : [])] : []
  location.hash = `#/${parts.map(encodeURIComponent).join('/')}`
}

export const hashOfPage = (): string => location.hash

export function listenToHash(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}
