// Modes: embedded
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { Settings } from '#server/domains/meetings/scheduling/model'
import { fakeCalendars } from '#server/ports/calendar/fake'
import { scheduling } from '#shared/api/meetings/scheduling'
import type { CallOf } from '#shared/kit/contract'
import { bookable as bookableOn, openAlways } from '#test/support/bookings'
import { type Booted, boot } from '#test/support/boot'
import { connectCalendar } from '#test/support/calendars'
import { heavy } from '#test/support/heavy'
import { outcomeOf, over, type Person, person } from '#test/support/people'

const calendars = fakeCalendars()
const hour = 3_600_000
const day = 24 * hour
let server: Booted
beforeAll(async () => {
  server = await boot({ services: { calendars } })
})
afterAll(() => server.close())
afterEach(() => {
  calendars.away = null
})

let people = 0
const somebody = () => person(server, `booked ${++people}`)

const bookable = (more: CallOf<typeof scheduling.configure> = {}) => bookableOn(server, `booked ${++people}`, more)
const slotsOf = async (who: Person, more: CallOf<typeof scheduling.availability> = {}) =>
  (await who.does('rest', scheduling.availability, { userAddress: who.account, ...more })).availableSlots

describe('the settings of scheduling', () => {
  test.each(over)('are the defaults at first, and keep what is set, over %s', async (door) => {
    const who = await somebody()
    expect(await who.does(door, scheduling.settings, {})).toEqual({
      scheduling_enabled: false,
      scheduling_slug: null,
      scheduling_title: null,
      scheduling_bio: null,
      scheduling_free_enabled: true,
      scheduling_paid_enabled: false,
      scheduling_free_duration_minutes: 15,
      scheduling_paid_duration_minutes: 30,
      scheduling_price_cents: 0,
      scheduling_network: 'base',
      scheduling_wallet_address: null,
      scheduling_duration_minutes: 30,
      scheduling_buffer_minutes: 15,
      scheduling_advance_notice_hours: 24,
      scheduling_calendar_sync: true,
      payable: false,
    })
    const title = { scheduling_title: 'Half an hour', scheduling_free_duration_minutes: 20 }
    await who.does(door, scheduling.configure, title)
    await who.does(door, scheduling.configure, { scheduling_bio: 'About tea' })
    expect(await who.does(door, scheduling.settings, {})).toMatchObject({ ...title, scheduling_bio: 'About tea' })
    const { settings } = await who.does(door, scheduling.configure, { scheduling_title: null })
    expect(settings).toMatchObject({ scheduling_title: null, scheduling_bio: 'About tea' })
    expect(await who.does(door, scheduling.settings, {})).toEqual(settings)
  })

  test.each(over)('say whether payments of their network are carried out here, over %s', async (door) => {
    const who = await somebody()
    const on = async (scheduling_network: 'base' | 'base-sepolia' | 'polygon') => {
      const { settings } = await who.does(door, scheduling.configure, { scheduling_network })
      expect((await who.does(door, scheduling.settings, {})).payable).toBe(settings.payable)
      return settings.payable
    }
    expect([await on('base-sepolia'), await on('base'), await on('polygon')]).toEqual([true, false, false])
  })

  test.each(over)('are refused where they do not fit, over %s', async (door) => {
    const who = await somebody()
    const outcome = async (input: object) => outcomeOf(await who.tries(door, scheduling.configure, input))
    expect(await outcome({ scheduling_enabled: true })).toBe('400 EMAIL_NOT_VERIFIED')
    expect(await outcome({ scheduling_paid_enabled: true, scheduling_price_cents: 500 })).toBe('400 VALIDATION_ERROR')
    for (const scheduling_slug of ['admin', 'admin-team'])
      expect(await outcome({ scheduling_slug })).toBe('409 SLUG_TAKEN')
    expect((await who.does(door, scheduling.settings, {})).scheduling_slug).toBeNull()
    const scheduling_wallet_address = who.account
    const paid = { scheduling_paid_enabled: true, scheduling_price_cents: 500, scheduling_wallet_address }
    expect(await outcome(paid)).toBe('200')
    expect(await outcome({ scheduling_wallet_address: null })).toBe('400 VALIDATION_ERROR')
    expect((await who.does(door, scheduling.settings, {})).scheduling_wallet_address).toBe(who.account)
  })

  test.each([
    ['scheduling_price_cents', [0.5, 1e-7, -1, 1_000_001, '100', { $gt: 0 }]],
    ['scheduling_free_duration_minutes', [0, -15, 1.5, 1_441, ['15']]],
    ['scheduling_buffer_minutes', [-1, '15', null]],
    ['scheduling_network', ['mars', 'Base', { $ne: 'base' }]],
    ['scheduling_slug', ['ab', 'Upper', 'a b c', 'x'.repeat(31), { $ne: null }]],
    ['scheduling_title', ['\u202eevil', '\u200b', 'x'.repeat(101)]],
    ['scheduling_wallet_address', ['0x12', 'nobody']],
  ])('T20, T22, T68: %s takes no other value', async (field, values) => {
    const who = await somebody()
    for (const value of values)
      for (const door of over) {
        const answer = await who.tries(door, scheduling.configure, { [field]: value })
        expect([value, outcomeOf(answer)]).toEqual([value, '400 VALIDATION_ERROR'])
      }
    expect((await who.rest('GET /api/scheduling/settings')).body).toMatchObject({ scheduling_price_cents: 0 })
  })

  test.each(over)('lose no field where several are set at the same time, over %s', async (door) => {
    const who = await somebody()
    const given = {
      scheduling_title: 'Tea',
      scheduling_bio: 'About tea',
      scheduling_buffer_minutes: 5,
      scheduling_duration_minutes: 45,
      scheduling_advance_notice_hours: 2,
      scheduling_calendar_sync: false,
    }
    const fields = Object.entries(given).map(([name, value]) => ({ [name]: value }))
    await Promise.all(fields.map((field) => who.does(door, scheduling.configure, field)))
    expect(await who.does(door, scheduling.settings, {})).toMatchObject(given)
    await Promise.all(fields.map((field) => who.does(door, scheduling.configure, field)))
    expect(await who.does(door, scheduling.settings, {})).toMatchObject(given)
  })

  test('are judged together with what is set at the same time', async () => {
    const who = await somebody()
    const scheduling_wallet_address = who.account
    const paid = { scheduling_paid_enabled: true, scheduling_price_cents: 500 }
    for (let time = 0; time < 5; time++) {
      await who.does('rest', scheduling.configure, { scheduling_wallet_address, scheduling_paid_enabled: false })
      await Promise.all([
        who.tries('rest', scheduling.configure, { scheduling_wallet_address: null }),
        who.tries('rest', scheduling.configure, paid),
      ])
      const { scheduling_wallet_address: wallet, scheduling_paid_enabled } = await who.does(
        'rest',
        scheduling.settings,
        {},
      )
      expect(scheduling_paid_enabled && wallet === null).toBe(false)
    }
  })

  test('a slug is of one person, in a race too, and free once it is given up', async () => {
    const racers = await Promise.all(Array.from({ length: 6 }, somebody))
    const slug = { scheduling_slug: 'tea-time' }
    const outcomes = await Promise.all(
      racers.map(async (who) => outcomeOf(await who.tries('rest', scheduling.configure, slug))),
    )
    expect(outcomes.sort()).toEqual(['200', ...Array.from({ length: 5 }, () => '409 SLUG_TAKEN')])
    for (const who of racers) await who.does('rest', scheduling.configure, { scheduling_slug: null })
    await racers[0]?.does('rest', scheduling.configure, slug)
  })

  test('a slug that its person has already may be set again, also where it is reserved by now', async () => {
    const who = await somebody()
    await who.does('rest', scheduling.configure, { scheduling_slug: 'tea-room' })
    await Settings.updateOne({ _id: who.account }, { $set: { scheduling_slug: 'admin' } })
    const given = { scheduling_slug: 'admin', scheduling_title: 'Tea' }
    expect((await who.does('rest', scheduling.configure, given)).settings).toMatchObject(given)
  })

  test('T09: others see them of who can be booked, and else the defaults; nobody sets those of others', async () => {
    const [who, other] = [await bookable({ scheduling_title: 'Tea' }), await somebody()]
    const seen = () => other.does('rest', scheduling.settings, { userAddress: who.account })
    expect(await seen()).toMatchObject({ scheduling_title: 'Tea', scheduling_enabled: true })
    await who.does('rest', scheduling.configure, { scheduling_enabled: false })
    expect(await seen()).toMatchObject({ scheduling_title: null, scheduling_enabled: false })
    const title = { userAddress: who.account, scheduling_title: 'Mine' }
    expect(await other.refused('rest', scheduling.configure, title)).toMatchObject({ status: 403 })
    const stranger = await fetch(`${server.url}/api/scheduling/settings?address=${who.account}`)
    expect(stranger.status).toBe(200)
    expect((await fetch(`${server.url}/api/scheduling/settings`)).status).toBe(400)
  })

  test('T12: fields that were not asked for have no effect', async () => {
    const who = await somebody()
    const given = { scheduling_title: 'Tea', _id: 'other', wallet_address: 'other', email_verified: true }
    await who.rest('POST /api/scheduling/settings', given)
    expect(await who.does('rest', scheduling.settings, {})).toMatchObject({ scheduling_title: 'Tea' })
  })
})

describe('windows of availability', () => {
  const morning = { dayOfWeek: 1, startTime: '09:00', endTime: '12:00', timezone: 'Europe/Berlin' }

  test.each(over)('are added, changed, listed by day and start, and removed, over %s', async (door) => {
    const who = await somebody()
    const { window } = await who.does(door, scheduling.setWindow, { ...morning, name: 'Mornings' })
    expect(window).toMatchObject({
      wallet_address: who.account,
      name: 'Mornings',
      day_of_week: 1,
      start_time: '09:00:00',
      end_time: '12:00:00',
      timezone: 'Europe/Berlin',
      is_active: true,
    })
    const sunday = { dayOfWeek: 0, startTime: '22:00:30', endTime: '24:00' }
    const { window: late } = await who.does(door, scheduling.setWindow, sunday)
    expect(late).toMatchObject({ start_time: '22:00:30', end_time: '24:00:00', timezone: 'UTC', name: null })
    const earlier = { dayOfWeek: 1, id: window.id, startTime: '08:00', endTime: '12:00' }
    const kept = { name: 'Mornings', timezone: 'Europe/Berlin' }
    expect((await who.does(door, scheduling.setWindow, earlier)).window).toMatchObject({ ...kept, id: window.id })
    const renamed = { ...earlier, name: null, timezone: 'Asia/Kolkata' }
    const { window: changed } = await who.does(door, scheduling.setWindow, renamed)
    expect(changed).toMatchObject({ start_time: '08:00:00', name: null, timezone: 'Asia/Kolkata' })
    const listed = async () => (await who.does(door, scheduling.windows, {})).windows
    expect(await listed()).toEqual([late, changed])
    await who.does(door, scheduling.removeWindow, { id: late.id })
    expect(await listed()).toEqual([changed])
    expect(outcomeOf(await who.tries(door, scheduling.removeWindow, { id: late.id }))).toBe('404 NOT_FOUND')
  })

  test('one that is added again with its key is added once', async () => {
    const who = await somebody()
    const twice = [1, 2].map(() => who.does('rest', scheduling.setWindow, { ...morning, idempotency_key: 'one' }))
    await Promise.allSettled(twice)
    await who.does('rest', scheduling.setWindow, { ...morning, idempotency_key: 'one' })
    expect((await who.does('rest', scheduling.windows, {})).windows).toHaveLength(1)
  })

  test('T09: those of somebody else are neither seen, changed nor removed', async () => {
    const [who, other] = [await somebody(), await somebody()]
    const { window } = await who.does('rest', scheduling.setWindow, morning)
    for (const door of over) {
      const change = { ...morning, id: window.id, endTime: '13:00' }
      expect(outcomeOf(await other.tries(door, scheduling.setWindow, change))).toBe('404 NOT_FOUND')
      expect(outcomeOf(await other.tries(door, scheduling.removeWindow, { id: window.id }))).toBe('404 NOT_FOUND')
      const ofWho = { userAddress: who.account }
      expect(outcomeOf(await other.tries(door, scheduling.windows, ofWho))).toBe('403 FORBIDDEN')
    }
    expect((await who.does('rest', scheduling.windows, {})).windows).toEqual([window])
  })

  test.each([
    { dayOfWeek: 7 },
    { dayOfWeek: -1 },
    { dayOfWeek: '1' },
    { endTime: '09:00' },
    { endTime: '08:59:59' },
    { startTime: '24:00' },
    { startTime: '9:00' },
    { startTime: '25:00' },
    { startTime: { $gt: '' } },
    { timezone: 'Mars/Phobos' },
    { timezone: '../../etc/passwd' },
    { timezone: 'x'.repeat(100) },
  ])('T20, T22: refused: %j', async (wrong) => {
    const who = await somebody()
    for (const door of over) {
      const answer = await who.tries(door, scheduling.setWindow, { ...morning, ...wrong } as typeof morning)
      expect(outcomeOf(answer)).toBe('400 VALIDATION_ERROR')
    }
  })

  test('there are at most 50, in a race too', async () => {
    const who = await somebody()
    await Promise.all(Array.from({ length: 56 }, () => who.tries('rest', scheduling.setWindow, morning)))
    const { windows } = await who.does('rest', scheduling.windows, {})
    expect(windows).toHaveLength(50)
  })
})

describe('the times at which somebody can be booked', () => {
  test('are those of the next 30 days after the notice, for everybody, under both names', async () => {
    const who = await bookable()
    await openAlways(who)
    const answer = await fetch(`${server.url}/api/scheduling/availability?userAddress=${who.account}`)
    const body = scheduling.availability.output.parse(await answer.json())
    expect(body).toMatchObject({ duration: 15, priceCents: 0, timezone: 'UTC' })
    expect(body.slots).toEqual(body.availableSlots)
    const [first, second] = body.slots
    if (!first || !second) throw new Error('No slots')
    expect(Date.parse(first.end) - Date.parse(first.start)).toBe(15 * 60_000)
    expect(Date.parse(second.start) - Date.parse(first.start)).toBe(30 * 60_000)
    expect(Date.parse(first.start)).toBeGreaterThanOrEqual(Date.now() + day - 60_000)
    expect(Date.parse(first.start)).toBeLessThan(Date.now() + 2 * day)
    const last = Date.parse(body.slots.at(-1)?.end ?? '')
    expect(last).toBeGreaterThan(Date.now() + 29 * day)
    expect(last).toBeLessThan(Date.now() + 30 * day + hour)
  })

  test('are of the days that are asked for, by the clocks of the person or of the zone that is named', async () => {
    const who = await bookable({ scheduling_advance_notice_hours: 0, scheduling_buffer_minutes: 45 })
    const zone = 'America/New_York'
    for (let dayOfWeek = 0; dayOfWeek < 7; dayOfWeek++)
      await who.does('rest', scheduling.setWindow, { dayOfWeek, startTime: '00:00', endTime: '24:00', timezone: zone })
    const before = `${new Date().getUTCFullYear() + 1}-01-09`
    const asked = `${new Date().getUTCFullYear() + 1}-01-10`
    const ofDay = await slotsOf(who, { date: asked })
    expect(ofDay).toHaveLength(24)
    expect(ofDay[0]?.start).toBe(`${asked}T05:00:00.000Z`)
    expect(await slotsOf(who, { startDate: asked, endDate: asked })).toEqual(ofDay)
    expect((await slotsOf(who, { date: asked, timezone: 'UTC' }))[0]?.start).toBe(`${asked}T00:00:00.000Z`)
    const hours = { startDate: `${asked}T05:00:00Z`, endDate: `${asked}T04:00:00-05:00` }
    expect(await slotsOf(who, hours)).toEqual(ofDay.slice(0, 4))
    expect(await slotsOf(who, { startDate: before, endDate: asked })).toHaveLength(48)
  })

  test('are of the length of a paid call for who takes no free ones', async () => {
    const who = await bookable({ scheduling_free_enabled: false, scheduling_paid_enabled: true })
    await openAlways(who)
    const { duration } = await who.does('socket', scheduling.availability, {})
    expect(duration).toBe(30)
  })

  test('leave out what is busy in a calendar, with the buffer around it, where the person wants so', async () => {
    const who = await bookable({ scheduling_advance_notice_hours: 0 })
    await openAlways(who)
    const asked = new Date(Date.now() + 3 * day).toISOString().slice(0, 10)
    const all = await slotsOf(who, { date: asked })
    const noon = Date.parse(`${asked}T12:00:00Z`)
    await connectCalendar(who)
    calendars.kept.set(who.account, [{ start: noon, end: noon + hour }])
    const free = await slotsOf(who, { date: asked })
    const left = all.filter((slot) => !free.some(({ start }) => start === slot.start))
    expect(left.map(({ start }) => start.slice(11, 16))).toEqual(['12:00', '12:30', '13:00'])
    await who.does('rest', scheduling.configure, { scheduling_buffer_minutes: 20 })
    const buffered = await slotsOf(who, { date: asked })
    expect(buffered.map(({ start }) => start.slice(11, 16))).not.toContain('11:40')
    expect(buffered.map(({ start }) => start.slice(11, 16))).not.toContain('13:00')
    await who.does('rest', scheduling.configure, { scheduling_buffer_minutes: 15, scheduling_calendar_sync: false })
    expect(await slotsOf(who, { date: asked })).toEqual(all)
  })

  test('leave out what begins before the days that are asked for, or ends after them', async () => {
    const who = await bookable({ scheduling_advance_notice_hours: 0 })
    await openAlways(who)
    const asked = new Date(Date.now() + 3 * day).toISOString().slice(0, 10)
    const midnight = Date.parse(`${asked}T00:00:00Z`)
    await connectCalendar(who)
    // The buffer of 15 minutes reaches into the day before, and the last call with its buffer to the day after.
    calendars.kept.set(who.account, [
      { start: midnight - hour, end: midnight },
      { start: midnight + day, end: midnight + day + hour },
    ])
    const starts = (await slotsOf(who, { date: asked })).map(({ start }) => start.slice(11, 16))
    expect([starts[0], starts.at(-1)]).toEqual(['00:30', '23:30'])
  })

  test('are of up to 92 days, by the clocks of the first window', async () => {
    const who = await bookable({ scheduling_advance_notice_hours: 0 })
    const window = { startTime: '10:00', endTime: '11:00' }
    await who.does('rest', scheduling.setWindow, { ...window, dayOfWeek: 5, timezone: 'America/New_York' })
    await who.does('rest', scheduling.setWindow, { ...window, dayOfWeek: 1, timezone: 'Asia/Kolkata' })
    const span = (endDate: string) =>
      who.tries('socket', scheduling.availability, { startDate: '2027-01-01', endDate, timezone: 'UTC' })
    expect(outcomeOf(await span('2027-04-02'))).toBe('200')
    expect(outcomeOf(await span('2027-04-05'))).toBe('400 VALIDATION_ERROR')
    expect((await who.does('socket', scheduling.availability, {})).timezone).toBe('Asia/Kolkata')
    await openAlways(who)
    await who.does('rest', scheduling.configure, { scheduling_buffer_minutes: 0, scheduling_free_duration_minutes: 5 })
    expect(await slotsOf(who)).toHaveLength(2_000)
  })

  test('are none while the calendar says nothing, which is waited for 5 s at most', heavy, async () => {
    const who = await bookable()
    await openAlways(who)
    await connectCalendar(who)
    const spy = vi
      .spyOn(calendars, 'busy')
      .mockImplementationOnce(
        (_calendar, _around, signal) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      )
    const began = performance.now()
    const answer = await who.does('rest', scheduling.availability, {})
    spy.mockRestore()
    expect(answer).toMatchObject({ slots: [], calendarError: true })
    expect(performance.now() - began).toBeLessThan(50_000)
  })

  test.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)('are none while the calendar answers %s', async (away) => {
    const who = await bookable()
    await openAlways(who)
    await connectCalendar(who)
    calendars.away = away
    const answer = await who.does('rest', scheduling.availability, {})
    expect(answer).toMatchObject({ availableSlots: [], slots: [], calendarError: true })
    expect(answer.message).toMatch(/./)
  })

  test('are none where no window is set, and refused of who cannot be booked', async () => {
    const [who, other] = [await bookable(), await somebody()]
    expect(await who.does('rest', scheduling.availability, {})).toMatchObject({
      availableSlots: [],
      message: 'No availability windows are set',
    })
    for (const door of over)
      for (const address of [other.account, `0x${'9'.repeat(40)}`])
        expect(outcomeOf(await who.tries(door, scheduling.availability, { address }))).toBe('403 SCHEDULING_DISABLED')
  })

  test.each([
    { startDate: 'tomorrow' },
    { date: '2026-02-30' },
    { startDate: '2027-01-02', endDate: '2027-01-01' },
    { startDate: '2027-01-01', endDate: '2028-01-01' },
    { timezone: 'Mars/Phobos' },
    { startDate: { $gt: '' } },
  ])('T22: refused: %j', async (wrong) => {
    const who = await bookable()
    const answer = await who.tries('socket', scheduling.availability, wrong as { date: string })
    expect(outcomeOf(answer)).toBe('400 VALIDATION_ERROR')
    const twice = await fetch(`${server.url}/api/scheduling/availability?date=2027-01-01&date=2027-01-02`)
    expect(twice.status).toBe(400)
  })
})
