// Modes: embedded
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { followUpOlderCalls } from '#server/domains/meetings/booking/book'
import { Bookings } from '#server/domains/meetings/scheduling/model'
import type { Node } from '#server/kernel/context'
import { booking, scheduledCallChanged } from '#shared/api/meetings/booking'
import { scheduling } from '#shared/api/meetings/scheduling'
import { accounts } from '#shared/api/people/accounts'
import type { CallOf } from '#shared/kit/contract'
import { asGuest, bookable as bookableOn, guestOf, inThreeDays, openAlways } from '#test/support/bookings'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { letterAfter, lettersTo } from '#test/support/letters'
import { outcomeOf, over, type Person, person } from '#test/support/people'
import { call, wallet } from '#test/support/wallet'

let server: Booted
let root: Person
let people = 0
const somebody = () => person(server, `letters ${++people}`)
async function bookable(more: CallOf<typeof scheduling.configure> = {}) {
  const name = `host of letters ${++people}`
  const host = await bookableOn(server, name, more)
  await openAlways(host)
  return { host, email: `${name.replace(/\W+/g, '-')}@example.test` }
}
const callsTo = async (email: string) =>
  (await lettersTo(server, email)).filter(({ subject }) => subject?.startsWith('A call is'))

/** The first job follows the call up. */
function failSecondJob({ jobs }: Node) {
  vi.restoreAllMocks()
  const add = jobs.add.bind(jobs)
  vi.spyOn(jobs, 'add').mockImplementationOnce(add).mockRejectedValueOnce(new Error('failed'))
}

beforeAll(async () => {
  server = await boot({
    environment: { SUPER_ADMINS: wallet('root').address, MAIL_URL: 'captured', VERDICT_STEPS: '5000' },
  })
  root = await person(server, 'root')
})
afterAll(() => server.close())

describe('letters about a call', () => {
  test('go to the guest and to the host, with an appointment; the one to the guest says nothing that the guest has said', async () => {
    const { host, email } = await bookable()
    await host.rest('POST /api/username', { username: `tea_${people}` })
    const guest = guestOf(`Cheap Pills ${people}`)
    const notes = 'Go to https://evil.example'
    const asked = { recipientAddress: host.account, scheduledAt: inThreeDays(9), notes, title: 'Cheap pills' }
    const zone = { timezone: 'America/New_York' }
    const letter = await letterAfter(server, guest.guestEmail, async () => {
      expect((await asGuest(server.url, { ...asked, ...zone, ...guest })).status).toBe(200)
    })
    expect(letter.subject).toBe('A call is booked')
    expect(letter.text).not.toMatch(/pills|evil/i)
    expect(letter.text).toContain('America/New_York')
    const [{ invite_token: token, invite_sent_at } = { invite_token: '', invite_sent_at: null }] = (
      await host.does('rest', booking.calls, {})
    ).calls
    expect(invite_sent_at).not.toBeNull()
    expect(letter.text).toContain(`/join/${token}`)
    const { text = '', method } = letter.calendar ?? {}
    expect(method).toBe('REQUEST')
    const entry = text.replace(/\r\n /g, '')
    expect(entry).toContain(`DTSTART:${inThreeDays(9).replace(/[-:]|\.000/g, '')}\r\n`)
    expect(entry).toMatch(new RegExp(`SUMMARY:Call with tea_${people}\\r\\n`))
    expect(entry).toContain('TRIGGER:-PT15M')
    expect(entry).toContain(`mailto:${guest.guestEmail}\r\n`)
    expect(entry).not.toMatch(/evil/)
    const [toHost] = await callsTo(email)
    for (const said of ['Cheap pills', notes, guest.guestName, guest.guestEmail]) expect(toHost?.text).toContain(said)
  })

  test('O25: say the time in the zone of their reader, and in brackets in that of the other', async () => {
    const { host, email } = await bookable()
    const { windows } = await host.does('rest', scheduling.windows, {})
    for (const { id, day_of_week: dayOfWeek } of windows) {
      const allDay = { id, dayOfWeek, startTime: '00:00', endTime: '24:00' }
      await host.does('rest', scheduling.setWindow, { ...allDay, timezone: 'Asia/Tokyo' })
    }
    const guest = guestOf(`Ann ${people}`)
    const asked = { recipientAddress: host.account, scheduledAt: inThreeDays(20), timezone: 'Asia/Kolkata', ...guest }
    const { id } = booking.schedule.output.parse((await asGuest(server.url, asked)).body)
    await host.does('rest', booking.cancel, { id, status: 'cancelled' })
    const kolkata = /\w+[^\n]+ 01:30 \(Asia\/Kolkata\)/.source
    const tokyo = /\w+[^\n]+ 05:00 \(Asia\/Tokyo\)/.source
    for (const [address, own, other] of [
      [guest.guestEmail, kolkata, tokyo],
      [email, tokyo, kolkata],
    ] as const) {
      const letters = await callsTo(address)
      expect(letters).toHaveLength(2)
      for (const { text } of letters) expect(text).toMatch(new RegExp(`\n${own}\n\\[${other}\\]\n`))
    }
  })

  test('say that it was cancelled, once', async () => {
    const { host, email } = await bookable()
    const guest = guestOf(`Ann ${people}`)
    const asked = { recipientAddress: host.account, scheduledAt: inThreeDays(9), ...guest }
    const { id } = booking.schedule.output.parse((await asGuest(server.url, asked)).body)
    for (let time = 0; time < 2; time++) await host.does('rest', booking.cancel, { id, status: 'cancelled' })
    for (const address of [guest.guestEmail, email]) {
      const letters = await callsTo(address)
      expect(letters.map(({ subject }) => subject)).toEqual(['A call is cancelled', 'A call is booked'])
      expect(letters[0]?.calendar).toMatchObject({ method: 'CANCEL', text: expect.stringMatching(/STATUS:CANCELLED/) })
    }
  })
})

describe('letters about a call of which nobody was told', () => {
  test('are written after all where the server failed, and to nobody twice', heavy, async () => {
    const { host, email } = await bookable()
    const guest = guestOf(`Ann ${people}`)
    const node = server.apps[0]?.node
    if (!node) throw new Error('No node')
    failSecondJob(node)
    const asked = { recipientAddress: host.account, scheduledAt: inThreeDays(9), ...guest }
    expect((await asGuest(server.url, asked)).status).toBe(500)
    onTestFinished(() => server.setAhead(0))
    server.setAhead(20)
    const told = async () => [(await callsTo(guest.guestEmail)).length, (await callsTo(email)).length]
    await expect.poll(told).toEqual([1, 1])
    const ofHost = { recipient_wallet_address: host.account }
    const isTold = async () => (await Bookings.findOne(ofHost).lean())?.tell_at === undefined
    await expect.poll(isTold).toBe(true)
    await Bookings.updateOne(ofHost, { $set: { tell_at: new Date(0) } })
    await followUpOlderCalls(node)
    await expect.poll(isTold).toBe(true)
    expect(await told()).toEqual([1, 1])
  })

  test('are written of its cancelling, too, and its host hears of it, though the server failed', heavy, async () => {
    const { host, email } = await bookable()
    const guest = guestOf(`Ann ${people}`)
    const asked = { recipientAddress: host.account, scheduledAt: inThreeDays(9), ...guest }
    const { id, invite_token: token } = booking.schedule.output.parse((await asGuest(server.url, asked)).body)
    const line = await host.socket('/notifications')
    const node = server.apps[0]?.node
    if (!node) throw new Error('No node')
    failSecondJob(node)
    const cancelling = { status: 'cancelled', token }
    expect((await call(server.url, `PATCH /api/scheduling/calls/${id}`, cancelling)).status).toBe(500)
    expect((await host.does('rest', booking.calls, {})).calls).toMatchObject([{ status: 'cancelled' }])
    onTestFinished(() => server.setAhead(0))
    server.setAhead(20)
    const cancelled = async (address: string) =>
      (await callsTo(address)).filter(({ subject }) => subject === 'A call is cancelled').length
    const told = async () => [await cancelled(guest.guestEmail), await cancelled(email)]
    await expect.poll(told).toEqual([1, 1])
    await line.hears(scheduledCallChanged, (heard) => heard.call.id === id && heard.call.status === 'cancelled')
    const isTold = async () => (await Bookings.findOne({ _id: id }).lean())?.tell_at === undefined
    await expect.poll(isTold).toBe(true)
    await Bookings.updateOne({ _id: id }, { $set: { tell_at: new Date(0) } })
    await followUpOlderCalls(node)
    await expect.poll(isTold).toBe(true)
    expect(await told()).toEqual([1, 1])
  })
})

describe('an invitation', () => {
  test.each(over)('is sent by the host alone, to whom they name or who is known, over %s', async (door) => {
    const { host, email } = await bookable()
    const [booker, other] = [await somebody(), await somebody()]
    const asked = { recipientAddress: host.account, scheduledAt: inThreeDays(9) }
    const { id } = await booker.does('rest', booking.schedule, asked)
    const outcome = async (by: Person, more: object = { scheduledCallId: id }) =>
      outcomeOf(await by.tries(door, booking.invite, more))
    expect(await outcome(other)).toBe('404 CALL_NOT_FOUND')
    expect(await outcome(host, { callId: 'none' })).toBe('404 CALL_NOT_FOUND')
    expect(await outcome(booker)).toBe('403 FORBIDDEN')
    expect(await outcome(host, {})).toBe('400 VALIDATION_ERROR')
    for (const schedulerEmail of ['nobody', 'a@example.test\r\nBcc: b@example.test', 'a@example.test,b@example.test'])
      expect(await outcome(host, { callId: id, schedulerEmail })).toBe('400 VALIDATION_ERROR')
    expect(await host.does(door, booking.invite, { callId: id })).toEqual({
      success: true,
      emailsSent: [{ email, type: 'host' }],
    })
    const named = { scheduledCallId: id, schedulerEmail: `named.${people}@example.test`, recipientEmail: email }
    expect((await host.does(door, booking.invite, named)).emailsSent).toEqual([
      { email: named.schedulerEmail, type: 'guest' },
      { email, type: 'host' },
    ])
    expect(await callsTo(named.schedulerEmail)).toHaveLength(1)
    await host.does('rest', booking.cancel, { id, status: 'cancelled' })
    expect(await outcome(host)).toBe('409 CALL_OVER')
    await root.does('rest', accounts.suspend, { userAddress: host.account, ban: true })
    expect(await outcome(host)).toBe('403 SUSPENDED')
  })

  test('says what was said of the call to the host’s own address alone', async () => {
    const { host, email } = await bookable()
    const asked = { recipientAddress: host.account, scheduledAt: inThreeDays(9), title: 'Cheap pills', notes: 'evil' }
    const booked = await asGuest(server.url, { ...asked, ...guestOf(`Ann ${people}`) })
    const made = await host.does('rest', booking.createShareable, {
      scheduledAt: inThreeDays(11),
      title: 'Cheap pills',
    })
    for (const { id: callId } of [booking.schedule.output.parse(booked.body), made]) {
      const [recipientEmail, schedulerEmail] = [`victim.${callId}@example.test`, `other.${callId}@example.test`]
      await host.does('rest', booking.invite, { callId, recipientEmail, schedulerEmail })
      for (const address of [recipientEmail, schedulerEmail]) {
        const [letter] = await callsTo(address.toLowerCase())
        expect(letter?.text).toContain('/join/')
        expect(`${letter?.text} ${letter?.calendar?.text}`).not.toMatch(/pills|evil|Ann/)
      }
    }
    expect((await callsTo(email))[0]?.text).toContain('Cheap pills')
  })

  test('is refused where no letters are sent', async () => {
    const who = await somebody()
    const { id } = await who.does('rest', booking.createShareable, { scheduledAt: inThreeDays(9) })
    const node = server.apps[0]?.node
    if (!node) throw new Error('No node')
    const { mail } = node.services
    node.services.mail = null
    expect(outcomeOf(await who.tries('rest', booking.invite, { callId: id }))).toBe('503 SERVICE_UNAVAILABLE')
    node.services.mail = mail
    expect(outcomeOf(await who.tries('rest', booking.invite, { callId: id }))).toBe('400 VALIDATION_ERROR')
  })
})

describe('a call of one’s own', () => {
  test.each(over)('is made at a free time to come, for whoever has its link, over %s', async (door) => {
    const who = await somebody()
    const made = await who.does(door, booking.createShareable, { scheduledAt: inThreeDays(9), title: 'Tea' })
    expect(made).toMatchObject({
      success: true,
      scheduler_wallet_address: who.account,
      recipient_wallet_address: who.account,
      duration_minutes: 30,
      timezone: 'UTC',
      inviteToken: made.invite_token,
      scheduledCall: { id: made.id, title: 'Tea', durationMinutes: 30, scheduledAt: inThreeDays(9) },
    })
    expect((await who.does(door, booking.invited, { token: made.inviteToken })).call.title).toBe('Tea')
    const outcome = async (more: object) =>
      outcomeOf(await who.tries(door, booking.createShareable, { scheduledAt: inThreeDays(9), ...more }))
    expect(await outcome({})).toBe('409 SLOT_TAKEN')
    expect(await outcome({ scheduledAt: new Date(Date.now() - 1_000).toISOString() })).toBe('400 VALIDATION_ERROR')
    expect(await outcome({ timezone: 'Mars/Phobos' })).toBe('400 VALIDATION_ERROR')
    expect(await outcome({ schedulerAddress: root.account })).toBe('403 FORBIDDEN')
    const tries = [
      ['block', 'BLOCKED_WORD'],
      ['mute', 'MESSAGE_REJECTED'],
    ] as const
    for (const [action, code] of tries) {
      const { body } = await root.rest('POST /api/blocked-words', { word: 'zorkmid', action, scope: 'global' })
      const said = { scheduledAt: inThreeDays(12), title: 'Zorkmid' }
      expect((await who.refused(door, booking.createShareable, said)).code).toBe(code)
      const costly = { ...said, title: 'ж'.repeat(100) }
      expect((await who.refused(door, booking.createShareable, costly)).code).toBe('TEXT_TOO_COMPLEX')
      const { id } = z.object({ id: z.string() }).parse(body.word ?? body)
      await root.rest(`DELETE /api/blocked-words?id=${id}`)
    }
    await root.does('rest', accounts.suspend, { userAddress: who.account, ban: true })
    expect(await outcome({ scheduledAt: inThreeDays(14) })).toBe('403 SUSPENDED')
  })
})

describe('the page of who can be booked', () => {
  test('is found by address, username and slug, and says what is offered', async () => {
    const scheduling_slug = `tea-${++people}`
    const { host } = await bookable({ scheduling_slug, scheduling_bio: 'About tea', scheduling_title: 'Tea' })
    const username = `tea_page_${people}`
    await host.rest('POST /api/username', { username })
    const expected = {
      profile: {
        walletAddress: host.account,
        username,
        displayName: username,
        bio: 'About tea',
        title: 'Tea',
        ensName: null,
      },
      scheduling: {
        ...{ freeEnabled: true, paidEnabled: false, freeDuration: 15, paidDuration: 30, priceCents: 0 },
        ...{ network: 'base', payToAddress: null, bufferMinutes: 15, advanceNoticeHours: 24 },
      },
      availability: { timezone: 'UTC' },
    }
    for (const slug of [host.account, host.account.toUpperCase().replace('X', 'x'), username, `@${username}`]) {
      const { status, body } = await call(server.url, `GET /api/public/schedule/${slug}`)
      expect({ status, body }).toMatchObject({ status: 200, body: expected })
    }
    const other = await somebody()
    for (const door of over) {
      const page = await other.does(door, booking.pageBySlug, { slug: scheduling_slug })
      expect(page).toMatchObject(expected)
      expect(page.availability.windows[0]).toEqual({
        ...{ dayOfWeek: 0, startTime: '00:00:00', endTime: '24:00:00', timezone: 'UTC' },
      })
      const outcome = async (slug: string) => [
        outcomeOf(await other.tries(door, booking.page, { slug })),
        outcomeOf(await other.tries(door, booking.pageBySlug, { slug })),
      ]
      expect(await outcome('nobody-here')).toEqual(['404 USER_NOT_FOUND', '404 USER_NOT_FOUND'])
      expect(outcomeOf(await other.tries(door, booking.page, { slug: other.account }))).toBe('403 SCHEDULING_DISABLED')
    }
    expect((await call(server.url, 'GET /api/public/cal/No')).status).toBe(400)
    await host.does('rest', scheduling.configure, { scheduling_enabled: false })
    for (const door of over)
      expect(outcomeOf(await other.tries(door, booking.pageBySlug, { slug: scheduling_slug }))).toBe(
        '403 SCHEDULING_DISABLED',
      )
  })
})
