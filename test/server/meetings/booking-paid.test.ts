// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { followUpOlderCalls } from '#server/domains/meetings/booking/book'
import { Bookings, type StoredBooking } from '#server/domains/meetings/scheduling/model'
import { Payments } from '#server/domains/payments/payments/model'
import { fakeCalendars } from '#server/ports/calendar/fake'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { booking, scheduledCallChanged } from '#shared/api/meetings/booking'
import { scheduling } from '#shared/api/meetings/scheduling'
import { payments } from '#shared/api/payments/payments'
import { asGuest, bookable, guestOf, inThreeDays, openAlways } from '#test/support/bookings'
import { type Booted, boot } from '#test/support/boot'
import { connectCalendar } from '#test/support/calendars'
import { heavy } from '#test/support/heavy'
import { lettersTo } from '#test/support/letters'
import { paymentOf } from '#test/support/payments'
import { outcomeOf, over, type Person, person } from '#test/support/people'
import { solo } from '#test/support/solo'
import { wallet } from '#test/support/wallet'

const facilitator = fakeFacilitator()
const calendars = fakeCalendars()
const payer = wallet('who pays for calls')
const price = 555
const units = '5550000'
let server: Booted
let host: Person
let people = 0
const somebody = () => person(server, `pays ${++people}`)
const paid = {
  scheduling_paid_enabled: true,
  scheduling_price_cents: price,
  scheduling_network: 'base-sepolia',
} as const
const sells = async (more = {}) => {
  const name = `sells ${++people}`
  const scheduling_wallet_address = wallet(name).address.toLowerCase()
  const seller = await bookable(server, name, { ...paid, scheduling_wallet_address, ...more })
  await openAlways(seller)
  return seller
}
const pay = (more = {}) => paymentOf(payer, { to: host.account, value: units, ...more })
const notBooked = async (email: string) =>
  (await lettersTo(server, email)).filter(({ subject }) => subject === 'A call is not booked')
const callsOfHost = async () => (await host.does('rest', booking.calls, {})).calls
const at = (hour: number) => ({ recipientAddress: host.account, scheduledAt: inThreeDays(hour), isPaid: true })

beforeAll(async () => {
  server = await boot({ services: { facilitator, calendars } })
})
afterAll(() => server.close())
beforeEach(async () => {
  Object.assign(facilitator, {
    charged: [],
    asked: { verify: 0, settle: 0 },
    refuses: null,
    settlements: [],
    away: null,
  })
  facilitator.meanwhile = () => undefined
  host = await sells()
})

solo.each(over)('a paid call says what it costs, and is booked once that is settled, over %s', async (door) => {
  const booker = await somebody()
  const wanted = await booker.refused(door, booking.schedule, at(9))
  expect(wanted).toMatchObject({ status: 402, code: 'PAYMENT_REQUIRED' })
  const { body, headers } = await booker.rest('POST /api/scheduling/schedule', at(9))
  const entry = { network: 'base-sepolia', amount: units, recipient: host.account }
  expect(body).toMatchObject({
    ...{ error: 'Payment required', priceCents: price, network: 'base-sepolia', payToAddress: host.account },
    paymentRequirements: { x402Version: 1, accepts: [entry] },
  })
  expect(headers.get('x-payment-required')).not.toBeNull()
  expect(facilitator.asked).toEqual({ verify: 0, settle: 0 })

  const asked = { ...at(9), paymentHeader: await pay() }
  const booked = await booker.does(door, booking.schedule, asked)
  expect(booked).toMatchObject({
    status: 'confirmed',
    duration_minutes: 30,
    is_paid: true,
    payment_required: true,
    payment_amount_cents: price,
    payment_status: 'paid',
    payment_transaction_hash: expect.stringMatching(/^0x/),
    platform_fee_cents: 6,
    platform_fee_status: 'pending',
  })
  expect(facilitator.charged).toHaveLength(1)
  expect((await booker.does(door, booking.schedule, asked)).id).toBe(booked.id)
  expect(facilitator.charged).toHaveLength(1)
  const known = await Payments.findOne({ agent_id: `call:${host.account}` }).lean()
  expect(await booker.does(door, payments.payment, { id: known?._id ?? '' })).toMatchObject({ state: 'settled' })
})

solo('a guest pays by the header, and the answer says how it was settled', async () => {
  const guest = { ...at(9), ...guestOf('Ann') }
  const who = await somebody()
  const answer = await fetch(`${who.url}/api/scheduling/schedule`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-payment': await pay() },
    body: JSON.stringify(guest),
  })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('x-payment-response')).not.toBeNull()
  expect(booking.schedule.output.parse(await answer.json())).toMatchObject({ is_paid: true, guest_name: 'Ann' })
})

test('one payment is for one booking of one person: not of another time, by somebody else, or twice at once', async () => {
  const [booker, other] = [await somebody(), await somebody()]
  const paymentHeader = await pay()
  const tries = await Promise.all(
    server.urls.flatMap(() => [
      booker.tries('rest', booking.schedule, { ...at(9), paymentHeader }),
      booker.tries('socket', booking.schedule, { ...at(9), paymentHeader }),
    ]),
  )
  expect(tries.some(({ ok }) => ok)).toBe(true)
  await booker.does('rest', booking.schedule, { ...at(9), paymentHeader })
  expect(facilitator.charged).toHaveLength(1)
  for (const door of over) {
    const again = await booker.refused(door, booking.schedule, { ...at(11), paymentHeader })
    expect(again).toMatchObject({ status: 402, code: 'INVALID_PAYMENT' })
    const stolen = await other.refused(door, booking.schedule, { ...at(12), paymentHeader })
    expect(stolen).toMatchObject({ status: 409, code: 'INVALID_PAYMENT' })
  }
  const { calls } = await host.does('rest', booking.calls, {})
  expect(calls).toHaveLength(1)
})

test('nothing is charged for a time that is taken, also where that is found only after the payment was verified', async () => {
  const [booker, quicker] = [await somebody(), await somebody()]
  await quicker.does('rest', booking.schedule, { ...at(9), isPaid: false })
  expect(outcomeOf(await booker.tries('rest', booking.schedule, at(9)))).toBe('409 SLOT_TAKEN')
  const paymentHeader = await pay()
  const taken = await booker.refused('rest', booking.schedule, { ...at(9), paymentHeader })
  expect(taken).toMatchObject({ status: 409, code: 'SLOT_TAKEN' })
  expect(facilitator.asked).toEqual({ verify: 0, settle: 0 })

  vi.spyOn(facilitator, 'verify').mockImplementationOnce(async () => {
    await quicker.does('rest', booking.schedule, { ...at(11), isPaid: false })
    return null
  })
  const { status, body } = await booker.rest('POST /api/scheduling/schedule', { ...at(11), paymentHeader })
  expect({ status, body }).toMatchObject({
    status: 409,
    body: { code: 'SLOT_TAKEN', source: 'database', payment: { state: 'verifying' } },
  })
  expect(facilitator.charged).toEqual([])
  const booked = await booker.does('socket', booking.schedule, { ...at(13), paymentHeader })
  expect(booked).toMatchObject({ is_paid: true, payment_status: 'paid' })
  expect(facilitator.charged).toHaveLength(1)
})

test('a time is held while it is paid for: nobody else has it, and a host who takes no calls any more has this one', async () => {
  const [booker, other] = [await somebody(), await somebody()]
  let meanwhile = ''
  facilitator.meanwhile = async () => {
    facilitator.meanwhile = () => undefined
    meanwhile = outcomeOf(await other.tries('rest', booking.schedule, { ...at(9), isPaid: false }))
    await host.does('rest', scheduling.configure, { scheduling_enabled: false })
  }
  const booked = await booker.does('rest', booking.schedule, { ...at(9), paymentHeader: await pay() })
  expect(meanwhile).toBe('409 SLOT_TAKEN')
  expect(booked).toMatchObject({ status: 'confirmed', is_paid: true, payment_status: 'paid' })
})

test(
  'a call that is known to be paid only later is booked by itself, whatever its host wants by then',
  heavy,
  async () => {
    const booker = await somebody()
    const asked = { ...at(9), paymentHeader: await pay() }
    facilitator.settlements.push('lost')
    expect(outcomeOf(await booker.tries('rest', booking.schedule, asked))).toBe('202 PAYMENT_PENDING')
    expect(await callsOfHost()).toMatchObject([{ status: 'pending', is_paid: false, payment_status: 'pending' }])
    await host.does('rest', scheduling.configure, { scheduling_enabled: false })
    await expect.poll(callsOfHost).toMatchObject([{ status: 'confirmed', is_paid: true, payment_status: 'paid' }])
    const [call] = await callsOfHost()
    for (const door of over) expect((await booker.does(door, booking.schedule, asked)).id).toBe(call?.id)
    expect(facilitator.charged).toHaveLength(1)
  },
)

test('what was settled when a server died is booked after', async () => {
  const booker = await somebody()
  vi.spyOn(Bookings, 'findOneAndUpdate').mockImplementationOnce(() => {
    throw new Error('died')
  })
  await booker.tries('rest', booking.schedule, { ...at(9), paymentHeader: await pay() })
  await expect.poll(callsOfHost).toMatchObject([{ status: 'confirmed', payment_status: 'paid' }])
  expect(facilitator.charged).toHaveLength(1)
})

test(
  'a call is never charged for after it was cancelled while it was paid for, and its time is free',
  heavy,
  async () => {
    const [booker, other] = [await somebody(), await somebody()]
    facilitator.settlements.push({ state: 'unknown' })
    const asked = { ...at(9), paymentHeader: await pay() }
    expect(outcomeOf(await booker.tries('socket', booking.schedule, asked))).toBe('202 PAYMENT_PENDING')
    const [held] = await callsOfHost()
    expect(outcomeOf(await host.tries('rest', booking.invite, { callId: held?.id ?? '' }))).toBe('403 FORBIDDEN')
    const unknown = { status: 'cancelled', is_paid: false, payment_status: 'pending' }
    const cancel = { id: held?.id ?? '', status: 'cancelled' } as const
    for (const door of over)
      expect(await host.does(door, booking.cancel, cancel)).toMatchObject({
        scheduledCall: unknown,
        payment: 'unknown',
      })
    const tries = async () => (await Payments.findOne({ agent_id: `call:${host.account}` }).lean())?.attempts
    await expect.poll(tries).toBeGreaterThan(2)
    expect([facilitator.asked.settle, facilitator.charged]).toEqual([1, []])
    expect((await booker.does('rest', booking.calls, {})).calls).toMatchObject([unknown])
    await other.does('rest', booking.schedule, { ...at(9), isPaid: false })
  },
)

test('nobody is asked to settle what was only verified when its call was cancelled', async () => {
  const booker = await somebody()
  let cancelled: unknown
  vi.spyOn(Bookings, 'create').mockImplementationOnce((async (call: StoredBooking) => {
    await Bookings.create(call)
    cancelled = await host.does('rest', booking.cancel, { id: call._id, status: 'cancelled' })
  }) as never)
  const asked = { ...at(9), paymentHeader: await pay() }
  expect(outcomeOf(await booker.tries('rest', booking.schedule, asked))).toBe('402 X402_PAYMENT_FAILED')
  expect(cancelled).toMatchObject({ payment: 'withdrawn', scheduledCall: { payment_status: null } })
  expect(facilitator.asked).toEqual({ verify: 1, settle: 0 })
  for (const who of [host, booker])
    expect((await who.does('rest', booking.calls, {})).calls).toMatchObject([{ status: 'cancelled', is_paid: false }])
  expect(outcomeOf(await booker.tries('socket', booking.schedule, asked))).toBe('402 X402_PAYMENT_FAILED')
})

solo.each(over)(
  'what was settled when its call was cancelled stays with the host, and is said to, over %s',
  async (door) => {
    const email = `sells-${people}@example.test`
    const booker = await somebody()
    facilitator.meanwhile = async () => {
      const [held] = await callsOfHost()
      const cancelled = await host.does(door, booking.cancel, { id: held?.id ?? '', status: 'cancelled' })
      expect(cancelled.payment).toBe('unknown')
    }
    const owed = { status: 'cancelled', is_paid: true, payment_status: 'paid' }
    expect(await booker.does(door, booking.schedule, { ...at(9), paymentHeader: await pay() })).toMatchObject(owed)
    facilitator.meanwhile = () => undefined
    const { id } = await booker.does(door, booking.schedule, { ...at(11), paymentHeader: await pay() })
    for (const who of [host, booker])
      expect(await who.does(door, booking.cancel, { id, status: 'cancelled' })).toMatchObject({
        scheduledCall: owed,
        payment: 'kept',
      })
    const free = await booker.does(door, booking.schedule, { ...at(13), isPaid: false })
    expect((await booker.does(door, booking.cancel, { id: free.id, status: 'cancelled' })).payment).toBeNull()
    const told = (await lettersTo(server, email)).filter(({ subject }) => subject === 'A call is cancelled')
    expect(told.map(({ text }) => text)).toEqual([
      expect.not.stringMatching(/charged|stays with the host/),
      expect.stringContaining('What was paid for it stays with the host'),
      expect.stringContaining('Whether it was charged is not known yet'),
    ])
  },
)

solo('a time is free again where its payment is rejected, or nobody works on it any more', async () => {
  const [booker, other] = [await somebody(), await somebody()]
  facilitator.settlements.push({ state: 'refused', reason: 'failed' })
  const failed = { ...at(9), paymentHeader: await pay() }
  expect(outcomeOf(await booker.tries('rest', booking.schedule, failed))).toBe('402 X402_PAYMENT_FAILED')
  await other.does('rest', booking.schedule, { ...at(9), isPaid: false })
  expect(await callsOfHost()).toHaveLength(1)

  const asked = { ...at(11), paymentHeader: await pay() }
  facilitator.settlements.push(...Array.from({ length: 50 }, () => ({ state: 'unknown' }) as const))
  expect(outcomeOf(await booker.tries('rest', booking.schedule, asked))).toBe('202 PAYMENT_PENDING')
  // As a server leaves it that dies once it holds the time, while no other works on it.
  const died = async () => {
    const unknown = { agent_id: `call:${host.account}`, state: 'unknown', leased_until: { $lte: new Date() } } as const
    const left = { state: 'verifying', holder: 'a server that died', leased_until: new Date(0) } as const
    return (await Payments.updateOne(unknown, { $set: left })).modifiedCount
  }
  await expect.poll(died).toBe(1)
  facilitator.settlements.length = 0
  await expect.poll(callsOfHost).toHaveLength(1)
  // MongoDB frees the key of a unique index whose field is unset; the store that plays it in tests does not.
  if (process.env.PLAZA_TEST_STORE === 'mongodb') return
  // Whoever freed the time may still hold the payment.
  const again = () => booker.tries('rest', booking.schedule, asked)
  await expect.poll(again).toMatchObject({ ok: true, data: { status: 'confirmed', is_paid: true } })
})

solo(
  'a time is free again where nobody can tell what came of its payment, and the payment is good for another',
  heavy,
  async () => {
    onTestFinished(() => server.setAhead(0))
    const by = (name: string, more: object) => asGuest(server.url, { ...at(9), ...guestOf(name), ...more })
    const paymentHeader = await pay({ until: 4_102_444_800 })
    facilitator.settlements.push(...Array.from({ length: 50 }, () => ({ state: 'unknown' }) as const))
    expect(outcomeOf(await by('Ann', { paymentHeader }))).toBe('202 PAYMENT_PENDING')
    server.setAhead(1_200)
    expect(outcomeOf(await by('Bob', { isPaid: false }))).toBe('409 SLOT_TAKEN')
    server.setAhead(1_400)
    const held = () => Bookings.countDocuments({ recipient_wallet_address: host.account, payment_status: 'pending' })
    await expect.poll(held).toBe(0)
    expect(outcomeOf(await by('Bob', { isPaid: false }))).toBe('200')
    await expect.poll(() => notBooked(guestOf('Ann').guestEmail)).toHaveLength(1)
    const [told] = await notBooked(guestOf('Ann').guestEmail)
    expect(told?.text).toMatch(/may be charged all the same until Friday,? 1 January 2100/)
    facilitator.settlements.length = 0
    const later = () => by('Ann', { scheduledAt: inThreeDays(11), paymentHeader })
    const { settle } = facilitator.asked
    const tries = async () => (await Payments.findOne({ agent_id: `call:${host.account}` }).lean())?.attempts ?? 0
    const before = await tries()
    server.setAhead(1_800)
    await expect.poll(tries).toBeGreaterThan(before)
    expect([facilitator.asked.settle, facilitator.charged]).toEqual([settle, []])
    // MongoDB frees the key of a unique index whose field is unset; the store that plays it in tests does not.
    if (process.env.PLAZA_TEST_STORE === 'mongodb') return
    await expect.poll(async () => outcomeOf(await later())).toBe('200')
    expect(facilitator.charged).toHaveLength(1)
  },
)

solo(
  'what was charged for a call that is not booked buys another time, also once the payment is over',
  heavy,
  async () => {
    onTestFinished(() => server.setAhead(0))
    const paymentHeader = await pay()
    const asks = (hour: number) => asGuest(server.url, { ...at(hour), ...guestOf('Cleo'), paymentHeader })
    facilitator.settlements.push('lost', ...Array.from({ length: 50 }, () => ({ state: 'unknown' }) as const))
    expect(outcomeOf(await asks(9))).toBe('202 PAYMENT_PENDING')
    server.setAhead(1_400)
    await expect.poll(() => notBooked(guestOf('Cleo').guestEmail)).toHaveLength(1)
    facilitator.settlements.length = 0
    // MongoDB frees the key of a unique index whose field is unset; the store that plays it in tests does not.
    if (process.env.PLAZA_TEST_STORE === 'mongodb') return
    await expect.poll(async () => outcomeOf(await asks(11))).toBe('200')
    expect(facilitator.charged).toHaveLength(1)
  },
)

solo(
  'who paid for a call that is not booked is told until when they may be charged, and its host has none of it',
  async () => {
    onTestFinished(() => server.setAhead(0))
    const name = `pays in vain ${++people}`
    const until = Math.floor(Date.now() / 1_000) + 600
    const guestEmail = `pays.in.vain.${people}@example.test`
    facilitator.settlements.push(...Array.from({ length: 50 }, () => ({ state: 'unknown' }) as const))
    const asked = { ...at(9), guestEmail, paymentHeader: await pay({ until }) }
    const first = await person(server, name)
    expect(outcomeOf(await first.tries('rest', booking.schedule, asked))).toBe('202 PAYMENT_PENDING')
    server.setAhead(900)
    const booker = await person(server, name)
    const line = await booker.socket('/notifications')
    server.setAhead(1_100)
    const { call } = await line.hears(scheduledCallChanged, (heard) => heard.call.status === 'cancelled')
    const payment_usable_until = new Date(until * 1_000).toISOString()
    const told = { is_paid: false, payment_status: null, payment_usable_until }
    expect(call).toMatchObject(told)
    expect((await booker.does('rest', booking.calls, { status: 'past' })).calls).toMatchObject([told])
    const cancel = { id: call.id, status: 'cancelled' } as const
    for (const door of over) expect((await booker.does(door, booking.cancel, cancel)).payment).toBe('unknown')
    await expect.poll(() => notBooked(guestEmail)).toHaveLength(1)
    expect((await notBooked(guestEmail))[0]?.text).toContain('what was not charged by now never will be')
    expect(await Bookings.countDocuments({ parties: host.account })).toBe(0)
    await expect.poll(async () => (await Bookings.findOne({ _id: call.id }).lean())?.tell_at).toBeUndefined()
    await Bookings.updateOne({ _id: call.id }, { $set: { tell_at: new Date(0) } })
    await followUpOlderCalls(server.apps[0]?.node ?? expect.fail())
    await expect.poll(async () => (await Bookings.findOne({ _id: call.id }).lean())?.tell_at).toBeUndefined()
    expect(await notBooked(guestEmail)).toHaveLength(1)

    const sentAgain = async () => (await booker.rest('POST /api/scheduling/schedule', asked)).body
    const isOver = { code: 'PAYMENT_PENDING', payment: { state: 'unknown', is_over: true } }
    await expect.poll(sentAgain).toMatchObject(isOver)
    facilitator.settlements.length = 0
    const anew = { ...asked, paymentHeader: await pay({ until: until + 3_600 }) }
    expect(await booker.does('rest', booking.schedule, anew)).toMatchObject({ is_paid: true, payment_status: 'paid' })
    expect(facilitator.charged).toHaveLength(1)
  },
)

solo(
  'nothing is charged for a time at which the calendar of the host is busy, or while it does not answer',
  async () => {
    const booker = await somebody()
    const start = Date.parse(inThreeDays(9))
    await connectCalendar(host)
    calendars.kept.set(host.account, [{ start, end: start + 3_600_000 }])
    const paymentHeader = await pay()
    const busy = await booker.rest('POST /api/scheduling/schedule', { ...at(9), paymentHeader })
    expect([busy.status, busy.body.source]).toEqual([409, 'calendar'])
    calendars.away = 'TIMEOUT'
    const away = outcomeOf(await booker.tries('rest', booking.schedule, { ...at(11), paymentHeader }))
    calendars.away = null
    expect([away, facilitator.asked]).toEqual(['503 SERVICE_UNAVAILABLE', { verify: 0, settle: 0 }])
    const booked = await booker.does('rest', booking.schedule, { ...at(11), paymentHeader })
    expect(booked).toMatchObject({ is_paid: true, payment_status: 'paid' })
  },
)

solo.each(over)('a payment that is no good books nothing, and is told why, over %s', async (door) => {
  const booker = await somebody()
  const outcome = async (paymentHeader: string) =>
    outcomeOf(await booker.tries(door, booking.schedule, { ...at(9), paymentHeader }))
  expect(await outcome('nonsense')).toBe('402 INVALID_PAYMENT')
  expect(await outcome(await pay({ to: wallet('other').address }))).toBe('402 INVALID_PAYMENT')
  expect(await outcome(await pay({ value: '5549999' }))).toBe('402 INSUFFICIENT_PAYMENT')
  expect(await outcome(await pay({ network: 'base' }))).toBe('402 WRONG_NETWORK')
  expect(await outcome(await pay({ until: 1_000 }))).toBe('402 PAYMENT_EXPIRED')
  expect(facilitator.asked).toEqual({ verify: 0, settle: 0 })
  facilitator.settlements.push({ state: 'refused', reason: 'failed' })
  expect(await outcome(await pay())).toBe('402 X402_PAYMENT_FAILED')
  for (const away of ['UPSTREAM_ERROR', 'TIMEOUT'] as const) {
    facilitator.away = away
    expect(await outcome(await pay())).toMatch(new RegExp(`^50[24] ${away}$`))
  }
  facilitator.away = null
  expect(await callsOfHost()).toEqual([])
  facilitator.settlements.push({ state: 'unknown' })
  expect(await outcome(await pay())).toBe('202 PAYMENT_PENDING')
  const { body } = await booker.rest('POST /api/scheduling/schedule', { ...at(10), paymentHeader: 'nonsense' })
  expect(body).toMatchObject({ details: { message: expect.stringMatching(/not valid/) }, priceCents: price })
  await expect.poll(callsOfHost).toMatchObject([{ payment_status: 'paid' }])
})

solo('what is not sold costs nothing; where nothing can be carried out, nothing is asked for', async () => {
  const booker = await somebody()
  await host.does('rest', scheduling.configure, { scheduling_price_cents: 0 })
  const free = await booker.does('rest', booking.schedule, at(9))
  expect(free).toMatchObject({
    is_paid: false,
    duration_minutes: 30,
    platform_fee_cents: 0,
    platform_fee_status: 'waived',
  })
  await host.does('rest', scheduling.configure, { scheduling_paid_enabled: false })
  expect(await booker.does('rest', booking.schedule, at(11))).toMatchObject({ is_paid: false, duration_minutes: 15 })
  host = await sells({ scheduling_network: 'polygon' })
  expect(outcomeOf(await booker.tries('rest', booking.schedule, at(9)))).toBe('503 SERVICE_UNAVAILABLE')
  const shown = await asGuest(server.url, { ...at(9), ...guestOf('Ann') })
  expect(shown.status).toBe(503)
})
