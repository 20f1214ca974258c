// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fakeCalendars } from '#server/ports/calendar/fake'
import { booking } from '#shared/api/booking'
import { asGuest, bookable, guestOf, inThreeDays, openAlways } from '#test/support/bookings'
import { type Booted, boot } from '#test/support/boot'
import { connectCalendar } from '#test/support/calendars'
import { outcomeOf, over, type Person, person } from '#test/support/people'
import { call } from '#test/support/wallet'

const calendars = fakeCalendars()
let server: Booted
let hosts: Person[]
beforeAll(async () => {
  server = await boot({ services: { calendars }, environment: { RATE_LIMIT_SCALE: '1', MAIL_URL: 'captured' } })
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

test('an account sends thirty invitations a day', async () => {
  const who = await person(server, 'invites')
  const { id: callId } = await who.does('rest', booking.createShareable, { scheduledAt: inThreeDays(9) })
  const outcomes: string[] = []
  for (let one = 0; one < 31; one++) {
    const asked = { callId, schedulerEmail: `budget.${one}@example.test` }
    outcomes.push(outcomeOf(await who.tries(over[one % 2] ?? 'rest', booking.invite, asked)))
  }
  expect(outcomes).toEqual([...Array.from({ length: 30 }, () => '200'), '429 RATE_LIMIT_EXCEEDED'])
})

test('T87: a calendar is asked no more than so often, and who looks far ahead or books takes nothing from those who look', async () => {
  const host = await bookable(server, 'sought by many')
  await openAlways(host)
  await connectCalendar(host)
  const date = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const look = (days: number) =>
    call(server.url, `GET /api/scheduling/availability?userAddress=${host.account}&date=${date(days)}`)
  const asked = () => calendars.asked.filter((one) => one === `busy ${host.account}`).length
  for (let far = 0; far < 40; far++) await look(200 + 40 * far)
  expect((await look(200 + 40 * 41)).body).toMatchObject({ calendarError: true })
  expect(asked()).toBe(30)
  const { body } = await look(3)
  expect(body).not.toHaveProperty('calendarError')
  expect(body.slots).not.toEqual([])

  const start = Date.parse(inThreeDays(9))
  calendars.kept.set(host.account, [{ start, end: start + 3_600_000 }])
  const outcomes: string[] = []
  const booked = { recipientAddress: host.account, scheduledAt: inThreeDays(9), ...guestOf('Guest') }
  for (let one = 0; one < 12; one++) outcomes.push(outcomeOf(await asGuest(server.url, booked)))
  expect(outcomes).toEqual([
    ...Array.from({ length: 10 }, () => '409 SLOT_TAKEN'),
    ...Array.from({ length: 2 }, () => '429 RATE_LIMIT_EXCEEDED'),
  ])
})
