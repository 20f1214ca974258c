import { useCallback } from 'react'
import type { LiveRoom } from '#client/sdk/types'
import { useClient } from '../connection/client.ts'
import { nameOf } from '../kit/format.ts'
import type { IconName } from '../kit/icon.tsx'
import { useTell } from '../kit/toasts.tsx'
import { lengths, useAct } from './acts.ts'

export type PersonAct = 'mute' | 'warn' | 'kick' | 'purge' | 'ban'

interface Look {
  title: string
  icon: IconName
  hasLength: boolean
  isGrave: boolean
  /** What takes it back. */
  undoneBy: 'unmute' | 'unban' | null
  done: (name: string, length: string) => string
  undone: (name: string) => string
}

const never = { hasLength: false, isGrave: false, undoneBy: null, undone: () => '' } as const

/** What a moderator may do to a person, in the order in which it is offered: what is grave is last. */
export const personActs: Readonly<Record<PersonAct, Look>> = {
  mute: {
    title: 'Mute',
    icon: 'mute',
    hasLength: true,
    isGrave: false,
    undoneBy: 'unmute',
    done: (name, length) => `${name} muted ${length}`,
    undone: (name) => `${name} unmuted`,
  },
  warn: { ...never, title: 'Warn', icon: 'warn', done: (name) => `${name} warned` },
  kick: { ...never, title: 'Kick', icon: 'back', done: (name) => `${name} was taken out of the room.` },
  purge: {
    ...never,
    title: 'Purge messages',
    icon: 'bin',
    isGrave: true,
    done: (name) => `Messages of ${name} purged`,
  },
  ban: {
    title: 'Ban',
    icon: 'block',
    hasLength: true,
    isGrave: true,
    undoneBy: 'unban',
    done: (name, length) => `${name} banned ${length}`,
    undone: (name) => `Ban of ${name} lifted`,
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
        tell(done(name, ''))
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

const lengthText = (duration: string): string => {
  const title = lengths.find((one) => one.duration === duration)?.title ?? duration
  return duration === 'permanent' ? title : `for ${title}`
}
