import { roomKey, roomOfKey } from './room-key.ts'
import { roomKinds } from './room-kinds.ts'

/** The panels beside a room. */
export const panels = ['members', 'media', 'pins', 'search', 'moderation'] as const
export type PanelName = (typeof panels)[number]

/** The sections of the settings. */
const settingsSections = [
  'profile',
  'sign-in',
  'devices',
  'appearance',
  'wallet',
  'booking',
  'points',
  'notifications',
  'privacy',
  'data',
  'problem',
  'contact',
] as const
export type SettingsSection = (typeof settingsSections)[number]

/** The parts of the administration. */
export const adminSections = [
  'people',
  'moderators',
  'reports',
  'words',
  'audit',
  'invitations',
  'analytics',
  'broadcasts',
  'installation',
  'cluster',
] as const
export type AdminSection = (typeof adminSections)[number]

/** The parts of the moderators' desk. */
export const moderationTabs = ['log', 'queue', 'restricted', 'faults'] as const
export type ModerationTab = (typeof moderationTabs)[number]

/** The parts of the settings of a room. */
export const roomSettingsParts = [
  'overview',
  'roles',
  'permissions',
  'words',
  'invitations',
  'agents',
  'webhooks',
  'audit',
  'danger',
] as const
export type RoomSettingsPart = (typeof roomSettingsParts)[number]

/** Parts of the desk in earlier versions, and the part of the settings of a room that has each now. */
export const formerTabs: Readonly<Record<string, RoomSettingsPart>> = { words: 'words', rules: 'permissions' }

/** The path of each page. The server answers with the page there; `client/web/pages.tsx` shows it. */
export const pagePaths = {
  home: '/',
  browse: '/rooms',
  roomNew: '/rooms/new',
  roomsNear: '/rooms/near',
  roomTokens: '/rooms/tokens',
  room: '/rooms/:room',
  roomPanel: '/rooms/:room/:panel',
  roomModeration: '/rooms/:room/moderation/:tab',
  roomSettings: '/rooms/:room/settings/:setting',
  message: '/rooms/:room/messages/:seq',
  live: '/live',
  liveNew: '/live/new',
  stream: '/live/:stream',
  streamPanel: '/live/:stream/:panel',
  streamModeration: '/live/:stream/moderation/:tab',
  streamSettings: '/live/:stream/settings/:setting',
  streamMessage: '/live/:stream/messages/:seq',
  calls: '/calls',
  friends: '/friends',
  starred: '/starred',
  profileOwn: '/profile',
  profile: '/profile/:address',
  agents: '/agents',
  agentNew: '/agents/new',
  agent: '/agents/:agent',
  agentChat: '/agents/:agent/chat',
  agentConversation: '/agents/:agent/chat/:conversation',
  agentEdit: '/agents/:agent/edit',
  settings: '/settings/:section',
  admin: '/admin/:part',
  invitation: '/invite/:token',
  meeting: '/room/:code',
  schedule: '/schedule/:slug',
  call: '/join/:token',
} as const

/** The values that a parameter may have. */
const fits: Readonly<Record<string, (value: string) => boolean>> = {
  room: (key) => roomKey(roomOfKey(key)) === key && Object.hasOwn(roomKinds, roomOfKey(key).type),
  panel: (name) => panels.some((one) => one === name),
  tab: (name) => moderationTabs.some((one) => one === name) || Object.hasOwn(formerTabs, name),
  setting: (name) => roomSettingsParts.some((one) => one === name),
  part: (name) => adminSections.some((one) => one === name),
  section: (name) => settingsSections.some((one) => one === name),
  seq: (number) => /^[1-9]\d{0,15}$/.test(number),
}

type ParamsIn<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | ParamsIn<`/${More}`>
    : Rest
  : never
export type PageName = keyof typeof pagePaths
export type PageParams<Name extends PageName> = Readonly<Record<ParamsIn<(typeof pagePaths)[Name]>, string>>
export type PageAt = { [Name in PageName]: { name: Name; params: PageParams<Name> } }[PageName]

/** The address of a page. */
export function linkTo<Name extends PageName>(
  name: Name,
  ...[params]: ParamsIn<(typeof pagePaths)[Name]> extends never ? [] : [PageParams<Name>]
): string {
  const given: Readonly<Record<string, string>> = params ?? {}
  // The key of a room has a colon, which a path may contain as it is.
  return pagePaths[name].replace(/:(\w+)/g, (_all, one) => encodeURIComponent(given[one] ?? '').replaceAll('%3A', ':'))
}

/** The page at a path; null if there is none. */
export function pageAt(path: string): PageAt | null {
  const parts = path.split('/').map(decoded)
  for (const [name, pattern] of Object.entries(pagePaths)) {
    const params = paramsOf(pattern.split('/'), parts)
    if (params) return { name, params } as PageAt
  }
  return null
}

function paramsOf(pattern: readonly string[], parts: readonly (string | null)[]): Record<string, string> | null {
  const params: Record<string, string> = {}
  const isSuch = pattern.every((wanted, at) => {
    const part = parts[at]
    if (!wanted.startsWith(':')) return part === wanted
    const name = wanted.slice(1)
    if (!part || fits[name]?.(part) === false) return false
    params[name] = part
    return true
  })
  return isSuch && pattern.length === parts.length ? params : null
}

/** A decoded part of a path; null if it is malformed. */
export function decoded(part: string): string | null {
  try {
    return decodeURIComponent(part)
  } catch {
    return null
  }
}
