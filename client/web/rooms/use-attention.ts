import { createContext, useContext, useEffect, useRef, useSyncExternalStore } from 'react'
import type { RoomSummary } from '#shared/api/rooms/room'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { closeRead } from '../accounts/notifications/push-kept.ts'
import { roomTexts as t } from '../texts/rooms.ts'
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

/** What calls for the account in a room: mentions, and where each message is for it, all that is unread. */
const callsIn = (room: RoomSummary): number => (lookOf(room).callsForAll ? room.unread : room.mentions)

/** Names the page by the heading of its screen, for as long as that is shown. */
export function useHeading(heading: string): void {
  const name = useContext(HeadingContext)
  useEffect(() => {
    name(heading)
    return () => name(null)
  }, [name, heading])
}
export const HeadingContext = createContext<(heading: string | null) => void>(() => {})

/** Shows the page and what calls for the account in the title and the icon of the page, and notifications while the page is hidden. */
export function useAttention(
  rooms: readonly RoomSummary[] | null,
  open: RoomRef | null,
  heading: string | null,
): string {
  const isHidden = useSyncExternalStore(listenToVisibility, () => document.hidden)
  const openKey = open && !isHidden ? roomKey(open) : null
  const counted = (rooms ?? []).filter((room) => !room.is_muted && keyOf(room) !== openKey)
  const calls = counted.reduce((sum, room) => sum + callsIn(room), 0)
  const shown = open && rooms?.find((room) => keyOf(room) === roomKey(open))
  const name = heading ?? (shown ? titleOf(shown) : '')
  const place = name ? `${name} · Plaza` : 'Plaza'

  useEffect(() => {
    document.title = calls > 0 ? `(${calls > 99 ? '99+' : calls}) ${place}` : place
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
    if (icon) icon.href = calls > 0 ? '/plaza-unread.svg' : '/plaza.svg'
    return () => {
      document.title = 'Plaza'
      if (icon) icon.href = '/plaza.svg'
    }
  }, [calls, place])

  const known = useRef<ReadonlyMap<string, RoomSummary> | null>(null)
  useEffect(() => {
    if (!rooms) return
    const before = known.current
    const now = new Map(rooms.map((room) => [keyOf(room), room]))
    known.current = now
    closeRead((tag) => now.get(tag)?.unread === 0).catch(() => {})
    if (!before || !document.hidden || !isNotified()) return
    for (const room of rooms) {
      const { unread: seen = 0, mentions = 0 } = before.get(keyOf(room)) ?? {}
      const isCalled = room.mentions > mentions
      if (!room.is_muted && (isCalled || (lookOf(room).callsForAll && room.unread > seen))) notify(room, isCalled)
    }
  }, [rooms])
  return name
}

function notify(room: RoomSummary, isCalled: boolean): void {
  const body = isCalled ? t.alerts.mention : t.alerts.message
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
