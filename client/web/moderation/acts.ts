import { useCallback } from 'react'
import type { moderation } from '#shared/api/moderation/moderation'
import type { CallOf, OutputOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { isChatType } from '#shared/kit/room-kinds'
import { useClient } from '../connection/client.ts'
import { listOf } from '../kit/format.ts'
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
