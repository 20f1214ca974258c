import { useCallback } from 'react'
import type { moderation } from '#shared/api/moderation/moderation'
import type { ModerationAction } from '#shared/api/moderation/moderation-acts'
import type { LogAction } from '#shared/api/moderation/moderation-records'
import type { CallOf, OutputOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { isChatType } from '#shared/kit/room-kinds'
import { useClient } from '../connection/client.ts'
import { listOf } from '../kit/format.ts'
import type { IconName } from '../kit/icon.tsx'
import { problemText } from '../kit/problem.ts'
import { useTell } from '../kit/toasts.tsx'
import { moderationTexts as t } from '../texts/moderation.ts'

export type Act = CallOf<typeof moderation.act>
type Acted = OutputOf<typeof moderation.act>

export const lengths = ['10m', '1h', '24h', '7d', 'permanent'] as const

/** The act that takes another one back, and the text of its toast. */
export interface Undo {
  act: Act
  done: string
}

/** Runs a moderator's act, and shows a toast with its effect, how long it took and, while the toast is there, a button that undoes it. */
export function useAct(): (act: Act, done: string, undo?: Undo | null) => Promise<Acted | null> {
  const client = useClient()
  const tell = useTell()
  return useCallback(
    async (act, done, undo = null) => {
      const run = async (what: Act) => {
        const startedAt = performance.now()
        const acted = await client.moderation.act(what)
        const time = Math.round(performance.now() - startedAt)
        return { acted, effect: (text: string) => effectText(text, acted.effects, time) }
      }
      const takeBack = async ({ act: reverse, done: undone }: Undo) => {
        hide()
        await run(reverse).then(
          ({ effect }) => tell(effect(undone)),
          (error) => tell(problemText(error)),
        )
      }
      let hide = () => {}
      try {
        const { acted, effect } = await run(act)
        hide = tell(effect(done), undo ? { title: t.done.undo, onPress: () => void takeBack(undo) } : undefined)
        return acted
      } catch (error) {
        tell(problemText(error))
        return null
      }
    },
    [client, tell],
  )
}

function effectText(done: string, effects: Acted['effects'], time: number): string {
  const { sockets_removed, messages_removed, pending_nodes } = effects
  const parts = [
    sockets_removed > 0 ? t.effect.connections({ count: sockets_removed }) : '',
    messages_removed > 0 ? t.effect.messages({ count: messages_removed }) : '',
    pending_nodes > 0 ? t.effect.servers({ count: pending_nodes }) : '',
  ].filter(Boolean)
  return parts.length > 0 ? t.effect.parts({ done, parts: listOf(parts), time }) : t.effect.everywhere({ done, time })
}

/** The name of a room in the paths of the moderation operations. */
export const chatOf = ({ type, id }: RoomRef) => ({
  chatType: isChatType(type) ? type : ('alpha' as const),
  chatId: id,
})

interface Words {
  /** The part of the sentence before the name of the person. */
  text: string
  icon: IconName
}

/** The text for each act, by its name in the moderation log or in the room event. */
const words: Readonly<Record<LogAction | ModerationAction, Words>> = {
  mute: { text: t.acts.mute, icon: 'mute' },
  unmute: { text: t.acts.unmute, icon: 'mute' },
  ban: { text: t.acts.ban, icon: 'block' },
  room_ban: { text: t.acts.ban, icon: 'block' },
  unban: { text: t.acts.unban, icon: 'check' },
  room_unban: { text: t.acts.unban, icon: 'check' },
  delete: { text: t.acts.delete, icon: 'bin' },
  pin: { text: t.acts.pin, icon: 'pin' },
  unpin: { text: t.acts.unpin, icon: 'pin' },
  purge: { text: t.acts.purge, icon: 'bin' },
  warn: { text: t.acts.warn, icon: 'warn' },
  kick: { text: t.acts.kick, icon: 'shield' },
  promote: { text: t.acts.promote, icon: 'star' },
  promote_mod: { text: t.acts.promote, icon: 'star' },
  demote: { text: t.acts.demote, icon: 'star' },
  demote_mod: { text: t.acts.demote, icon: 'star' },
  invite: { text: t.acts.invite, icon: 'shield' },
  uninvite: { text: t.acts.uninvite, icon: 'shield' },
  set_role: { text: t.acts.set_role, icon: 'shield' },
  admin_role: { text: t.acts.admin_role, icon: 'shield' },
  suspend: { text: t.acts.suspend, icon: 'block' },
  unsuspend: { text: t.acts.unsuspend, icon: 'check' },
  archive: { text: t.acts.archive, icon: 'shield' },
  rules: { text: t.acts.rules, icon: 'book' },
  word_add: { text: t.acts.word_add, icon: 'shield' },
  word_remove: { text: t.acts.word_remove, icon: 'shield' },
}

/** Names of acts that only events have; the log has others for them. */
const ofEvents = ['ban', 'unban', 'promote', 'demote']
/** The acts by which the log can be asked. */
export const loggedActs: readonly string[] = Object.keys(words).filter((name) => !ofEvents.includes(name))

/** The text for an act; an act that only a newer server knows is shown by its name. */
export function actWords(action: string): Words {
  const known: Readonly<Partial<Record<string, Words>>> = words
  return (Object.hasOwn(words, action) && known[action]) || { text: action.replaceAll(/[_-]/g, ' '), icon: 'shield' }
}

export const actText = (action: string): string => actWords(action).text
