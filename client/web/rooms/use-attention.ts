import { useEffect, useRef, useSyncExternalStore } from 'react'
import type { RoomSummary } from '#shared/api/room'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { lookOf } from './kind.ts'
import { titleOf } from './room-title.ts'
import { goTo } from './route.ts'
import { keyOf, refOf } from './use-rooms.ts'

const kept = 'plaza.notify'
export const canNotify = (): boolean => 'Notification' in window
export const isNotified = (): boolean =>
  canNotify() && Notification.permission === 'granted' && localStorage.getItem(kept) === 'yes'

/** Requests the permission if needed; returns whether notifications are allowed. */
export async function setNotified(isWanted: boolean): Promise<boolean> {
  localStorage.setItem(kept, isWanted ? 'yes' : 'no')
  if (isWanted && Notification.permission === 'default') await Notification.requestPermission()
  return isNotified()
}

/** Shows the unread count in the title and the icon of the page, and notifications while the page is hidden. */
export function useAttention(rooms: readonly RoomSummary[] | null, open: RoomRef | null): void {
  const isHidden = useSyncExternalStore(listenToVisibility, () => document.hidden)
  const openKey = open && !isHidden ? roomKey(open) : null
  const counted = (rooms ?? []).filter((room) => !room.is_muted && keyOf(room) !== openKey)
  const unread = counted.reduce((sum, room) => sum + room.unread, 0)

  useEffect(() => {
    document.title = unread > 0 ? `(${unread > 99 ? '99+' : unread}) Plaza` : 'Plaza'
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    if (icon) icon.href = unread > 0 ? '/plaza-unread.svg' : '/plaza.svg'
    return () => {
      document.title = 'Plaza'
      if (icon) icon.href = '/plaza.svg'
    }
  }, [unread])

  const known = useRef<ReadonlyMap<string, RoomSummary> | null>(null)
  useEffect(() => {
    if (!rooms) return
    const before = known.current
    known.current = new Map(rooms.map((room) => [keyOf(room), room]))
    if (!before || !document.hidden || !isNotified()) return
    for (const room of rooms) {
      const { unread: seen = 0, mentions = 0 } = before.get(keyOf(room)) ?? {}
      const isCalled = room.mentions > mentions
      if (!room.is_muted && (isCalled || (lookOf(room).callsForAll && room.unread > seen))) notify(room, isCalled)
    }
  }, [rooms])
}

function notify(room: RoomSummary, isCalled: boolean): void {
  const body = isCalled ? 'Somebody has mentioned you.' : 'A new message for you.'
  const notification = new Notification(titleOf(room), { body, tag: keyOf(room), icon: '/plaza.svg' })
  notification.onclick = () => {
    window.focus()
    goTo(refOf(room))
    notification.close()
  }
}

function listenToVisibility(listener: () => void): () => void {
  document.addEventListener('visibilitychange', listener)
  return () => document.removeEventListener('visibilitychange', listener)
}
