// Modes: embedded, two-nodes-redis
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Bookings } from '#server/domains/meetings/scheduling/model'
import { fakeCalendars } from '#server/ports/calendar/fake'
import { booking, scheduledCallChanged } from '#shared/api/meetings/booking'
import { scheduling } from '#shared/api/meetings/scheduling'
import { moderation } from '#shared/api/moderation/moderation'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import type { CallOf } from '#shared/kit/contract'
import { asGuest, bookable as bookableOn, guestOf, inThreeDays, openAlways, verifyEmail } from '#test/support/bookings'
import { type Booted, boot } from '#test/support/boot'
import { connectCalendar } from '#test/support/calendars'
import { heavy } from '#test/support/heavy'
import { befriend, outcomeOf, over, type Person, person } from '#test/support/people'
import { solo } from '#test/support/solo'
import { call, wallet } from '#test/support/wallet'

const minute = 60_000
const hour = 60 * minute
const calendars = fakeCalendars()
let server: Booted
let root: Person
let sought: Person
beforeAll(async () => {
  const environment = { SUPER_ADMINS: wallet('root').address, VERDICT_STEPS: '100000' }
  server = await boot({ services: { calendars }, environment })
  root = await person(server, 'root')
  sought = await bookable()
})
afterAll(() => server.close())
afterEach(() => {
  calendars.away = null
  server.setAhead(0)
})

let people = 0
const somebody = () => person(server, `booker ${++people}`)
async function bookable(more: CallOf<typeof scheduling.configure> = {}): Promise<Person> {
  const host = await bookableOn(server, `host of calls ${++people}`, more)
  await openAlways(host)
  return host
}
const at = (host: Person, scheduledAt: string) => ({ recipientAddress: host.account, scheduledAt })
const freeOn = async (host: Person, time: string) => {
  const input = { userAddress: host.account, date: time.slice(0, 10) }
  return (await host.does('rest', scheduling.availability, input)).slots.map(({ start }) => start)
}
const list = async (who: Person, status?: CallOf<typeof booking.calls>['status']) =>
  (await who.does('rest', booking.calls, { status })).calls.map(({ id }) => id)

/** The calls of a host that stand, by when they begin. */
const standingOf = async (host: Person) => {
  const { calls } = await host.does('socket', booking.calls, { status: 'upcoming', limit: 100 })
  return calls.map(({ scheduled_at, duration_minutes }) => {
    const start = Date.parse(scheduled_at)
    return { start, end: start + duration_minutes * minute }
  })
}

describe('booking', () => {
  solo.each(over)('takes a time that is offered, and tells both, over %s', async (door) => {
    const [host, booker] = [await bookable(), await somebody()]
    const time = inThreeDays(9)
    expect(await freeOn(host, time)).toContain(time)
    const lines = [await host.line('/notifications'), await booker.line('/notifications')]
    const asked = { ...at(host, time), timezone: 'Asia/Kolkata', title: 'Tea', notes: ' About tea ' }
    const booked = await booker.does(door, booking.schedule, asked)
    expect(booked).toMatchObject({
      success: true,
      scheduler_wallet_address: booker.account,
      recipient_wallet_address: host.account,
      scheduled_at: time,
      duration_minutes: 15,
      title: 'Tea',
      status: 'confirmed',
      is_paid: false,
      payment_required: false,
      payment_amount_cents: null,
      payment_status: null,
      platform_fee_cents: 0,
      platform_fee_status: 'waived',
      guest_name: null,
      scheduler_email: null,
      notes: 'About tea',
      timezone: 'Asia/Kolkata',
      invite_token: expect.stringMatching(/^[0-9a-f]{32}$/),
      scheduledCall: { id: booked.id, calendarEventId: null },
    })
    for (const line of lines) await line.hears(scheduledCallChanged, ({ call }) => call.id === booked.id)
    // The slot itself, and nothing else: those beside it are the buffer away.
    const free = await freeOn(host, time)
    expect(free).not.toContain(time)
    expect(free).toContain(new Date(Date.parse(time) + 30 * minute).toISOString())
    for (const [who, is_host] of [
      [host, true],
      [booker, false],
    ] as const) {
      const { calls, total } = await who.does(door, booking.calls, {})
      expect(total).toBe(1)
      expect(calls).toMatchObject([{ id: booked.id, is_host, recipient_user: { wallet_address: host.account } }])
      expect(calls[0]?.scheduler_user?.wallet_address).toBe(booker.account)
    }
    const taken = await (await somebody()).refused(door, booking.schedule, at(host, time))
    expect(taken).toMatchObject({ status: 409, code: 'SLOT_TAKEN' })
  })

  solo('is open to guests, whose invitation shows the call; the first opening by another is noted', async () => {
    const host = await bookable()
    const guest = { ...guestOf('Ann Guest'), guestEmail: ' Ann@Example.Test ' }
    const { status, body } = await asGuest(server.url, { ...at(host, inThreeDays(9)), ...guest })
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { guest_name: 'Ann Guest', guest_email: 'ann@example.test', scheduler_wallet_address: null },
    })
    const { invite_token: token, id } = booking.schedule.output.parse(body)
    const taken = await asGuest(server.url, { ...at(host, inThreeDays(9)), ...guestOf('Bob') })
    expect(taken).toMatchObject({ status: 409, body: { code: 'SLOT_TAKEN', source: 'database' } })
    const opened = async () => (await host.does('rest', booking.calls, {})).calls[0]?.invite_opened_at
    for (const door of over) expect((await host.does(door, booking.invited, { token })).call.id).toBe(id)
    expect(await opened()).toBeNull()
    const shown = await call(server.url, `GET /api/scheduling/join/${token}`)
    const about = { id, title: 'Scheduled Call', status: 'confirmed', guest_name: 'Ann Guest', timezone: 'UTC' }
    expect(shown).toMatchObject({ status: 200, body: { ...about, call: about } })
    expect(Object.keys(z.record(z.string(), z.unknown()).parse(shown.body.call)).sort()).toEqual(
      'cancel_reason duration_minutes guest_email guest_name hostName id invite_token is_paid recipient_wallet_address scheduled_at status timezone title'.split(
        ' ',
      ),
    )
    const first = await opened()
    expect(first).not.toBeNull()
    await call(server.url, `GET /api/scheduling/join/${token}`)
    expect(await opened()).toBe(first)
    for (const door of over)
      expect(await host.refused(door, booking.invited, { token: '0'.repeat(32) })).toMatchObject({
        status: 404,
        code: 'CALL_NOT_FOUND',
      })
    expect((await call(server.url, 'GET /api/scheduling/join/nothing')).status).toBe(400)
  })

  test('of one time by twenty at once, on both nodes, is the booking of one', async () => {
    const host = await bookable()
    const bookers = await Promise.all(Array.from({ length: 10 }, somebody))
    const time = inThreeDays(9)
    const outcomes = await Promise.all([
      ...bookers.map(async (who, one) =>
        outcomeOf(await who.tries(over[one % 2] ?? 'rest', booking.schedule, at(host, time))),
      ),
      ...bookers.map(async ({ url }, one) =>
        outcomeOf(await asGuest(url, { ...at(host, time), ...guestOf(`Guest ${one}`) })),
      ),
    ])
    expect(outcomes.sort()).toEqual(['200', ...Array.from({ length: 19 }, () => '409 SLOT_TAKEN')])
    expect(await standingOf(host)).toHaveLength(1)
  })

  test('of times that overlap, by twenty at once, leaves none that do; of times that do not, all', heavy, async () => {
    const lengths = { scheduling_free_duration_minutes: 15, scheduling_paid_duration_minutes: 45 }
    const host = await bookable({ ...lengths, scheduling_paid_enabled: true, scheduling_buffer_minutes: 0 })
    const bookers = await Promise.all(Array.from({ length: 20 }, somebody))
    const first = Date.parse(inThreeDays(9))
    const timeOf = (one: number) => new Date(first + one * 15 * minute).toISOString()
    const outcomes = await Promise.all(
      bookers.map(async (who, one) => {
        const asked = { ...at(host, timeOf(one % 5)), isPaid: one % 2 === 0 }
        return outcomeOf(await who.tries('rest', booking.schedule, asked))
      }),
    )
    const standing = await standingOf(host)
    expect(outcomes.filter((outcome) => outcome === '200')).toHaveLength(standing.length)
    expect(standing.length).toBeGreaterThan(0)
    for (const [one, { end }] of standing.slice(0, -1).entries())
      expect(standing[one + 1]?.start).toBeGreaterThanOrEqual(end)

    const apart = await bookable({ scheduling_buffer_minutes: 0 })
    await Promise.all(bookers.map((who, one) => who.does('rest', booking.schedule, at(apart, timeOf(one)))))
    expect(await standingOf(apart)).toHaveLength(20)
    const rows = await Bookings.find({ recipient_wallet_address: apart.account }).sort({ number: 1 }).lean()
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 20 }, (_, one) => one + 1))
  })

  test('with a key is done once, by accounts and by guests', async () => {
    const [host, booker] = [await bookable(), await somebody()]
    const once = { ...at(host, inThreeDays(9)), idempotency_key: 'one' }
    const first = await booker.does('rest', booking.schedule, once)
    expect(await booker.does('socket', booking.schedule, once)).toEqual(first)
    const other = { ...once, scheduledAt: inThreeDays(10) }
    expect(outcomeOf(await booker.tries('rest', booking.schedule, other))).toBe('409 CONFLICT')

    const asked = { ...at(host, inThreeDays(12)), ...guestOf('Ann'), idempotency_key: 'two' }
    const answers = await Promise.all(server.urls.flatMap((url) => [asGuest(url, asked), asGuest(url, asked)]))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(await asGuest(server.url, { ...asked, scheduledAt: inThreeDays(14) })).toMatchObject({
      status: 409,
      code: 'CONFLICT',
    })
    const stranger = await asGuest(server.url, { ...asked, ...guestOf('Bob') })
    expect(stranger).toMatchObject({ status: 409, code: 'SLOT_TAKEN' })
    expect(await standingOf(host)).toHaveLength(2)
  })
})

describe('a booking is refused', () => {
  solo.each(over)('where its time is not offered, over %s', async (door) => {
    const [host, booker] = [await bookable({ scheduling_advance_notice_hours: 48 }), await somebody()]
    const outcome = async (more: object) =>
      outcomeOf(await booker.tries(door, booking.schedule, { ...at(host, inThreeDays(9)), ...more }))
    const first = Date.parse(inThreeDays(9))
    const wrong = [
      { scheduledAt: new Date(Date.now() + 47 * hour).toISOString() },
      { scheduledAt: new Date(Date.now() - hour).toISOString() },
      { scheduledAt: new Date(first + minute).toISOString() },
      { scheduledAt: new Date(first + 1).toISOString() },
      { scheduledAt: new Date(first + 15 * minute).toISOString() },
      { scheduledAt: inThreeDays(9).slice(0, 10) },
      { scheduledAt: { $gt: '' } },
      { durationMinutes: 30 },
      { durationMinutes: 1_441 },
      { timezone: 'Mars/Phobos' },
    ]
    for (const more of wrong) expect([more, await outcome(more)]).toEqual([more, '400 VALIDATION_ERROR'])
    expect(await outcome({ durationMinutes: 15 })).toBe('200')
    const { windows } = await host.does('rest', scheduling.windows, {})
    for (const { id } of windows) await host.does('rest', scheduling.removeWindow, { id })
    expect(await outcome({ scheduledAt: inThreeDays(10) })).toBe('400 VALIDATION_ERROR')
  })

  solo('where the calendar of the host is busy, or does not answer', async () => {
    const [host, booker] = [await bookable(), await somebody()]
    const start = Date.parse(inThreeDays(12)) + 25 * minute
    await connectCalendar(host)
    calendars.kept.set(host.account, [{ start, end: start + hour }])
    for (const door of over) {
      const refusal = await booker.refused(door, booking.schedule, at(host, inThreeDays(12)))
      expect(refusal).toMatchObject({ status: 409, code: 'SLOT_TAKEN' })
    }
    const { body } = await booker.rest('POST /api/scheduling/schedule', at(host, inThreeDays(12)))
    expect(body).toMatchObject({ source: 'calendar' })
    calendars.away = 'TIMEOUT'
    const away = outcomeOf(await booker.tries('rest', booking.schedule, at(host, inThreeDays(9))))
    expect(away).toBe('503 SERVICE_UNAVAILABLE')
  })

  solo('of who cannot be booked, of oneself, and between two of whom one has blocked the other', async () => {
    const [host, booker, blocked] = [await bookable(), await somebody(), await somebody()]
    const time = inThreeDays(9)
    await host.does('rest', social.block, { userAddress: blocked.account })
    for (const door of over) {
      const outcome = async (who: Person, to: Person) =>
        outcomeOf(await who.tries(door, booking.schedule, at(to, time)))
      expect(await outcome(blocked, host)).toBe('403 BLOCKED')
      expect(await outcome(host, host)).toBe('400 VALIDATION_ERROR')
      expect(await outcome(host, booker)).toBe('403 SCHEDULING_DISABLED')
    }
    await host.does('rest', scheduling.configure, { scheduling_free_enabled: false })
    const none = await booker.refused('rest', booking.schedule, at(host, time))
    expect(none).toMatchObject({ code: 'SCHEDULING_DISABLED', message: 'This user takes no free calls' })
    await host.does('rest', scheduling.configure, { scheduling_free_enabled: true })
    await root.does('rest', accounts.suspend, { userAddress: host.account, ban: true })
    expect(outcomeOf(await booker.tries('rest', booking.schedule, at(host, time)))).toBe('403 SCHEDULING_DISABLED')
  })

  solo(
    'of a guest at the address that somebody has verified of whom the host is, or who has, blocked the other',
    heavy,
    async () => {
      const [host, blocked, blocks, other] = [await bookable(), await somebody(), await somebody(), await somebody()]
      await host.does('rest', social.block, { userAddress: blocked.account })
      await blocks.does('rest', social.block, { userAddress: host.account })
      const asked = at(host, inThreeDays(9))
      for (const [who, outcome] of [
        [blocked, '403 BLOCKED'],
        [blocks, '403 BLOCKED'],
        [other, '200'],
      ] as const) {
        const guest = guestOf(`Known ${who.account.slice(-6)}`)
        await verifyEmail(server, who, guest.guestEmail)
        const guestEmail = ` ${guest.guestEmail.toUpperCase()}`
        expect(outcomeOf(await asGuest(server.url, { ...asked, ...guest, guestEmail }))).toBe(outcome)
      }
    },
  )

  solo('T09: of nobody, and of who claims to be somebody; who is suspended books nothing', async () => {
    const [host, booker] = [await bookable(), await somebody()]
    const asked = at(host, inThreeDays(9))
    for (const more of [{}, { guestName: 'Ann' }, { guestEmail: 'ann@example.test' }])
      expect(await asGuest(server.url, { ...asked, ...more })).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    const claim = { ...asked, ...guestOf('Ann'), schedulerAddress: booker.account }
    expect((await asGuest(server.url, claim)).status).toBe(401)
    const ofHost = { ...asked, schedulerAddress: host.account }
    expect(outcomeOf(await booker.tries('rest', booking.schedule, ofHost))).toBe('403 FORBIDDEN')
    await root.does('rest', accounts.suspend, { userAddress: booker.account, ban: true })
    for (const door of over) expect(outcomeOf(await booker.tries(door, booking.schedule, asked))).toBe('403 SUSPENDED')
  })

  solo.each([
    { guestEmail: 'ann' },
    { guestEmail: 'ann@example.test\r\nBcc: all@example.test' },
    { guestEmail: 'ann@example.test, bob@example.test' },
    { guestName: '\u202eevil' },
    { guestName: 'Ann\nBob' },
    { guestName: 'Plaza Support' },
    { guestName: 'Аdmin' },
    { guestName: 'x'.repeat(51) },
    { guestName: { $gt: '' } },
    { title: 'Tea\r\nATTENDEE:mailto:x@example.test' },
    { notes: 'x'.repeat(2_001) },
    { notes: 'null \u0000' },
  ])('T20, T22, T68: of a guest with %j', async (wrong) => {
    const asked = { ...at(sought, inThreeDays(20)), ...guestOf('Ann'), ...wrong } as CallOf<typeof booking.schedule>
    expect(await asGuest(server.url, asked)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })

  solo('of a guest who is named as somebody here', async () => {
    const host = await bookable()
    expect((await (await somebody()).rest('POST /api/username', { username: 'real_ann' })).status).toBe(200)
    const asked = { ...at(host, inThreeDays(9)), ...guestOf('Rea1 Ann') }
    expect(await asGuest(server.url, asked)).toMatchObject({ status: 400, body: { path: 'guestName' } })
  })

  solo('where its words are blocked everywhere, or cost too much', async () => {
    const [host, booker] = [await bookable(), await somebody()]
    for (const [action, code] of [
      ['block', 'BLOCKED_WORD'],
      ['mute', 'MESSAGE_REJECTED'],
    ] as const) {
      const { body } = await root.rest('POST /api/blocked-words', { word: 'zorkmid', action, scope: 'global' })
      for (const door of over)
        for (const said of [{ notes: 'a zorkmid' }, { title: 'Zorkmid' }, { guestName: 'Zorkmid' }])
          expect((await booker.refused(door, booking.schedule, { ...at(host, inThreeDays(9)), ...said })).code).toBe(
            code,
          )
      const costly = { ...at(host, inThreeDays(9)), notes: 'ж'.repeat(2_000) }
      expect((await booker.refused('rest', booking.schedule, costly)).code).toBe('TEXT_TOO_COMPLEX')
      const { id } = z.object({ id: z.string() }).parse(body.word ?? body)
      await root.does('rest', moderation.removeWord, { id })
    }
  })

  test('of who has booked three calls with the host that are still to come, in a race too', async () => {
    const [host, booker] = [await bookable(), await somebody()]
    const hours = [8, 9, 10, 11, 12, 13]
    const tries = await Promise.all(
      hours.map(async (one) => outcomeOf(await booker.tries('rest', booking.schedule, at(host, inThreeDays(one))))),
    )
    expect(tries.sort()).toEqual(['200', '200', '200', ...Array.from({ length: 3 }, () => '429 RATE_LIMIT_EXCEEDED')])
    const [id = ''] = await list(booker)
    await booker.does('rest', booking.cancel, { id, status: 'cancelled' })
    expect(outcomeOf(await booker.tries('socket', booking.schedule, at(host, inThreeDays(15))))).toBe('200')
  })
})

test(
  'a booking is refused of more than thirty free calls that all have with a host who are no friends, in a race too',
  heavy,
  async () => {
    const [host, friend, other] = [await bookable(), await somebody(), await somebody()]
    await befriend(host, friend)
    const half = (one: number) => at(host, new Date(Date.parse(inThreeDays(0)) + one * 30 * minute).toISOString())
    const book = (one: number) => asGuest(server.url, { ...half(one), ...guestOf(`Stranger ${one}`) })
    const { id } = booking.schedule.output.parse((await book(0)).body)
    for (let one = 1; one < 27; one++) expect((await book(one)).status).toBe(200)
    const tries = await Promise.all([27, 28, 29, 30, 31, 32].map(async (one) => outcomeOf(await book(one))))
    const refused = '429 RATE_LIMIT_EXCEEDED'
    expect(tries.sort()).toEqual(['200', '200', '200', refused, refused, refused])
    for (const door of over) {
      expect(outcomeOf(await other.tries(door, booking.schedule, half(40)))).toBe(refused)
      expect(outcomeOf(await friend.tries(door, booking.schedule, half(door === 'rest' ? 42 : 44)))).toBe('200')
    }
    const inFourWeeks = half(40 + 28 * 48)
    expect(outcomeOf(await other.tries('rest', booking.schedule, inFourWeeks))).toBe('200')
    await host.does('rest', booking.cancel, { id, status: 'cancelled' })
    expect(outcomeOf(await other.tries('rest', booking.schedule, half(40)))).toBe('200')
  },
)

describe('a call that was booked', () => {
  solo.each(over)('is cancelled by its host or by who booked it, once, which frees its time, over %s', async (door) => {
    const [host, booker, other] = [await bookable(), await somebody(), await somebody()]
    const time = inThreeDays(9)
    const cancelled = { status: 'cancelled' } as const
    for (const who of [host, booker]) {
      const { id, invite_token: token } = await booker.does('rest', booking.schedule, at(host, time))
      const outcome = async (by: Person, more = {}) =>
        outcomeOf(await by.tries(door, booking.cancel, { id, ...cancelled, ...more }))
      expect(await outcome(other)).toBe('404 CALL_NOT_FOUND')
      expect(await outcome(other, { token })).toBe('403 ACCESS_DENIED')
      const line = await host.line('/notifications')
      const { scheduledCall } = await who.does(door, booking.cancel, { id, ...cancelled })
      expect(scheduledCall).toMatchObject({ id, ...cancelled })
      await line.hears(scheduledCallChanged, ({ call }) => call.id === id && call.status === 'cancelled')
      expect(await who.does(door, booking.cancel, { id, ...cancelled })).toMatchObject({ scheduledCall })
      expect(await freeOn(host, time)).toContain(time)
      expect((await other.does(door, booking.invited, { token })).status).toBe('cancelled')
    }
    expect(outcomeOf(await host.tries(door, booking.cancel, { id: 'none', ...cancelled }))).toBe('404 CALL_NOT_FOUND')
  })

  solo.each(over)('O83: is cancelled with a reason, which both read, over %s', async (door) => {
    const [host, booker] = [await bookable(), await somebody()]
    const { id, invite_token: token } = await booker.does(door, booking.schedule, at(host, inThreeDays(9)))
    const cancel = { id, status: 'cancelled', reason: ' A cold ' } as const
    const { scheduledCall } = await booker.does(door, booking.cancel, cancel)
    expect(scheduledCall.cancel_reason).toBe('A cold')
    await host.does(door, booking.cancel, { ...cancel, reason: 'Another' })
    const { calls } = await host.does(door, booking.calls, { status: 'past' })
    expect(calls.find((call) => call.id === id)?.cancel_reason).toBe('A cold')
    expect((await host.does(door, booking.invited, { token })).cancel_reason).toBe('A cold')
    const other = await booker.does(door, booking.schedule, at(host, inThreeDays(9)))
    expect(other.cancel_reason).toBe(null)
    await Bookings.updateOne({ _id: other.id }, { $unset: { cancel_reason: 1 } })
    expect(
      (await booker.does(door, booking.cancel, { id: other.id, status: 'cancelled' })).scheduledCall,
    ).toMatchObject({ status: 'cancelled', cancel_reason: null })
  })

  solo('O83: is cancelled with no words that are blocked', async () => {
    const [host, booker] = [await bookable(), await somebody()]
    const { id } = await booker.does('rest', booking.schedule, at(host, inThreeDays(9)))
    const refused = async (reason: string) =>
      (await booker.refused('rest', booking.cancel, { id, status: 'cancelled', reason })).code
    for (const [action, code] of [
      ['block', 'BLOCKED_WORD'],
      ['mute', 'MESSAGE_REJECTED'],
    ] as const) {
      const { body } = await root.rest('POST /api/blocked-words', { word: 'zorkmid', action, scope: 'global' })
      expect(await refused('a zorkmid')).toBe(code)
      expect(await refused('ж'.repeat(2_000))).toBe('TEXT_TOO_COMPLEX')
      const { id: word } = z.object({ id: z.string() }).parse(body.word ?? body)
      await root.does('rest', moderation.removeWord, { id: word })
    }
    expect((await booker.does('rest', booking.calls, {})).calls.map(({ status }) => status)).toEqual(['confirmed'])
  })

  solo('by a guest is cancelled by its invitation', async () => {
    const host = await bookable()
    const booked = await asGuest(server.url, { ...at(host, inThreeDays(9)), ...guestOf('Ann') })
    const { id, invite_token: token } = booking.schedule.output.parse(booked.body)
    const cancel = (more: object) =>
      call(server.url, `PATCH /api/scheduling/calls/${id}`, { status: 'cancelled', ...more })
    expect(await cancel({})).toMatchObject({ status: 404, code: 'CALL_NOT_FOUND' })
    expect(await cancel({ token: '0'.repeat(32) })).toMatchObject({ status: 404, code: 'CALL_NOT_FOUND' })
    expect(await cancel({ token, status: 'completed' })).toMatchObject({ status: 400 })
    expect((await cancel({ token })).status).toBe(200)
    expect(await list(host, 'cancelled')).toEqual([id])
  })

  solo('is upcoming until it begins, current until it is over, and completed then', async () => {
    const [host, booker] = [await bookable(), await somebody()]
    const ids: string[] = []
    for (const one of [9, 8, 10]) ids.push((await booker.does('rest', booking.schedule, at(host, inThreeDays(one)))).id)
    const [nine = '', eight = '', ten = ''] = ids
    await booker.does('rest', booking.cancel, { id: ten, status: 'cancelled' })
    expect(await list(host, 'upcoming')).toEqual([eight, nine])
    expect(await list(host, 'past')).toEqual([ten])
    expect(await list(host, 'confirmed')).toEqual([nine, eight])
    expect(await list(host, 'pending')).toEqual([])
    expect(await list(host)).toEqual([ten, nine, eight])
    const { calls, total } = await host.does('rest', booking.calls, { limit: 1 })
    expect([calls.length, total]).toEqual([1, 3])

    server.setAhead((Date.parse(inThreeDays(8)) - Date.now() + 5 * minute) / 1_000)
    const later = await person(server, `booker ${people}`)
    expect(await list(later, 'upcoming')).toEqual([nine])
    expect(await list(later, 'past')).toEqual([ten, eight])
    expect(await list(later, 'current')).toEqual([eight, nine])
    expect(await list(later, 'completed')).toEqual([])
    server.setAhead((Date.parse(inThreeDays(8)) - Date.now() + 15 * minute) / 1_000)
    expect(await list(later, 'completed')).toEqual([eight])
    expect(await list(later, 'current')).toEqual([nine])
    expect((await later.does('rest', booking.calls, { status: 'completed' })).calls[0]?.status).toBe('completed')
    for (const door of over)
      expect(outcomeOf(await later.tries(door, booking.cancel, { id: eight, status: 'cancelled' }))).toBe(
        '409 CALL_OVER',
      )
  })

  solo('T09: is listed to its parties alone', async () => {
    const [host, booker, other] = [await bookable(), await somebody(), await somebody()]
    await booker.does('rest', booking.schedule, at(host, inThreeDays(9)))
    for (const door of over) {
      expect(await other.does(door, booking.calls, {})).toEqual({ calls: [], total: 0 })
      const ofHost = { wallet_address: host.account }
      expect(outcomeOf(await other.tries(door, booking.calls, ofHost))).toBe('403 FORBIDDEN')
    }
    expect((await call(server.url, 'GET /api/scheduling/list')).status).toBe(401)
    expect((await host.rest('GET /api/scheduling/list?status=none')).status).toBe(400)
  })
})
