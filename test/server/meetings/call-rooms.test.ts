// Modes: embedded, two-nodes-redis
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Meetings } from '#server/domains/meetings/meetings/model'
import { Bookings } from '#server/domains/meetings/scheduling/model'
import { booking } from '#shared/api/meetings/booking'
import { meetings } from '#shared/api/meetings/meetings'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { asGuest, bookable, guestOf, inThreeDays, openAlways, verifyEmail } from '#test/support/bookings'
import { bootWith } from '#test/support/boot-with'
import { outcomeOf, over, type Person, people } from '#test/support/people'
import { solo } from '#test/support/solo'
import { call } from '#test/support/wallet'

const minute = 60_000
const { server, root } = await bootWith(['root'], { superAdmins: ['root'] })

let host: Person
let guest: Person
let round = 0
beforeEach(async () => {
  round += 1
  ;[host, guest] = await people(server, `host of a call ${round}`, `comes to a call ${round}`)
})
afterEach(() => server.setAhead(0))

/** A call of the host, of half an hour, in an hour. */
const make = () => {
  const scheduledAt = new Date(Date.now() + 60 * minute).toISOString()
  return host.does('rest', booking.createShareable, { scheduledAt, title: 'Tea' })
}
type Made = Awaited<ReturnType<typeof make>>
/** Sets the clock to so many minutes after the beginning of a call. */
const pass = ({ scheduled_at }: Made, minutes: number) =>
  server.setAhead((Date.parse(scheduled_at) + minutes * minute - Date.now()) / 1_000)
const visit = (token: string, url = server.url) => call(url, `POST /api/scheduling/join/${token}`, {})

solo.each(over)('over %s: a call is entered from five minutes before it begins until it is over', async (door) => {
  const made = await make()
  const { invite_token: token } = made
  pass(made, -6)
  expect(await guest.refused(door, booking.join, { token })).toMatchObject({
    status: 403,
    code: 'FORBIDDEN',
    message: 'This call can be entered from five minutes before it begins',
  })
  expect((await visit(token)).body.opensAt).toBe(new Date(Date.parse(made.scheduled_at) - 5 * minute).toISOString())
  pass(made, -4)
  const room = await guest.does(door, booking.join, { token })
  const { roomId, joinCode, joinUrl } = room
  expect(room).toEqual({ success: true, roomId, joinCode, joinUrl, room: { roomId, joinCode, joinUrl } })
  expect(joinUrl).toBe(`http://localhost:3000/room/${joinCode}`)
  pass(made, 29)
  expect(await host.does(door, booking.join, { token })).toEqual(room)
  const found = await guest.does(door, meetings.get, { code: joinCode })
  expect(found.room).toMatchObject({
    title: 'Tea',
    maxParticipants: 4,
    expiresAt: new Date(Date.parse(made.scheduled_at) + 30 * minute).toISOString(),
    host: { address: host.account },
  })
  const admitted = await call(server.url, `POST /api/rooms/${joinCode}/token`, { displayName: 'Cora' })
  expect(admitted).toMatchObject({ status: 200, body: { roomId, isHost: false } })
  pass(made, 31)
  expect(await guest.refused(door, booking.join, { token })).toMatchObject({
    status: 403,
    message: 'This call is over',
  })
  expect(outcomeOf(await guest.tries(door, meetings.get, { code: joinCode }))).toBe('410 MEETING_EXPIRED')
})

test('of many who come at once, on both nodes, all come into one room; another call has another', async () => {
  const made = await make()
  pass(made, 0)
  const comers = server.urls.flatMap((url) => Array.from({ length: 5 }, () => visit(made.invite_token, url)))
  const answers = await Promise.all(comers)
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.roomId} ${body.joinCode}`)).size).toBe(1)
  expect(await Meetings.countDocuments({ host_wallet_address: host.account })).toBe(1)
  const [first] = answers
  server.setAhead(0)
  const scheduledAt = new Date(Date.parse(made.scheduled_at) + 30 * minute).toISOString()
  const { invite_token: other } = await host.does('rest', booking.createShareable, { scheduledAt })
  pass(made, 30)
  expect((await visit(other)).body.roomId).not.toBe(first?.body.roomId)
})

solo('who comes first as another than its host has opened the invitation', async () => {
  const made = await make()
  pass(made, 0)
  await host.does('rest', booking.join, { token: made.invite_token })
  const opened = async () => (await host.does('rest', booking.calls, {})).calls[0]?.invite_opened_at
  expect(await opened()).toBeNull()
  await visit(made.invite_token)
  expect(await opened()).not.toBeNull()
})

solo.each(over)(
  'over %s: nobody enters one that is not known, was cancelled, or whose host has ended it',
  async (door) => {
    const made = await make()
    const { id, invite_token: token } = made
    pass(made, 0)
    expect(outcomeOf(await guest.tries(door, booking.join, { token: '0'.repeat(32) }))).toBe('404 CALL_NOT_FOUND')
    for (const wrong of ['nothing', token.toUpperCase().replace(/\d/g, 'A'), { $gt: '' }])
      expect(outcomeOf(await guest.tries(door, booking.join, { token: wrong as string }))).toBe('400 VALIDATION_ERROR')
    const { joinCode: code } = await guest.does(door, booking.join, { token })
    expect(outcomeOf(await guest.tries(door, meetings.end, { code }))).toBe('404 ROOM_NOT_FOUND')
    await host.does(door, meetings.end, { code })
    expect(outcomeOf(await guest.tries(door, booking.join, { token }))).toBe('410 MEETING_ENDED')
    await host.does(door, booking.cancel, { id, status: 'cancelled' })
    expect(await guest.refused(door, booking.join, { token })).toMatchObject({
      status: 403,
      message: 'This call is cancelled',
    })
    expect(await Meetings.countDocuments({ host_wallet_address: host.account })).toBe(1)
  },
)

solo.each(over)('over %s: who is suspended enters none', async (door) => {
  const made = await make()
  pass(made, 0)
  await root.does('rest', accounts.suspend, { userAddress: guest.account, ban: true })
  expect(outcomeOf(await guest.tries(door, booking.join, { token: made.invite_token }))).toBe('403 SUSPENDED')
})

describe('of two of whom one has blocked the other since the call was booked', () => {
  const blocked = { status: 403, code: 'BLOCKED' }
  /** Lets a call that was booked begin. */
  const begin = (_id: string) => {
    const times = { scheduled_at: new Date(Date.now() - minute), ends_at: new Date(Date.now() + 14 * minute) }
    return Bookings.updateOne({ _id }, { $set: times })
  }
  const asked = async () => {
    const bookedHost = await bookable(server, `host of a call ${round}`)
    await openAlways(bookedHost)
    return { recipientAddress: bookedHost.account, scheduledAt: inThreeDays(9) }
  }

  test.each(over)(
    'over %s: who is blocked does not enter, with or without a session; the host does, and cancels it',
    async (door) => {
      const { id, invite_token: token } = await guest.does('rest', booking.schedule, await asked())
      await begin(id)
      await guest.does(door, booking.join, { token })
      await host.does('rest', social.block, { userAddress: guest.account })
      const refusal = await guest.refused(door, booking.join, { token })
      expect(refusal).toMatchObject({ ...blocked, message: 'You cannot meet this user' })
      expect(await visit(token)).toMatchObject(blocked)
      await host.does(door, booking.join, { token })
      const { calls } = await host.does(door, booking.calls, {})
      expect(calls).toMatchObject([{ id, status: 'confirmed', scheduler_user: { wallet_address: guest.account } }])
      await host.does(door, booking.cancel, { id, status: 'cancelled' })
    },
  )

  test('who is blocked does not enter as the guest whose address they have verified', async () => {
    const named = guestOf(`Known ${guest.account.slice(-6)}`)
    await verifyEmail(server, guest, named.guestEmail)
    const booked = await asGuest(server.url, { ...(await asked()), ...named })
    const { id, invite_token: token } = booking.schedule.output.parse(booked.body)
    await begin(id)
    expect((await visit(token)).status).toBe(200)
    await guest.does('rest', social.block, { userAddress: host.account })
    expect(await visit(token)).toMatchObject(blocked)
    await guest.does('rest', social.unblock, { userAddress: host.account })
    expect((await visit(token)).status).toBe(200)
  })

  test.each(over)(
    'over %s: who is blocked does not enter by a link that the host has shared, and others do',
    async (door) => {
      const made = await make()
      const { invite_token: token } = made
      pass(made, 0)
      await host.does('rest', social.block, { userAddress: guest.account })
      expect(await guest.refused(door, booking.join, { token })).toMatchObject(blocked)
      expect((await visit(token)).status).toBe(200)
    },
  )
})
