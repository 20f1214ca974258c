// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asGuest, bookable, guestOf, inThreeDays, openAlways } from '#test/support/bookings'
import { type Booted, boot } from '#test/support/boot'
import { outcomeOf, type Person } from '#test/support/people'

let server: Booted
let hosts: Person[]
beforeAll(async () => {
  server = await boot({ environment: { RATE_LIMIT_SCALE: '1' } })
  hosts = [await bookable(server, 'sought'), await bookable(server, 'sought too')]
  for (const host of hosts) await openAlways(host)
})
afterAll(() => server.close())

test('guests at one address book six free calls a day with a host, whoever they say that they are', async () => {
  const [host, other] = hosts
  const outcomes: string[] = []
  for (let one = 0; one < 8; one++) {
    const asked = { recipientAddress: host?.account ?? '', scheduledAt: inThreeDays(one) }
    outcomes.push(outcomeOf(await asGuest(server.url, { ...asked, ...guestOf(`Guest ${one}`) })))
  }
  expect(outcomes).toEqual([
    ...Array.from({ length: 6 }, () => '200'),
    ...Array.from({ length: 2 }, () => '429 RATE_LIMIT_EXCEEDED'),
  ])
  const asked = { recipientAddress: other?.account ?? '', scheduledAt: inThreeDays(0) }
  expect(outcomeOf(await asGuest(server.url, { ...asked, ...guestOf('Guest') }))).toBe('200')
})
