import { useCallback } from 'react'
import type { LiveRoom } from '#client/sdk/types'
import { useClient } from '../connection/client.ts'
import { nameOf } from '../kit/format.ts'
import type { IconName } from '../kit/icon.tsx'
import { useTell } from '../kit/toasts.tsx'
import { confirmationTexts } from '../texts/confirmations.ts'
import { moderationTexts as t } from '../texts/moderation.ts'
import { lengths, useAct } from './acts.ts'

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

/** How long an act holds, and what the person is told of why. */
export interface Terms {
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
