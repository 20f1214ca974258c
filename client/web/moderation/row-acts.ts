import type { LiveRoom, LocalMessage } from '#client/sdk/types'
import { nameOf } from '../kit/format.ts'
import type { IconName } from '../kit/icon.tsx'
import { kindOf } from '../rooms/kind.ts'
import type { Rights } from '../rooms/rights.ts'
import type { Act } from './acts.ts'

/** An act on a message: by a key while its row has the focus by keyboard, by its menu, or by its toolbar. */
export interface RowAct {
  /** The shortcut; null if there is none. */
  key: string | null
  title: string
  icon: IconName
  act: Act
  /** The text of the toast afterwards. */
  done: string
  /** The name of the message's author. */
  of: string
  /** The question to confirm first; null if there is none. */
  question: string | null
  /** Whether it takes away what others wrote, or somebody's place: such acts are kept apart, and are red. */
  isGrave: boolean
  /** Whether it has a button of its own while somebody moderates. */
  isQuick: boolean
}

/** The shortcuts, as shown to people who may use them. */
export const rowKeys = [
  ['D', 'Delete the message'],
  ['W', 'Warn its sender'],
  ['1', 'Mute the sender for 1 h'],
  ['2', 'Mute the sender for 24 h'],
  ['B', 'Ban the sender, after a question'],
  ['P', 'Pin or unpin the message'],
] as const

/** Everything the account may do about this message, in the order in which it is shown: what is grave is last. */
export function rowActs(
  message: LocalMessage,
  { live, rights, account }: { live: LiveRoom; rights: Rights; account: string },
): readonly RowAct[] {
  if (message.local !== 'sent' || message.is_deleted || !kindOf(live.ref).hasModerators) return []
  const room = live.ref
  const message_id = message.id
  const name = nameOf(message.sender.name, message.sender_address)
  const plain = (key: string | null, title: string, icon: IconName) => ({
    key,
    title,
    icon,
    of: name,
    question: null,
    isGrave: false,
    isQuick: false,
  })
  const about = { room, message_id, target: message.sender_address }
  const isAboutOthers = rights.canMute && message.sender_address !== account
  const pins: RowAct = message.is_pinned
    ? { ...plain('P', 'Unpin', 'pin'), act: { room, action: 'unpin', message_id }, done: 'Unpinned' }
    : { ...plain('P', 'Pin', 'pin'), act: { room, action: 'pin', message_id }, done: 'Pinned' }
  const removes: RowAct = {
    ...plain('D', 'Delete', 'bin'),
    act: { room, action: 'delete', message_id },
    done: 'Deleted',
    isGrave: true,
  }
  const mute = (key: string, duration: string, length: string): RowAct => ({
    ...plain(key, `Mute ${length}`, 'mute'),
    act: { ...about, action: 'mute', duration },
    done: `${name} muted for ${length}`,
    isQuick: key === '1',
  })
  const onSender: readonly RowAct[] = [
    { ...plain('W', 'Warn', 'warn'), isQuick: true, act: { ...about, action: 'warn' }, done: `${name} warned` },
    mute('1', '1h', '1 h'),
    mute('2', '24h', '24 h'),
    {
      ...plain(null, 'Purge messages', 'bin'),
      isGrave: true,
      act: { ...about, action: 'purge' },
      done: `Messages of ${name} purged`,
      question: `Remove every message of ${name} from this room?`,
    },
    {
      ...plain('B', 'Ban', 'block'),
      isGrave: true,
      act: { ...about, action: 'ban', duration: 'permanent' },
      done: `${name} banned`,
      question: `Ban ${name} from this room for good?`,
    },
  ]
  return [...(rights.canPin ? [pins] : []), ...(isAboutOthers ? onSender : []), ...(rights.canDelete ? [removes] : [])]
}
