import { navigate, usePathname } from 'wouter/use-browser-location'
import { decoded, linkTo, type PageAt, type PanelName, pageAt, panels } from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey, roomOfKey } from '#shared/kit/room-key'
import { lookOf } from './kind.ts'

/** The page at the address of the browser; null if there is none. */
export const usePage = (): PageAt | null => pageAt(usePathname())

/** The room of a page, and the panel beside it. */
export function roomAt(page: PageAt | null): { room: RoomRef | null; panel: PanelName | null } {
  const params: { room?: string; stream?: string; panel?: string } = page?.params ?? {}
  const room = params.room
    ? roomOfKey(params.room)
    : params.stream
      ? { type: 'stream' as const, id: params.stream }
      : null
  return { room, panel: (params.panel as PanelName | undefined) ?? null }
}

/** Opens a page. The one that is open already is no further step of the history. */
const openPage = (link: string): void => navigate(link, { replace: link === location.pathname + location.search })

export const goTo = (room: RoomRef | null, panel: PanelName | null = null): void => openPage(linkToRoom(room, panel))

/** Replaces the panel by another part of it, which is no step of the history. */
export const turnTo = (room: RoomRef, panel: PanelName): void => navigate(linkToRoom(room, panel), { replace: true })

export function linkToRoom(room: RoomRef | null, panel: PanelName | null = null): string {
  if (!room) return linkTo('home')
  const key = { room: roomKey(room) }
  const id = { stream: room.id ?? '' }
  if (lookOf(room).isWatched) return panel ? linkTo('streamPanel', { ...id, panel }) : linkTo('stream', id)
  return panel ? linkTo('roomPanel', { ...key, panel }) : linkTo('room', key)
}

/** Follows a link between two such pages within this document. Other links are left to the browser. */
export function followLink(event: MouseEvent, isSuch: (page: PageAt) => boolean): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null
  const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey)
  if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute('download')) return
  if (link.origin !== location.origin || link.hash) return
  if (![location.pathname, link.pathname].map(pageAt).every((page) => page !== null && isSuch(page))) return
  event.preventDefault()
  openPage(link.pathname + link.search)
}

const panelOf = (name: string | undefined): PanelName | null => panels.find((one) => one === name) ?? null

const places: Readonly<Record<string, (rest: readonly string[]) => string>> = {
  '': () => linkTo('home'),
  agents: ([agent, part]) =>
    !agent
      ? linkTo('agents')
      : agent === 'new'
        ? linkTo('agentNew')
        : linkTo(part === 'edit' ? 'agentEdit' : 'agentChat', { agent }),
  live: ([stream, panel]) => (stream ? linkToRoom({ type: 'stream', id: stream }, panelOf(panel)) : linkTo('live')),
  'go-live': () => linkTo('liveNew'),
  calls: () => linkTo('calls'),
  friends: () => linkTo('friends'),
  starred: () => linkTo('starred'),
  profile: ([address]) => (address ? linkTo('profile', { address }) : linkTo('profileOwn')),
}

/** Opens the page of an address of earlier versions, such as `#/alpha/members`. */
export function leadOn(): void {
  if (!location.hash.startsWith('#/')) return
  const [key = '', ...rest] = location.hash
    .slice(2)
    .split('/')
    .map((part) => decoded(part) ?? '')
  const place = Object.hasOwn(places, key) ? places[key] : undefined
  navigate(place ? place(rest) : linkToRoom(roomOfKey(key), panelOf(rest[0])), { replace: true })
}
