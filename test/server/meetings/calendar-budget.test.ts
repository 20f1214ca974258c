// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fakeCalendars } from '#server/ports/calendar/fake'
import { asGuest, bookable, guestOf, inThreeDays, openAlways } from '#test/support/bookings'
import { type Booted, boot } from '#test/support/boot'
import { connectCalendar } from '#test/support/calendars'
import { heavy } from '#test/support/heavy'
import { outcomeOf } from '#test/support/people'
import { call } from '#test/support/wallet'

const calendars = fakeCalendars()
let server: Booted
beforeAll(async () => {
  server = await boot({ services: { calendars }, environment: { RATE_LIMIT_SCALE: '1', MAIL_URL: 'captured' } })
})
afterAll(() => server.close())

test(
  'T87: a calendar is asked no more than so often, and who looks far ahead or books takes nothing from those who look',
  heavy,
  async () => {
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
  },
)
