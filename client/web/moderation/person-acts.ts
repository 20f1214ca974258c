import { useCallback } from 'react'
import type { LiveRoom, LocalMessage } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import type { PersonOfInterest } from '../accounts/person-of-interest.ts'
import { useClient } from '../connection/client.ts'
import type { KeyAction } from '../keys/key-table.ts'
import { nameOf } from '../kit/format.ts'
import type { IconName } from '../kit/icon.tsx'
import { useTell } from '../kit/toasts.tsx'
import { kindOf } from '../rooms/kind.ts'
import type { Rights } from '../rooms/rights.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { moderationTexts as t } from '../texts/moderation.ts'
import { type Act, lengths, type Undo, useAct } from './acts.ts'

export type PersonAct = 'mute' | 'warn' | 'kick' | 'purge' | 'ban'

interface Look {
  title: string
  icon: IconName
  hasLength: boolean
  /** What follows from a grave act, which is asked before it; null of any other. */
  question: string | null
  /** What takes it back. */
  undoneBy: 'unmute' | 'unban' | null
  /** Without a length it is permanent. */
  done: (name: string, length: string | null) => string
  undone: (name: string) => string
}

const never = { hasLength: false, question: null, undoneBy: null, undone: () => '' } as const

/** What a moderator may do to a person, in the order in which it is offered: what is grave is last. */
export const personActs: Readonly<Record<PersonAct, Look>> = {
  mute: {
    title: t.actions.mute,
    icon: 'mute',
    hasLength: true,
    question: null,
    undoneBy: 'unmute',
    done: (name, length) => (length ? t.done.mute({ name, length }) : t.done.mutePermanently({ name })),
    undone: (name) => t.done.unmute({ name }),
  },
  warn: { ...never, title: t.actions.warn, icon: 'warn', done: (name) => t.done.warn({ name }) },
  kick: { ...never, title: t.actions.kick, icon: 'back', done: (name) => t.done.kick({ name }) },
  purge: {
    ...never,
    title: t.actions.purge,
    icon: 'bin',
    question: confirmationTexts.purge,
    done: (name) => t.done.purge({ name }),
  },
  ban: {
    title: t.actions.ban,
    icon: 'block',
    hasLength: true,
    question: confirmationTexts.ban,
    undoneBy: 'unban',
    done: (name, length) => (length ? t.done.ban({ name, length }) : t.done.banPermanently({ name })),
    undone: (name) => t.done.unban({ name }),
  },
}

/** The length of an act, and the reason that the person sees. */
interface Terms {
  duration: string
  reason: string
}

interface Aimed {
  id: string
  name: string
  messageId?: string | undefined
}

/** Acts on a person in a room, and tells of it, with an offer to undo what can be undone; false where it was refused. */
export function usePersonAct(live: LiveRoom) {
  const client = useClient()
  const tell = useTell()
  const doAct = useAct()
  return useCallback(
    async (action: PersonAct, person: Aimed, { duration, reason }: Terms): Promise<boolean> => {
      const { hasLength, undoneBy, done, undone } = personActs[action]
      const room = live.ref
      const target = person.id
      const name = nameOf(person.name, target)
      const why = reason.trim() || null
      if (action === 'kick') {
        await client.rooms.kick({ room, address: target, ...(why && { reason: why }) })
        tell(done(name, null))
        return true
      }
      const acted = await doAct(
        { room, target, action, reason: why, message_id: person.messageId ?? null, ...(hasLength && { duration }) },
        done(name, lengthText(duration)),
        undoneBy && { act: { room, target, action: undoneBy }, done: undone(name) },
      )
      return acted !== null
    },
    [client, tell, doAct, live],
  )
}

/** Null of what is permanent. */
function lengthText(duration: string): string | null {
  const known = lengths.find((one) => one === duration)
  if (known === 'permanent') return null
  return known ? t.lengths[known] : duration
}

interface Offered {
  /** Its row in the table of keys; null if there is none. */
  key: KeyAction | null
  title: string
  icon: IconName
  /** Whether it takes away what others wrote, or somebody's place: such acts are kept apart, and are red. */
  isGrave: boolean
  /** Whether it has a button of its own while somebody moderates. */
  isQuick: boolean
}

/** An act on the message itself, done at once. */
interface DirectAct extends Offered {
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
    pin: { act: { room: live.ref, action: 'pin', message_id }, done: t.done.pin },
    unpin: { act: { room: live.ref, action: 'unpin', message_id }, done: t.done.unpin },
  } as const
  const [way, back] = is_pinned ? [ways.unpin, ways.pin] : [ways.pin, ways.unpin]
  const title = is_pinned ? t.actions.unpin : t.actions.pin
  const of = nameOf(sender.name, sender_address)
  return { key: 'pin', title, icon: 'pin', isGrave: false, isQuick: false, of, ...way, undo: back }
}

function deleting({ id: message_id, sender, sender_address }: LocalMessage, live: LiveRoom): DirectAct {
  return {
    key: 'deleteMessage',
    title: t.actions.delete,
    icon: 'bin',
    isGrave: true,
    isQuick: false,
    of: nameOf(sender.name, sender_address),
    act: { room: live.ref, action: 'delete', message_id },
    done: t.done.delete,
    undo: null,
  }
}

function onSender({ id: messageId, sender, sender_address: id }: LocalMessage): readonly AskedAct[] {
  const person = { id, name: nameOf(sender.name, id), messageId }
  const asking = (asks: PersonAct, key: KeyAction | null, duration: string, wanted?: string): AskedAct => {
    const { icon, question, ...act } = personActs[asks]
    const isGrave = question !== null
    const title = wanted ?? act.title
    return { key, title, icon, isGrave, isQuick: key === 'warn' || key === 'muteHour', asks, duration, person }
  }
  return [
    asking('warn', 'warn', ''),
    asking('mute', 'muteHour', '1h', t.muteFor({ length: t.lengths['1h'] })),
    asking('mute', 'muteDay', '24h', t.muteFor({ length: t.lengths['24h'] })),
    asking('kick', 'kick', ''),
    asking('purge', null, ''),
    asking('ban', 'ban', 'permanent'),
  ]
}
