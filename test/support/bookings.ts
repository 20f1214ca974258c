import { expect } from 'vitest'
import type { booking } from '#shared/api/meetings/booking'
import { scheduling } from '#shared/api/meetings/scheduling'
import type { CallOf } from '#shared/kit/contract'
import type { Booted } from './boot.ts'
import { codeIn, letterAfter } from './letters.ts'
import { type Person, person } from './people.ts'
import { call } from './wallet.ts'

type Settings = CallOf<typeof scheduling.configure>

/** Gives an account the email address that others are called at, by the code that it is sent. */
export async function verifyEmail(server: Pick<Booted, 'url'>, who: Person, email: string): Promise<void> {
  const code = codeIn(await letterAfter(server, email, () => who.rest('POST /api/email/send-code', { email })))
  expect((await who.rest('POST /api/email/verify-code', { email, code })).status).toBe(200)
}

/** Somebody who can be booked as soon as they have windows. */
export async function bookable(server: Booted, name: string, more: Settings = {}): Promise<Person> {
  const who = await person(server, name)
  await verifyEmail(server, who, `${name.replace(/\W+/g, '-')}@example.test`)
  await who.does('rest', scheduling.configure, { scheduling_enabled: true, ...more })
  return who
}

/** Windows over all of each week, by the clocks of UTC. */
export async function openAlways(who: Person): Promise<void> {
  for (let dayOfWeek = 0; dayOfWeek < 7; dayOfWeek++)
    await who.does('rest', scheduling.setWindow, { dayOfWeek, startTime: '00:00', endTime: '24:00' })
}

/** A time on the third day from now, at the full hour of UTC. */
export function inThreeDays(hour: number, now = Date.now()): string {
  const day = new Date(now + 3 * 86_400_000).toISOString().slice(0, 10)
  return `${day}T${String(hour).padStart(2, '0')}:00:00.000Z`
}

/** A booking by somebody without an account. */
export const guestOf = (name: string) => ({
  guestName: name,
  guestEmail: `${name.toLowerCase().replace(/\W+/g, '.')}@example.test`,
})

/** Asks to book without a session. */
export const asGuest = (url: string, input: CallOf<typeof booking.schedule>) =>
  call(url, 'POST /api/scheduling/schedule', input)
