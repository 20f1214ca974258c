import { moderationTexts } from '../texts/moderation.ts'
import { roomTexts } from '../texts/rooms.ts'

const t = roomTexts.keys

interface KeyRow {
  title: string
  /** Presses, such as `alt+arrowup`; each of them does the same. `mod` is Control, or Command on a Mac. */
  keys?: readonly string[]
  /** Presses that work in text fields as well. */
  fieldKeys?: readonly string[]
  /** Whether it works above an open dialog. */
  inDialogs?: boolean
}

/** Of two rows with the same press, the first that is bound runs. */
const anywhere = {
  switcher: { title: t.switcher, fieldKeys: ['mod+k'], inDialogs: true },
  previousRoom: { title: t.previousRoom, fieldKeys: ['alt+arrowup'] },
  nextRoom: { title: t.nextRoom, fieldKeys: ['alt+arrowdown'] },
  previousUnread: { title: t.previousUnread, fieldKeys: ['alt+shift+arrowup'] },
  nextUnread: { title: t.nextUnread, fieldKeys: ['alt+shift+arrowdown'] },
  closePanel: { title: t.close, fieldKeys: ['escape'] },
  list: { title: t.list, keys: ['?'], fieldKeys: ['mod+/'] },
} satisfies Record<string, KeyRow>

/** What the key of `closePanel` does where nothing is open; the list names both in one row. */
const otherwise = { markRead: { title: t.close, fieldKeys: ['escape'] } } satisfies Record<string, KeyRow>

/** Keys of the message field and of messages, which their components bind while they have the focus. */
const writing = {
  send: { title: t.send, keys: ['enter'] },
  newLine: { title: t.newLine, keys: ['shift+enter'] },
  editLast: { title: t.editLast, keys: ['arrowup'] },
  toMessages: { title: t.toMessages, keys: ['shift+tab'] },
  previousMessage: { title: t.previousMessage, keys: ['arrowup'] },
  nextMessage: { title: t.nextMessage, keys: ['arrowdown'] },
  toActions: { title: t.toActions, keys: ['tab'] },
} satisfies Record<string, KeyRow>

const m = moderationTexts.keys
const moderating = {
  deleteMessage: { title: m.delete, keys: ['d'] },
  warn: { title: m.warn, keys: ['w'] },
  muteHour: { title: m.muteHour, keys: ['1'] },
  muteDay: { title: m.muteDay, keys: ['2'] },
  kick: { title: m.kick, keys: ['k'] },
  ban: { title: m.ban, keys: ['b'] },
  pin: { title: m.pin, keys: ['p'] },
} satisfies Record<string, KeyRow>

const keyTable = { ...anywhere, ...otherwise, ...writing, ...moderating }
export type KeyAction = keyof typeof keyTable
const rowOf = (action: KeyAction): KeyRow => keyTable[action]

const actionsOf = (rows: Partial<Record<KeyAction, KeyRow>>) => Object.keys(rows) as KeyAction[]
/** The parts of the list of keys. */
export const keyParts: readonly { title: string; actions: readonly KeyAction[] }[] = [
  { title: t.anywhere, actions: actionsOf(anywhere) },
  { title: t.writing, actions: actionsOf(writing) },
  { title: t.moderators, actions: actionsOf(moderating) },
]
export const keyTitle = (action: KeyAction): string => rowOf(action).title

type Press = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>

const isMac = (): boolean => /^(Mac|iP)/.test(globalThis.navigator?.platform ?? '')

/** Whether an event is a press such as `mod+k`. */
export function isPress(keys: string, event: Press, onMac = isMac()): boolean {
  const held = keys.split('+')
  const key = held.pop() ?? ''
  const [mod, foreign] = onMac ? [event.metaKey, event.ctrlKey] : [event.ctrlKey, event.metaKey]
  if (mod !== held.includes('mod') || foreign || event.altKey !== held.includes('alt')) return false
  // A layout may need Shift for a sign or a digit.
  const isShiftFree = key.length === 1 && (held.length === 0 || !/[a-z]/.test(key))
  if (!isShiftFree && event.shiftKey !== held.includes('shift')) return false
  if (event.key.toLowerCase() === key) return true
  // On a layout without Latin letters, the key that has the letter elsewhere.
  return mod && /^[a-z]$/.test(key) && !/^[a-z]$/i.test(event.key) && event.code.toLowerCase() === `key${key}`
}

/** The focus at a press. Menus and lists of options keep all keys. */
export type KeyPlace = 'page' | 'field' | 'dialog' | 'menu'

/** The action of a press, among those that are bound now. */
export const actionOf = (event: Press, place: KeyPlace, isBound: (action: KeyAction) => boolean): KeyAction | null =>
  actionsOf(keyTable).find((action) => {
    const { keys = [], fieldKeys = [], inDialogs = false } = rowOf(action)
    if (place === 'menu' || (place === 'dialog' && !inDialogs) || !isBound(action)) return false
    return [...fieldKeys, ...(place === 'field' ? [] : keys)].some((one) => isPress(one, event))
  }) ?? null

/** For a component with the focus: whether an event is a press of an action. */
export const isPressOf = (action: KeyAction, event: Press): boolean =>
  [...(rowOf(action).keys ?? []), ...(rowOf(action).fieldKeys ?? [])].some((keys) => isPress(keys, event))

/** The presses of an action, as the names of their keys. */
export function keyNames(action: KeyAction): readonly (readonly string[])[] {
  const names: Readonly<Record<string, string>> = {
    ...t.names,
    mod: isMac() ? '⌘' : t.names.mod,
    arrowup: '↑',
    arrowdown: '↓',
  }
  const { keys = [], fieldKeys = [] } = rowOf(action)
  return [...keys, ...fieldKeys].map((one) => one.split('+').map((key) => names[key] ?? key.toUpperCase()))
}
