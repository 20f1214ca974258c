import { useCallback } from 'react'
import type { moderation } from '#shared/api/moderation'
import type { CallOf, OutputOf } from '#shared/kit/contract'
import type { RoomRef } from '#shared/kit/primitives'
import { isChatType } from '#shared/kit/room-kinds'
import { useClient } from '../connection/client.ts'
import { plural } from '../kit/format.ts'
import { problemText } from '../kit/problem.ts'
import { useTell } from '../kit/toasts.tsx'

export type Act = CallOf<typeof moderation.act>
type Acted = OutputOf<typeof moderation.act>

export const reasons = ['spam', 'insults', 'off topic', 'scam', 'flooding'] as const
export const lengths = [
  { duration: '10m', title: '10 min' },
  { duration: '1h', title: '1 h' },
  { duration: '24h', title: '24 h' },
  { duration: '7d', title: '7 days' },
  { duration: 'permanent', title: 'for good' },
] as const

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
        return { acted, effect: `${effectText(acted.effects)} in ${Math.round(performance.now() - startedAt)} ms.` }
      }
      const takeBack = async ({ act: reverse, done: undone }: Undo) => {
        hide()
        await run(reverse).then(
          ({ effect }) => tell(`${undone}${effect}`),
          (error) => tell(problemText(error)),
        )
      }
      let hide = () => {}
      try {
        const { acted, effect } = await run(act)
        hide = tell(`${done}${effect}`, undo ? { title: 'Undo', onPress: () => void takeBack(undo) } : undefined)
        return acted
      } catch (error) {
        tell(problemText(error))
        return null
      }
    },
    [client, tell],
  )
}

function effectText(effects: Acted['effects']): string {
  const parts = [
    effects.sockets_removed > 0 ? `removed from ${plural(effects.sockets_removed, 'connection')}` : '',
    effects.messages_removed > 0 ? `${plural(effects.messages_removed, 'message')} removed` : '',
    effects.pending_nodes > 0 ? `${plural(effects.pending_nodes, 'server')} still to confirm` : '',
  ].filter(Boolean)
  return parts.length > 0 ? `, ${parts.join(', ')}` : ', in effect everywhere'
}

/** The name of a room in the paths of the moderation operations. */
export const chatOf = ({ type, id }: RoomRef) => ({
  chatType: isChatType(type) ? type : ('alpha' as const),
  chatId: id,
})
