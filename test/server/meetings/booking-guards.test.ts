// Modes: embedded
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { Bookings } from '#server/domains/meetings/scheduling/model'
import { fakeFacilitator } from '#server/ports/facilitator/fake'
import { booking } from '#shared/api/meetings/booking'
import { scheduling } from '#shared/api/meetings/scheduling'
import { asGuest, bookable, guestOf, inThreeDays, openAlways } from '#test/support/bookings'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { paymentOf } from '#test/support/payments'
import { outcomeOf, over, type Person, person } from '#test/support/people'
import { wallet } from '#test/support/wallet'

const facilitator = fakeFacilitator()
const payer = wallet('who pays for guarded calls')
let server: Booted
let host: Person
let people = 0
const somebody = () => person(server, `guards ${++people}`)
const pay = () => paymentOf(payer, { to: host.account, value: '5550000' })
const at = (hour: number) => ({ recipientAddress: host.account, scheduledAt: inThreeDays(hour) })
const paidAt = (hour: number) => ({ ...at(hour), isPaid: true })
const sets = (settings: Parameters<typeof bookable>[2]) => host.does('rest', scheduling.configure, settings ?? {})

beforeAll(async () => {
  server = await boot({ services: { facilitator } })
})
afterAll(() => server.close())
beforeEach(async () => {
  const name = `guarded ${++people}`
  host = await bookable(server, name, {
    ...{ scheduling_paid_enabled: true, scheduling_price_cents: 555, scheduling_network: 'base-sepolia' },
    scheduling_wallet_address: wallet(name).address.toLowerCase(),
  })
  await openAlways(host)
})
afterEach(() => {
  server.setAhead(0)
  Object.assign(facilitator, { isSimulated: false, meanwhile: () => undefined })
})

/** A payment that was settled by the version before, which held no time: nothing is booked for it. */
async function settledFor(booker: Person): Promise<string> {
  const paymentHeader = await pay()
  await booker.does('rest', booking.schedule, { ...paidAt(9), paymentHeader })
  await Bookings.deleteMany({ recipient_wallet_address: host.account, payment_id: { $exists: true } })
  return paymentHeader
}

test('a payment that was settled before is of the network and of the kind that are wanted now', async () => {
  const booker = await somebody()
  const asked = { ...paidAt(11), paymentHeader: await settledFor(booker) }
  await sets({ scheduling_network: 'base' })
  for (const door of over)
    expect(outcomeOf(await booker.tries(door, booking.schedule, asked))).toBe('402 WRONG_NETWORK')
  await sets({ scheduling_network: 'base-sepolia' })
  Object.assign(facilitator, { isSimulated: true })
  expect(outcomeOf(await booker.tries('rest', booking.schedule, asked))).toBe('402 WRONG_NETWORK')
  Object.assign(facilitator, { isSimulated: false })
  expect((await booker.does('rest', booking.schedule, asked)).is_paid).toBe(true)
})

test('a payment keeps the price at which it was settled for a day', async () => {
  const late = `late ${++people}`
  const [booker, other] = [await somebody(), await person(server, late)]
  const first = { ...paidAt(11), paymentHeader: await settledFor(booker) }
  const paymentHeader = await settledFor(other)
  await sets({ scheduling_price_cents: 2_000 })
  const booked = await booker.does('rest', booking.schedule, first)
  expect(booked).toMatchObject({ payment_amount_cents: 555, platform_fee_cents: 6 })
  const ahead = 25 * 3_600
  server.setAhead(ahead)
  const later = await person(server, late)
  const again = { ...paidAt(15), scheduledAt: inThreeDays(15, Date.now() + ahead * 1_000), paymentHeader }
  expect(outcomeOf(await later.tries('rest', booking.schedule, again))).toBe('402 INSUFFICIENT_PAYMENT')
})

test('a guest is given a call again by its payment for an hour, and who is signed in for good', async () => {
  const booker = await somebody()
  const name = `guards ${people}`
  const guest = { ...paidAt(9), ...guestOf('Ann'), paymentHeader: await pay() }
  const asked = { ...paidAt(11), paymentHeader: await pay() }
  const { id } = booking.schedule.output.parse((await asGuest(server.url, guest)).body)
  const mine = await booker.does('rest', booking.schedule, asked)
  server.setAhead(3_500)
  expect((await asGuest(server.url, guest)).body.id).toBe(id)
  server.setAhead(3_700)
  const shown = await asGuest(server.url, guest)
  expect(outcomeOf(shown)).toBe('402 INVALID_PAYMENT')
  expect(JSON.stringify(shown.body)).not.toContain('invite_token')
  const later = await person(server, name)
  expect((await later.does('rest', booking.schedule, asked)).id).toBe(mine.id)
})

test('who is signed in may be named as they are, and not as somebody else', async () => {
  const [booker, other] = [await somebody(), await somebody()]
  const guestName = `named_${people}`
  expect((await booker.rest('POST /api/username', { username: guestName })).status).toBe(200)
  for (const door of over) {
    expect(outcomeOf(await other.tries(door, booking.schedule, { ...at(9), guestName }))).toBe('400 VALIDATION_ERROR')
    expect(outcomeOf(await booker.tries(door, booking.schedule, { ...at(door === 'rest' ? 9 : 11), guestName }))).toBe(
      '200',
    )
  }
})

test('a slug is not the username of somebody else', async () => {
  const named = await somebody()
  expect((await named.rest('POST /api/username', { username: `slug_of_${people}` })).status).toBe(200)
  const slug = { scheduling_slug: `slug-of-${people}` }
  for (const door of over) expect(outcomeOf(await host.tries(door, scheduling.configure, slug))).toBe('409 SLUG_TAKEN')
  expect(outcomeOf(await named.tries('rest', scheduling.configure, slug))).toBe('200')
})

test('an account has a hundred calls of its own to come', heavy, async () => {
  const who = await somebody()
  const timeOf = (one: number) => new Date(Date.parse(inThreeDays(0)) + one * 1_800_000).toISOString()
  for (let one = 0; one < 100; one++) await who.does('rest', booking.createShareable, { scheduledAt: timeOf(one) })
  const refusal = await who.refused('rest', booking.createShareable, { scheduledAt: timeOf(100) })
  expect(refusal).toMatchObject({
    ...{ status: 429, code: 'RATE_LIMIT_EXCEEDED' },
    message: 'You have made 100 calls that are still to come',
  })
})

test('availability says how long a paid call is', async () => {
  await sets({ scheduling_paid_duration_minutes: 45 })
  const shown = await (await somebody()).does('rest', scheduling.availability, { userAddress: host.account })
  expect(shown).toMatchObject({ duration: 15, paidDuration: 45 })
})
