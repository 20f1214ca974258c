import type { LiveRoom, LocalMessage } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import type { PersonOfInterest } from '../accounts/person-of-interest.ts'
import { nameOf } from '../kit/format.ts'
import type { IconName } from '../kit/icon.tsx'
import { kindOf } from '../rooms/kind.ts'
import type { Rights } from '../rooms/rights.ts'
import type { Act, Undo } from './acts.ts'
import { type PersonAct, personActs } from './person-acts.ts'

interface Offered {
  /** The shortcut; null if there is none. */
  key: string | null
  title: string
  icon: IconName
  /** Whether it takes away what others wrote, or somebody's place: such acts are kept apart, and are red. */
  isGrave: boolean
  /** Whether it has a button of its own while somebody moderates. */
  isQuick: boolean
}

/** An act on the message itself, done at once. */
export interface DirectAct extends Offered {
  act: Act
  /** The text of the toast afterwards. */
  done: string
  undo: Undo | null
  /** The name of the message's author. */
  of: string
}

/** An act on the sender, which asks for its reason first. */
export interface AskedAct extends Offered {
  asks: PersonAct
  duration: string
  person: Pick<PersonOfInterest, 'id' | 'name' | 'messageId'>
}

/** An act on a message: by a key while its row has the focus by keyboard, by its menu, or by its toolbar. */
export type RowAct = DirectAct | AskedAct

/** The shortcuts, as shown to people who may use them. */
export const rowKeys = [
  ['D', 'Delete the message'],
  ['W', 'Warn its sender'],
  ['1', 'Mute the sender for 1 h'],
  ['2', 'Mute the sender for 24 h'],
  ['K', 'Take the sender out of the room'],
  ['B', 'Ban the sender'],
  ['P', 'Pin or unpin the message'],
] as const

/** Everything the account may do about this message, in the order in which it is shown: what is grave is last. */
export function rowActs(
  message: LocalMessage,
  { live, rights, account }: { live: LiveRoom; rights: Rights; account: string },
): readonly RowAct[] {
  if (message.local !== 'sent' || message.is_deleted || !kindOf(live.ref).hasModerators) return []
  const isOfOthers = rights.canMute && !isSameAccount(message.sender_address, account)
  return [
    ...(rights.canPin ? [pinning(message, live)] : []),
    ...(isOfOthers ? onSender(message) : []),
    ...(rights.canDelete ? [deleting(message, live)] : []),
  ]
}

export const isDeletion = (one: RowAct): boolean => 'act' in one && one.act.action === 'delete'

function pinning({ id: message_id, is_pinned, sender, sender_address }: LocalMessage, live: LiveRoom): DirectAct {
  const ways = {
    pin: { act: { room: live.ref, action: 'pin', message_id }, done: 'Pinned' },
    unpin: { act: { room: live.ref, action: 'unpin', message_id }, done: 'Unpinned' },
  } as const
  const [way, back] = is_pinned ? [ways.unpin, ways.pin] : [ways.pin, ways.unpin]
  const title = is_pinned ? 'Unpin' : 'Pin'
  const of = nameOf(sender.name, sender_address)
  return { key: 'P', title, icon: 'pin', isGrave: false, isQuick: false, of, ...way, undo: back }
}

function deleting({ id: message_id, sender, sender_address }: LocalMessage, live: LiveRoom): DirectAct {
  return {
    key: 'D',
    title: 'Delete',
    icon: 'bin',
    isGrave: true,
    isQuick: false,
    of: nameOf(sender.name, sender_address),
    act: { room: live.ref, action: 'delete', message_id },
    done: 'Deleted',
    undo: null,
  }
}

function onSender({ id: messageId, sender, sender_address: id }: LocalMessage): readonly AskedAct[] {
  const person = { id, name: nameOf(sender.name, id), messageId }
  const asking = (asks: PersonAct, key: string | null, duration: string, more = ''): AskedAct => {
    const { title, icon, isGrave } = personActs[asks]
    return { key, title: `${title}${more}`, icon, isGrave, isQuick: key === 'W' || key === '1', asks, duration, person }
  }
  return [
    asking('warn', 'W', ''),
    asking('mute', '1', '1h', ' 1 h'),
    asking('mute', '2', '24h', ' 24 h'),
    asking('kick', 'K', ''),
    asking('purge', null, ''),
    asking('ban', 'B', 'permanent'),
  ]
}
