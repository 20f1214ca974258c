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

/** The caller who was sent to a provider. */
const State = z.object({
  id: z.string(),
  account: z.string(),
  session: z.string(),
  challenge: z.string(),
  until: z.number(),
})
type State = z.infer<typeof State>

interface NewState {
  state: string
  /** Stored in the browser alone; the provider wants it with the code, so a stolen code is useless. */
  verifier: string
  challenge: string
}

/** A sealed state for the provider; nothing is stored before its return. */
export function newCalendarState({ settings, now }: Node, { account, session }: SignedIn): NewState {
  const verifier = randomBytes(32).toString('base64url')
  const challenge = challengeOfVerifier(verifier)
  const state: State = { id: newId(), account, session: session.id, challenge, until: now() + lifeMilliseconds }
  return { state: seal(settings.sessionKeys, JSON.stringify(state), boundTo), verifier, challenge }
}

/** Null for a state of another origin or use. */
export function readCalendarState({ settings }: Node, state: string): State | null {
  try {
    return State.parse(JSON.parse(unseal(settings.sessionKeys, state, boundTo)))
  } catch {
    return null
  }
}

/** Uses a state; false if it was used. Of simultaneous calls exactly one succeeds. */
export async function spendCalendarState({ id, until }: State): Promise<boolean> {
  try {
    await SpentStates.create({ _id: id, expires_at: new Date(until + keptMilliseconds) })
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

export const challengeOfVerifier = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url')
