import { createHash, randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Node, SignedIn } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { seal, unseal } from '#server/kernel/seal'
import { isDuplicate } from '#server/ports/database/port'
import { SpentStates } from './model.ts'

const lifeMilliseconds = 600_000
const keptMilliseconds = 3_600_000
const boundTo = 'calendar state'

/** Who was sent to a provider, and by what they are known again. */
const State = z.object({
  id: z.string(),
  account: z.string(),
  session: z.string(),
  challenge: z.string(),
  until: z.number(),
})
type State = z.infer<typeof State>

interface Begun {
  state: string
  /** For the browser that goes there alone. The provider wants it with the code, so that who has stolen a code has nothing. */
  verifier: string
  challenge: string
}

/** What goes to a provider and comes back, sealed: nothing is stored until then. */
export function beginState({ settings, now }: Node, { account, session }: SignedIn): Begun {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = challengeOf(verifier)
  const state: State = { id: newId(), account, session: session.id, challenge, until: now() + lifeMilliseconds }
  return { state: seal(settings.sessionKeys, JSON.stringify(state), boundTo), verifier, challenge }
}

/** Null where this server has not made it, or for something else. */
export function readState({ settings }: Node, state: string): State | null {
  try {
    return State.parse(JSON.parse(unseal(settings.sessionKeys, state, boundTo)))
  } catch {
    return null
  }
}

/** Uses a state up; false where that was done before. Of simultaneous calls exactly one succeeds. */
export async function spendState({ id, until }: State): Promise<boolean> {
  try {
    await SpentStates.create({ _id: id, expires_at: new Date(until + keptMilliseconds) })
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url')
