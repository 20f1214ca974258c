// Modes: embedded
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { scheduleOlderRefreshes } from '#server/domains/meetings/calendar/connections'
import { Connections } from '#server/domains/meetings/calendar/model'
import { fakeCalendars } from '#server/ports/calendar/fake'
import { booking } from '#shared/api/meetings/booking'
import { calendar } from '#shared/api/meetings/calendar'
import { scheduling } from '#shared/api/meetings/scheduling'
import { identity } from '#shared/api/people/identity'
import { asGuest, bookable, guestOf, inThreeDays, openAlways } from '#test/support/bookings'
import { type Booted, boot } from '#test/support/boot'
import { beginConnecting, comeBack, connectCalendar } from '#test/support/calendars'
import { heavy } from '#test/support/heavy'
import { loggerInto } from '#test/support/logged'
import { outcomeOf, over, type Person, person } from '#test/support/people'
import { call } from '#test/support/wallet'

const hour = 3_600_000
const day = 24 * hour
const calendars = fakeCalendars()
const lines: string[] = []
let server: Booted
beforeAll(async () => {
  server = await boot({
    services: { calendars },
    change: (platform) => ({ ...platform, logger: loggerInto(lines) }),
  })
})
afterAll(() => server.close())
afterEach(() => {
  calendars.away = null
  server.setAhead(0)
})

let people = 0
const somebody = () => person(server, `keeps a calendar ${++people}`)
async function host(): Promise<Person> {
  const who = await bookable(server, `keeps calls ${++people}`, { scheduling_advance_notice_hours: 0 })
  await openAlways(who)
  return who
}
const statusOf = (who: Person) => who.does('rest', calendar.status, {})
const askedOf = (who: Person, what: string) => calendars.asked.filter((one) => one === `${what} ${who.account}`).length
const eventsOf = (who: Person) => [...(calendars.events.get(who.account)?.values() ?? [])]
const refused = (failure: string) => `calendar_error=${failure}`
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 20_000, interval: 50 })

describe('a calendar', () => {
  test.each(over)('is connected, shown to its owner alone, and disconnected, over %s', async (door) => {
    const [who, other] = [await somebody(), await somebody()]
    expect(await who.does(door, calendar.status, {})).toEqual({ connected: false, connection: null, available: true })
    const { asked, state, cookie, given } = await beginConnecting(who)
    expect(asked.get('redirectUri')).toBe('http://localhost:3000/api/calendar/callback')
    expect(given).toMatch(/; HttpOnly; Secure; SameSite=Lax$/)
    expect(given).toContain('; Path=/api/calendar/callback;')
    expect(await comeBack(who.url, { code: who.account, state }, cookie)).toBe('calendar_connected=true')
    const status = await who.does(door, calendar.status, {})
    expect(status).toEqual({
      connected: true,
      available: true,
      connection: {
        id: expect.any(String),
        wallet_address: who.account,
        provider: 'google',
        calendar_id: 'primary',
        calendar_email: expect.stringContaining('@calendars.test'),
        is_active: true,
        last_sync_at: expect.any(String),
        created_at: expect.any(String),
      },
    })
    expect((await other.does(door, calendar.status, {})).connection).toBeNull()
    await other.does(door, calendar.disconnect, {})
    expect(await statusOf(who)).toEqual(status)
    await who.does(door, calendar.disconnect, {})
    expect((await statusOf(who)).connection).toBeNull()
    await until(() => expect(askedOf(who, 'revoke')).toBe(1))
    await who.does(door, calendar.disconnect, {})
  })

  test('is nobody’s who is not signed in, and no other’s', async () => {
    const [who, other] = [await somebody(), await somebody()]
    for (const route of ['GET /api/calendar/connect', 'GET /api/calendar/status', 'POST /api/calendar/disconnect']) {
      expect((await call(server.url, route, route.startsWith('POST') ? {} : null)).status).toBe(401)
      const named = route.startsWith('POST')
        ? await who.rest(route, { userAddress: other.account })
        : await who.rest(`${route}?userAddress=${other.account}`)
      expect(outcomeOf(named)).toBe('403 FORBIDDEN')
    }
  })

  test('that is connected again takes the place of the one before, which is given back', async () => {
    const who = await somebody()
    await connectCalendar(who)
    const before = await statusOf(who)
    await connectCalendar(who, `${who.account} too`)
    const after = await statusOf(who)
    expect(after.connection?.calendar_email).not.toBe(before.connection?.calendar_email)
    await until(() => expect(askedOf(who, 'revoke')).toBe(1))
    expect(await Connections.countDocuments({ wallet_address: who.account })).toBe(1)
  })

  test('of two accounts stays with one when the other disconnects', async () => {
    const [one, other] = [await somebody(), await somebody()]
    await connectCalendar(one, 'shared')
    await connectCalendar(other, 'shared')
    await one.does('rest', calendar.disconnect, {})
    await connectCalendar(one)
    await one.does('rest', calendar.disconnect, {})
    await until(() => expect(askedOf(one, 'revoke')).toBe(1))
    expect(calendars.asked).not.toContain('revoke shared')
    expect((await statusOf(other)).connected).toBe(true)
  })

  test('is given access again by itself, also where an older version has connected it', async () => {
    const who = await somebody()
    await connectCalendar(who)
    await Connections.updateOne({ wallet_address: who.account }, { $set: { refresh_at: new Date(0) } })
    await scheduleOlderRefreshes(server.apps[0]?.node ?? expect.fail())
    await until(() => expect(askedOf(who, 'refresh')).toBe(1))
  })

  test('is given access again by itself within the hour; only its provider ends that', heavy, async () => {
    const who = await somebody()
    await connectCalendar(who)
    const { connection } = await statusOf(who)
    server.setAhead(3_050)
    await until(() => expect(askedOf(who, 'refresh')).toBeGreaterThan(0))
    await until(async () =>
      expect((await statusOf(who)).connection?.last_sync_at ?? '').not.toBe(connection?.last_sync_at),
    )
    calendars.away = 'TIMEOUT'
    const asked = askedOf(who, 'refresh')
    server.setAhead(6_200)
    await until(() => expect(askedOf(who, 'refresh')).toBeGreaterThan(asked))
    // It is asked again, so it is connected still.
    server.setAhead(6_300)
    await until(() => expect(askedOf(who, 'refresh')).toBeGreaterThan(asked + 1))
    expect((await statusOf(who)).connected).toBe(true)
    calendars.away = null
    calendars.ended.add(who.account)
    server.setAhead(6_400)
    await until(async () => expect((await statusOf(who)).connected).toBe(false))
    expect((await statusOf(who)).connection).toMatchObject({ is_active: false })
    await connectCalendar(who)
    expect((await statusOf(who)).connected).toBe(true)
  })
})

describe('T87: who comes back from a provider is led to the page, and connects nothing', () => {
  test('without a code, with a state of no making of ours, or where the provider says no', async () => {
    const who = await somebody()
    const { state, cookie } = await beginConnecting(who)
    const code = who.account
    const spoilt = `${state.slice(0, -2)}${state.endsWith('AA') ? 'BB' : 'AA'}`
    const tries: [query: Record<string, string>, failure: string][] = [
      [{}, 'missing_params'],
      [{ code }, 'missing_params'],
      [{ state }, 'missing_params'],
      [{ code: '', state }, 'missing_params'],
      [{ error: 'access_denied', state }, 'access_denied'],
      [{ error: 'https://evil.test/?<b>', state, code }, 'provider_error'],
      [{ code, state: spoilt }, 'invalid_state'],
      [{ code, state: 'x' }, 'invalid_state'],
      [{ code, state: who.token }, 'invalid_state'],
      [{ code: 'x'.repeat(3_000), state }, 'invalid_state'],
    ]
    for (const [query, failure] of tries)
      expect([query, await comeBack(who.url, query, cookie)]).toEqual([query, refused(failure)])
    expect((await statusOf(who)).connection).toBeNull()
    expect(await comeBack(who.url, { code, state }, cookie)).toBe('calendar_connected=true')
  })

  test('in another browser, with the state of somebody else, or with one that was used', async () => {
    const [mallory, victim] = [await somebody(), await somebody()]
    const own = await beginConnecting(victim)
    const { state, cookie } = await beginConnecting(mallory)
    const code = 'of the victim'
    for (const brought of [undefined, own.cookie, 'app_return=', `app_return=${'x'.repeat(43)}`])
      expect(await comeBack(mallory.url, { code, state }, brought)).toBe(refused('other_browser'))
    const query = { code: mallory.account, state }
    const told = await Promise.all(Array.from({ length: 5 }, () => comeBack(mallory.url, query, cookie)))
    // The fake takes the challenge that was asked with last.
    expect(told.sort()).toEqual(['calendar_connected=true', ...Array.from({ length: 4 }, () => refused('used_state'))])
    expect(askedOf(mallory, 'exchange')).toBe(1)
    expect((await statusOf(victim)).connection).toBeNull()
  })

  test('after ten minutes, or after the session has ended that began it', async () => {
    const who = await somebody()
    const late = await beginConnecting(who)
    server.setAhead(601)
    expect(await comeBack(who.url, { code: who.account, state: late.state }, late.cookie)).toBe(
      refused('expired_state'),
    )
    const { state, cookie } = await beginConnecting(who)
    await who.does('rest', identity.logout, {})
    expect(await comeBack(who.url, { code: who.account, state }, cookie)).toBe(refused('expired_state'))
    expect(askedOf(who, 'exchange')).toBe(0)
  })

  test('where the code is good for nothing, or the provider does not answer', async () => {
    const who = await somebody()
    const first = await beginConnecting(who)
    expect(await comeBack(who.url, { code: 'denied', state: first.state }, first.cookie)).toBe(
      refused('exchange_failed'),
    )
    const second = await beginConnecting(who)
    calendars.away = 'TIMEOUT'
    expect(await comeBack(who.url, { code: who.account, state: second.state }, second.cookie)).toBe(
      refused('provider_away'),
    )
    expect((await statusOf(who)).connection).toBeNull()
  })

  test('to no other address than that of the page', async () => {
    const who = await somebody()
    const { state, cookie } = await beginConnecting(who)
    const evil = { redirect: 'https://evil.test', redirect_uri: 'https://evil.test', return_to: '//evil.test' }
    for (const path of ['/api/calendar/callback', '/api/calendar/callback/', '//evil.test/..//api/calendar/callback']) {
      const query = new URLSearchParams({ ...evil, code: 'denied', state })
      const headers = { cookie, 'x-forwarded-host': 'evil.test' }
      const { headers: told } = await fetch(`${who.url}${path}?${query}`, { redirect: 'manual', headers })
      expect([path, new URL(told.get('location') ?? who.url).hostname]).toEqual([
        path,
        expect.not.stringContaining('evil'),
      ])
    }
  })
})

describe('T87: what opens a calendar', () => {
  test('is stored sealed, told to nobody, and in no line of the log', async () => {
    const who = await host()
    const { state, cookie, authUrl } = await beginConnecting(who)
    await comeBack(who.url, { code: who.account, state }, cookie)
    await comeBack(who.url, { code: who.account, state }, cookie)
    const stored = await Connections.findOne({ wallet_address: who.account }).lean()
    const status = await statusOf(who)
    calendars.away = 'UPSTREAM_ERROR'
    await who.does('rest', scheduling.availability, {})
    calendars.away = null
    calendars.ended.add(who.account)
    await asGuest(who.url, { ...guestOf('Ann'), recipientAddress: who.account, scheduledAt: inThreeDays(9) })
    const [, verifier = '-'] = cookie.split('=')
    expect(authUrl).not.toContain(verifier)
    expect(lines.length).toBeGreaterThan(0)
    for (const secret of [`access of ${who.account}`, `refresh of ${who.account}`, verifier, state])
      for (const [where, text] of Object.entries({ stored: JSON.stringify(stored), status: JSON.stringify(status) }))
        expect([where, text.includes(secret)]).toEqual([where, false])
    for (const secret of ['access of ', 'refresh of ', verifier, state])
      expect(lines.filter((line) => line.includes(secret))).toEqual([])
  })
})

describe('the times at which a calendar is busy', () => {
  /** The third day from now, and noon of it. */
  const noonOf = (asked: string) => Date.parse(`${asked}T12:00:00Z`)
  const dateIn = (days: number) => new Date(Date.now() + days * day).toISOString().slice(0, 10)
  const timesOn = (who: Person, date: string) =>
    call(who.url, `GET /api/scheduling/availability?userAddress=${who.account}&date=${date}`)

  test('are asked for once, however many look', async () => {
    const who = await host()
    await connectCalendar(who)
    // At the beginning of a minute.
    server.setAhead(Math.ceil(60 - ((Date.now() / 1_000) % 60)))
    const date = dateIn(3)
    calendars.kept.set(who.account, [{ start: noonOf(date), end: noonOf(date) + hour }])
    const answers = await Promise.all(Array.from({ length: 20 }, () => timesOn(who, date)))
    const { slots } = scheduling.availability.output.parse(answers[0]?.body)
    const starts = slots.map(({ start }) => start.slice(11, 16))
    expect(starts).toContain('11:30')
    expect(starts).not.toContain('12:00')
    for (const { body } of answers) expect(body).toEqual(answers[0]?.body)
    expect(askedOf(who, 'busy')).toBeLessThanOrEqual(2)
    server.setAhead(130)
    await timesOn(who, date)
    expect(askedOf(who, 'busy')).toBeLessThanOrEqual(4)
    expect(askedOf(who, 'busy')).toBeGreaterThanOrEqual(2)
  })

  test('refuse a booking as they are at that moment, and one that comes too often from an address', async () => {
    const who = await host()
    await connectCalendar(who)
    const start = Date.parse(inThreeDays(12))
    expect((await timesOn(who, inThreeDays(12).slice(0, 10))).body).not.toHaveProperty('calendarError')
    calendars.kept.set(who.account, [{ start, end: start + hour }])
    const asked = { ...guestOf('Ann'), recipientAddress: who.account, scheduledAt: inThreeDays(12) }
    const taken = await asGuest(who.url, asked)
    expect([taken.status, taken.body.source]).toEqual([409, 'calendar'])
    await who.does('rest', scheduling.configure, { scheduling_calendar_sync: false })
    expect((await asGuest(who.url, asked)).status).toBe(200)
    expect(eventsOf(who)).toEqual([])
  })

  test('are not known while the link is broken: nobody is offered a time, and nothing is booked', async () => {
    const who = await host()
    await connectCalendar(who)
    calendars.ended.add(who.account)
    const asked = { ...guestOf('Ann'), recipientAddress: who.account, scheduledAt: inThreeDays(9) }
    expect(outcomeOf(await asGuest(who.url, asked))).toBe('503 SERVICE_UNAVAILABLE')
    expect(await statusOf(who)).toMatchObject({ connected: false, connection: { is_active: false } })
    const { body } = await timesOn(who, dateIn(3))
    expect(body).toMatchObject({ availableSlots: [], message: expect.any(String), calendarError: true })
    const before = askedOf(who, 'busy')
    await timesOn(who, dateIn(4))
    expect(askedOf(who, 'busy')).toBe(before)
    await who.does('rest', calendar.disconnect, {})
    expect((await asGuest(who.url, asked)).status).toBe(200)
  })
})

describe('a call', () => {
  test('stands in the calendar of its host once, until it is cancelled', async () => {
    const [who, booker] = [await host(), await somebody()]
    await connectCalendar(who)
    const scheduledAt = inThreeDays(9)
    const asked = { recipientAddress: who.account, scheduledAt, title: 'Tea' }
    const { id, invite_token, calendar_event_id } = await booker.does('rest', booking.schedule, asked)
    expect(calendar_event_id).toBeNull()
    await until(() => expect(eventsOf(who)).toHaveLength(1))
    const start = Date.parse(scheduledAt)
    const [event] = eventsOf(who)
    expect(event).toMatchObject({ title: 'Tea', start, end: start + 15 * 60_000 })
    expect(event?.description).toBe(`http://localhost:3000/join/${invite_token}`)
    await until(async () => {
      const { calls } = await who.does('rest', booking.calls, {})
      expect(calls.find((one) => one.id === id)?.calendar_event_id).toBe(event?.id)
    })
    await booker.does('rest', booking.cancel, { id, status: 'cancelled' })
    await until(() => expect(eventsOf(who)).toEqual([]))
  })

  test('of one’s own stands there too; one that is booked while the calendar is away comes later', async () => {
    const who = await host()
    await connectCalendar(who)
    await who.does('rest', booking.createShareable, { scheduledAt: inThreeDays(9) })
    await until(() => expect(eventsOf(who)).toHaveLength(1))
    const spy = vi.spyOn(calendars, 'insert').mockRejectedValueOnce(new Error('away'))
    await who.does('rest', booking.createShareable, { scheduledAt: inThreeDays(11) })
    await until(() => expect(eventsOf(who)).toHaveLength(2))
    expect(spy).toHaveBeenCalledTimes(2)
    spy.mockRestore()
  })
})
