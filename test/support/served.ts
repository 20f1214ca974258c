import { expect } from 'vitest'
import type { RoomRef } from '#shared/kit/primitives'
import { type Person, say } from './people.ts'

/** Ten times what is promised to all but one of a hundred messages. */
export const ceilingMilliseconds = 2_500

/** What somebody says while others do harm is answered in time. */
export async function isServed(who: Person, room: RoomRef, text: string): Promise<void> {
  const began = performance.now()
  await say(who, room, text)
  expect(performance.now() - began).toBeLessThan(ceilingMilliseconds)
}
