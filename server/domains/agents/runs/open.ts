import { randomInt } from 'node:crypto'
import { ownChat } from './history.ts'
import { Runs, type StoredRun } from './model.ts'

const openInChat = 5
const openOfAccount = 20

interface Asked {
  agent: string
  account: string
  place: string
}

export type Places = Pick<StoredRun, 'of_account' | 'of_chat'>

/** Takes no place: what is owed is answered however many are open. */
export const unplaced: Places = {}

/**
 * Places for one more open question, which unique indexes let no two take; null where the asker has as many open as they may. One of them at
 * random, as simultaneous calls then seldom choose the same.
 */
export async function freePlaces({ agent, account, place }: Asked): Promise<Places | null> {
  const open = await Runs.find({ account, state: 'running' })
    .select({ agent_id: 1, of_account: 1, of_chat: 1 })
    .lean<(Places & Pick<StoredRun, 'agent_id'>)[]>()
  const of_account = freeAmong(
    openOfAccount,
    open.map((run) => run.of_account),
  )
  if (of_account === null) return null
  if (place !== ownChat) return { of_account }
  const inChat = open.flatMap((run) => (run.agent_id === agent ? [run.of_chat] : []))
  const of_chat = freeAmong(openInChat, inChat)
  return of_chat === null ? null : { of_account, of_chat }
}

function freeAmong(most: number, taken: readonly (number | undefined)[]): number | null {
  const free = Array.from({ length: most }, (_, place) => place).filter((place) => !taken.includes(place))
  return free[free.length === 0 ? 0 : randomInt(free.length)] ?? null
}
