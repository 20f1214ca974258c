import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from './random.ts'
import type { World } from './world.ts'

const moodMilliseconds = 1_000

/** The model fails, breaks off, goes on without end and stalls; the facilitator loses its answers, fails and talks nonsense. */
export async function misbehave({ cluster: { facilitator }, provoker }: World, random: Random): Promise<void> {
  provoker.provoke(random.shuffled(['/fail', '/break', '/endless', '/stall']))
  for (const mood of random.shuffled(['lost', 'failing', 'junk'] as const)) {
    facilitator.mood = mood
    await pause(moodMilliseconds)
  }
  facilitator.mood = 'well'
}
