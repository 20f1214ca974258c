import type { Node } from '#server/kernel/context'
import { actorOf } from './entries.ts'
import { becomeMember } from './membership.ts'
import { Rooms } from './model.ts'

export const ALPHA = 'alpha'

/** The room everybody is in from the first sign-in; whoever left it stays out until the next one. */
export async function joinAlpha(node: Node, account: string): Promise<void> {
  const actor = await actorOf(account)
  await node.log.act<null>(ALPHA, {
    sender: account,
    judge: (view, now) => {
      const judged = becomeMember(view, now, actor, { invited: true })
      return 'refuse' in judged ? { already: null } : judged
    },
  })
}

/** Rooms that are there from the first start. */
export async function ensureAlpha(): Promise<void> {
  const now = new Date().toISOString()
  const fields = {
    type: 'alpha',
    id: null,
    name: 'Alpha',
    description: 'Everybody is here.',
    emoji: '🌐',
    category: 'general',
    is_official: true,
    created_at: now,
    updated_at: now,
  }
  await Rooms.updateOne({ _id: ALPHA }, { $setOnInsert: fields }, { upsert: true }).catch(
    (error: { code?: number }) => {
      if (error.code !== 11000) throw error
    },
  )
}
