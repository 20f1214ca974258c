import { navigate, useHistoryState, usePathname } from 'wouter/use-browser-location'
import {
  decoded,
  formerTabs,
  linkTo,
  type ModerationTab,
  moderationTabs,
  type PageAt,
  type PageName,
  type PanelName,
  pageAt,
  panels,
  type RoomSettingsPart,
} from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'
import { alpha, roomKey, roomOfKey } from '#shared/kit/room-key'
import { beneathLayers, stepBack } from '../kit/dialog-layers.ts'
import { lookOf } from './kind.ts'

/** The page at the address of the browser; null if there is none. */
export const usePage = (): PageAt | null => pageAt(usePathname())

/** Pages that are dialogs above another page. */
const dialogs: ReadonlySet<PageName> = new Set<PageName>([
  'browse',
  'roomNew',
  'roomsNear',
  'roomTokens',
  'roomSettings',
  'streamSettings',
  'settings',
  'admin',
  'invitation',
])
const isDialog = (page: PageAt | null): boolean => page !== null && dialogs.has(page.name)

/** The page at the address, and the page behind it if it is a dialog. */
export function usePages(): { page: PageAt | null; behind: PageAt | null } {
  const page = usePage()
  const state: { behind?: string } | null = useHistoryState()
  return { page, behind: isDialog(page) ? pageAt(linkBehind(page, state?.behind)) : page }
}
export const wide = '(min-width: 760px)'

/** What a dialog is shown above: the page that it was opened from. Settings of a room are above that room. */
function linkBehind(dialog: PageAt | null, openedFrom: string | undefined): string {
  const { room } = roomAt(dialog)
  if (!room) return openedFrom ?? (matchMedia(wide).matches ? linkToRoom(alpha) : linkTo('home'))
  const from = roomAt(openedFrom === undefined ? null : pageAt(openedFrom)).room
  return openedFrom !== undefined && from && roomKey(from) === roomKey(room) ? openedFrom : linkToRoom(room)
}

/** Opens a dialog. From another dialog, or another part of it, this is no step of the history. */
export function openDialog(link: string): void {
  beneathLayers(() => {
    const replace = isDialog(pageAt(location.pathname))
    navigate(link, { replace, state: replace ? history.state : { behind: location.pathname } })
  })
}

/** Closes a dialog as the browser's back does; to its room, or to the rooms, if the visit began with it. */
export function closeDialog(): void {
  const page = pageAt(location.pathname)
  if (isClosing || !isDialog(page)) return
  // The browser goes back after this call: a second press must not go two steps.
  isClosing = true
  beneathLayers(() => {
    const closed = () => {
      isClosing = false
    }
    if (history.state?.behind) {
      addEventListener('popstate', closed, { once: true })
      stepBack(1)
    } else {
      navigate(linkToRoom(roomAt(page).room), { replace: true })
      closed()
    }
  })
}
let isClosing = false

/** Opens a page. The one that is open already is no further step of the history, nor is a dialog that leads on. */
export const openPage = (link: string): void =>
  beneathLayers(() => {
    const isStep = link !== location.pathname + location.search && !isDialog(pageAt(location.pathname))
    navigate(link, { replace: !isStep })
  })

/** Opens a page or a dialog by its link. */
export function openLink(link: string): void {
  if (isDialog(pageAt(link))) openDialog(link)
  else openPage(link)
}

/** The room of a page, and the panel beside it. */
export function roomAt(page: PageAt | null): { room: RoomRef | null; panel: PanelName | null } {
  const params: { room?: string; stream?: string; panel?: string; tab?: string } = page?.params ?? {}
  const room = params.room
    ? roomOfKey(params.room)
    : params.stream
      ? { type: 'stream' as const, id: params.stream }
      : null
  return { room, panel: params.tab ? 'moderation' : ((params.panel as PanelName | undefined) ?? null) }
}

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

/** Opens a room at a message, or at its newest if the number of the message is unknown. */
export function goToMessage(room: RoomRef, number: number | undefined): void {
  openPage(number === undefined ? linkToRoom(room) : linkToMessage(room, String(number)))
}

/** The path of a message, which opens its room at it. */
export function linkToMessage(room: RoomRef, seq: string): string {
  const isStream = lookOf(room).isWatched
  return isStream
    ? linkTo('streamMessage', { stream: room.id ?? '', seq })
    : linkTo('message', { room: roomKey(room), seq })
}

/** The number of the message at the address. */
export function useMessageAt(): number | null {
  const params: { seq?: string } = usePages().behind?.params ?? {}
  return params.seq ? Number(params.seq) : null
}

/** Turns the desk of the moderators to another part. */
export function turnDeskTo(room: RoomRef, tab: ModerationTab): void {
  const isStream = lookOf(room).isWatched
  const link = isStream
    ? linkTo('streamModeration', { stream: room.id ?? '', tab })
    : linkTo('roomModeration', { room: roomKey(room), tab })
  navigate(link, { replace: true })
}

/** The part of that desk at the address. */
export function useDesk(): ModerationTab {
  const params: { tab?: string } = usePages().behind?.params ?? {}
  return moderationTabs.find((one) => one === params.tab) ?? 'log'
}

/** The address of a part of the settings of a room. */
export const linkToRoomSettings = (room: RoomRef, setting: RoomSettingsPart): string =>
  lookOf(room).isWatched
    ? linkTo('streamSettings', { stream: room.id ?? '', setting })
    : linkTo('roomSettings', { room: roomKey(room), setting })

/** The part of the settings of a room at the address; null while they are closed. */
export function useRoomSettingsPart(): RoomSettingsPart | null {
  const params: { setting?: string } = usePage()?.params ?? {}
  return (params.setting as RoomSettingsPart | undefined) ?? null
}

/** Follows a link between two such pages within this document. Other links are left to the browser. */
export function followLink(event: MouseEvent, isSuch: (page: PageAt) => boolean): void {
  const link = event.target instanceof Element ? event.target.closest('a') : null
  const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey)
  if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute('download')) return
  if (link.origin !== location.origin || link.hash) return
  if (![location.pathname, link.pathname].map(pageAt).every((page) => page !== null && isSuch(page))) return
  event.preventDefault()
  openLink(link.pathname + link.search)
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

/** The link to a part of the moderators' desk that the settings of the room have now; null if the address is none. */
function linkOfFormerTab(): string | null {
  const page = pageAt(location.pathname)
  const { tab = '' }: { tab?: string } = page?.params ?? {}
  const [{ room }, part] = [roomAt(page), formerTabs[tab]]
  return room && part ? linkToRoomSettings(room, part) : null
}

/** Whether the address is one of earlier versions, such as `#/alpha/members`. */
export const isOfEarlierVersion = (): boolean => location.hash.startsWith('#/') || linkOfFormerTab() !== null

/** Opens the page of an address of earlier versions. */
export function leadOn(): void {
  const settings = linkOfFormerTab()
  if (settings !== null) navigate(settings, { replace: true })
  if (!location.hash.startsWith('#/')) return
  const [key = '', ...rest] = location.hash
    .slice(2)
    .split('/')
    .map((part) => decoded(part) ?? '')
  const place = Object.hasOwn(places, key) ? places[key] : undefined
  navigate(place ? place(rest) : linkToRoom(roomOfKey(key), panelOf(rest[0])), { replace: true })
}
