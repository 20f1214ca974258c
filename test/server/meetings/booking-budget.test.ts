// Modes: embedded
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { scheduleOlderDigests } from '#server/domains/meetings/booking/emails'
import { Bookings } from '#server/domains/meetings/scheduling/model'
import { booking } from '#shared/api/meetings/booking'
import { asGuest, bookable, guestOf, inThreeDays, openAlways } from '#test/support/bookings'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { codeFor, lettersTo } from '#test/support/letters'
import { outcomeOf, over, type Person, person } from '#test/support/people'
import { call } from '#test/support/wallet'

let server: Booted
let hosts: Person[]
beforeAll(async () => {
  server = await boot({ environment: { RATE_LIMIT_SCALE: '1', MAIL_URL: 'captured' } })
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

test('from one address calls are entered sixty times in an hour, whatever token is shown', async () => {
  const token = '0'.repeat(32)
  const outcomes: string[] = []
  for (let one = 0; one < 61; one++)
    outcomes.push(outcomeOf(await call(server.url, `POST /api/scheduling/join/${token}`, {})))
  expect(outcomes).toEqual([...Array.from({ length: 60 }, () => '404 CALL_NOT_FOUND'), '429 RATE_LIMIT_EXCEEDED'])
})

test('letters about calls are few to one address, and keep no code for signing in from it', async () => {
  const who = await person(server, 'writes often')
  const { id: callId } = await who.does('rest', booking.createShareable, { scheduledAt: inThreeDays(9) })
  const schedulerEmail = 'often.written@example.test'
  const outcomes: string[] = []
  for (let one = 0; one < 4; one++)
    outcomes.push(outcomeOf(await who.tries('rest', booking.invite, { callId, schedulerEmail })))
  expect(outcomes).toEqual([...Array.from({ length: 3 }, () => '200'), '429 RATE_LIMIT_EXCEEDED'])
  expect(await codeFor(server, schedulerEmail)).toMatch(/^\d{6}$/)
})

test('a host is written within an hour of all for which there were too many letters, in one', heavy, async () => {
  const [host, booker] = [await bookable(server, 'gathers'), await person(server, 'books and cancels')]
  await openAlways(host)
  const letters = async () =>
    (await lettersTo(server, 'gathers@example.test')).filter(({ text }) => /Call with/.test(text))
  const asked = { recipientAddress: host.account, title: 'Tea' }
  for (const hour of [9, 11]) {
    const { id } = await booker.does('rest', booking.schedule, { ...asked, scheduledAt: inThreeDays(hour) })
    await booker.does('rest', booking.cancel, { id, status: 'cancelled' })
  }
  await booker.does('rest', booking.schedule, { ...asked, scheduledAt: inThreeDays(13) })
  expect(await letters()).toHaveLength(3)
  onTestFinished(() => server.setAhead(0))
  server.setAhead(3_700)
  await expect.poll(letters).toHaveLength(4)
  const [gathered] = await letters()
  expect(gathered?.subject).toBe('Bookings were booked or cancelled')
  expect(gathered?.text).toMatch(/is cancelled:.+11:00.+is booked:.+13:00.+\/join\//s)
  expect(gathered?.text).not.toMatch(/09:00/)
})

test(
  'a host who is written at once that a call is cancelled is not written of it again with what was gathered',
  heavy,
  async () => {
    const [host, booker] = [await bookable(server, 'gathers once'), await person(server, 'books much')]
    await openAlways(host)
    const letters = async () =>
      (await lettersTo(server, 'gathers-once@example.test')).filter(({ text }) => /Call with/.test(text))
    const book = async (hour: number) =>
      (await booker.does('rest', booking.schedule, { recipientAddress: host.account, scheduledAt: inThreeDays(hour) }))
        .id
    const cancel = (who: Person, id: string) => who.does('rest', booking.cancel, { id, status: 'cancelled' })
    await cancel(booker, await book(9))
    await book(11)
    expect(await letters()).toHaveLength(3)
    const gathered = await book(13)
    expect(await letters()).toHaveLength(3)
    await cancel(host, gathered)
    expect(await letters()).toHaveLength(4)
    await book(15)
    onTestFinished(() => server.setAhead(0))
    server.setAhead(3_700)
    await expect.poll(letters).toHaveLength(5)
    const [last] = await letters()
    expect(last?.subject).toBe('Bookings were booked or cancelled')
    expect(last?.text).toMatch(/15:00/)
    expect(last?.text).not.toMatch(/13:00/)
  },
)

test('a host is written of the calls that an older version has gathered', async () => {
  const [host, booker] = [await bookable(server, 'gathered before'), await person(server, 'booked before')]
  await openAlways(host)
  const asked = { recipientAddress: host.account, scheduledAt: inThreeDays(9) }
  const { id } = await booker.does('rest', booking.schedule, asked)
  await Bookings.updateOne({ _id: id }, { $set: { write_at: new Date(0) } })
  const node = server.apps[0]?.node
  if (!node) throw new Error('No node')
  await scheduleOlderDigests(node)
  const subjects = async () => (await lettersTo(server, 'gathered-before@example.test')).map(({ subject }) => subject)
  await expect.poll(subjects).toContain('Bookings were booked or cancelled')
  await expect.poll(async () => (await Bookings.findOne({ _id: id }).lean())?.write_at).toBeUndefined()
})
