import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from './random.ts'
import type { World } from './world.ts'

const moodMilliseconds = 700
/** Longer a mood does not wait for somebody to feel it. */
const looksAtMost = 30

/** The object storage dies, hangs, answers 500, breaks bodies off and loses its answers. */
export async function failStorage({ cluster: { services } }: World, random: Random): Promise<void> {
  if (!services) return
  const { front, s3 } = services
  for (const mood of random.shuffled(['failing', 'silent', 'half', 'lost', 'gone', 'held'] as const)) {
    if (mood === 'gone') await s3.kill()
    else if (mood === 'held') s3.hold()
    else front.mood = mood
    const before = front.spoilt
    await pause(moodMilliseconds)
    for (let looks = 0; looks < looksAtMost && front.mood !== 'well' && front.spoilt === before; looks++)
      await pause(moodMilliseconds / 7)
    if (mood === 'gone') await s3.start()
    else if (mood === 'held') s3.release()
    else front.mood = 'well'
  }
}

/** The provider of attendance answers 500, not at all, junk, pages of HTML, another place, and more than anybody reads. */
export async function failProvider({ cluster: { services } }: World, random: Random): Promise<void> {
  if (!services) return
  const { provider } = services
  const moods = ['failing', 'silent', 'junk', 'html', 'elsewhere', 'huge', 'empty things'] as const
  for (const mood of random.shuffled(moods)) {
    provider.mood = mood
    await pause(moodMilliseconds)
  }
  provider.mood = 'well'
}
