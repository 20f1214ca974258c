// Modes: embedded
import { describe, expect, test } from 'vitest'
import { booking } from '#shared/api/meetings/booking'
import { calls } from '#shared/api/meetings/calls'
import { scheduling } from '#shared/api/meetings/scheduling'
import { inviteCodes } from '#shared/api/people/invites'
import { bookable, inThreeDays, openAlways } from '#test/support/bookings'
import { bootWith } from '#test/support/boot-with'
import { outcomeOf, over, person } from '#test/support/people'

const { server, admin, who } = await bootWith(['admin', 'who'], { admins: ['admin'] })
const host = await bookable(server, 'host of forms')
await openAlways(host)
let hour = 0

describe.each([
  ['null', null],
  ['a text with nothing in it', ''],
] as const)('%s in a field that may be left out', (_name, empty) => {
  test.each(over)('is as good as leaving it out, where a call is booked, over %s', async (door) => {
    hour += 2
    const given = { recipientAddress: host.account, scheduledAt: inThreeDays(hour) }
    const times = { timezone: empty, durationMinutes: empty }
    const people = { schedulerAddress: empty, guestName: empty, guestEmail: empty }
    const rest = { title: empty, isPaid: empty, ...(empty === '' && { paymentHeader: empty }) }
    expect(await who.does(door, booking.schedule, { ...given, ...times, ...people, ...rest })).toMatchObject({
      ...{ scheduler_wallet_address: who.account, title: 'Scheduled Call', timezone: 'UTC' },
      ...{ duration_minutes: 15, scheduler_email: null, is_paid: false },
    })
    const id = (await who.does(door, booking.calls, { status: 'upcoming' })).calls.at(-1)?.id ?? ''
    await who.does(door, booking.cancel, { id, status: 'cancelled', token: empty })
    const shared = { scheduledAt: inThreeDays(hour), ...times, title: empty, schedulerAddress: empty }
    expect(await who.does(door, booking.createShareable, shared)).toMatchObject({
      ...{ duration_minutes: 30, title: 'Scheduled Call', timezone: 'UTC' },
    })
  })

  test.each(over)('is so where a call is told, over %s', async (door) => {
    const told = { calleeAddress: who.account, callType: 'audio', status: 'completed' } as const
    const times = { startedAt: empty, endedAt: empty, durationSeconds: empty }
    const { call } = await host.does(door, calls.start, { ...told, ...times, channelName: empty })
    expect(call).toMatchObject({ status: 'completed', ended_at: null, duration_seconds: 0, channel_name: null })
    const { startedAt: _, ...ends } = times
    expect((await host.does(door, calls.change, { callId: call.id, ...ends })).call).toEqual(call)
  })

  test('is so where an admin makes a code', async () => {
    const { code } = await admin.does('rest', inviteCodes.create, { customCode: empty, expiresAt: empty })
    expect(code).toMatchObject({ code: expect.stringMatching(/^[A-Z0-9]{4,}$/), expires_at: null })
  })

  test.each(over)('clears what may be cleared in settings, over %s', async (door) => {
    const set = {
      ...{ scheduling_slug: `forms-${door}`, scheduling_title: 'Tea', scheduling_bio: 'Of tea' },
      scheduling_wallet_address: who.account,
    }
    expect((await who.does(door, scheduling.configure, set)).settings).toMatchObject(set)
    const cleared = Object.fromEntries(Object.keys(set).map((name) => [name, empty]))
    expect((await who.does(door, scheduling.configure, cleared)).settings).toMatchObject(
      Object.fromEntries(Object.keys(set).map((name) => [name, null])),
    )
  })
})

test('a field that holds something wrong is refused as before, and so is the address of another', async () => {
  const given = { recipientAddress: host.account, scheduledAt: inThreeDays(20) }
  const refused = async (more: object) => outcomeOf(await who.tries('rest', booking.schedule, { ...given, ...more }))
  for (const wrong of [{ guestEmail: 'ann' }, { title: ' ' }, { durationMinutes: '15' }, { isPaid: 'yes' }])
    expect([wrong, await refused(wrong)]).toEqual([wrong, '400 VALIDATION_ERROR'])
  expect(await refused({ schedulerAddress: host.account })).toBe('403 FORBIDDEN')
  const stranger = await person(server, 'stranger to forms')
  const email = await stranger.refused('rest', booking.schedule, { ...given, guestEmail: 'ann' })
  expect(email.message).toMatch(/Invalid email format/)
})
