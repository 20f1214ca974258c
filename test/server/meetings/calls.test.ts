// Modes: embedded, two-nodes-redis
import { beforeEach, describe, expect, test } from 'vitest'
import { Calls } from '#server/domains/meetings/calls/model'
import { type CallStatus, callChanged, calls, incomingCall, ringSeconds } from '#shared/api/meetings/calls'
import { meetings, seating } from '#shared/api/meetings/meetings'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { friends } from '#shared/api/people/friends'
import type { CallOf } from '#shared/kit/contract'
import { bootWith } from '#test/support/boot-with'
import { heavy } from '#test/support/heavy'
import {
  befriend,
  channelOf,
  type Door,
  outcomeOf,
  over,
  type Person,
  people,
  person,
  staysSilent,
} from '#test/support/people'
import { solo } from '#test/support/solo'
import { wallet } from '#test/support/wallet'

/** Guards are as many times as high here; see `test/support/boot.ts`. */
const scale = 8
const { server, root } = await bootWith(['root'], {
  superAdmins: ['root'],
  environment: { RATE_LIMIT_SCALE: String(scale) },
})

let one: Person
let two: Person
let round = 0
beforeEach(async () => {
  server.setAhead(0)
  round += 1
  ;[one, two] = await people(server, `calling ${round}`, `called ${round}`)
  await befriend(one, two)
})

type Start = CallOf<typeof calls.start>
const ring = async (door: Door = 'rest', more: Partial<Start> = {}) =>
  (await one.does(door, calls.start, { calleeAddress: two.account, callType: 'video', status: 'ringing', ...more }))
    .call
const note = async (more: Partial<Start> = {}) => ring('rest', { status: 'completed', ...more })
const change = async (who: Person, callId: string, status: Exclude<CallStatus, 'ringing'>, door: Door = 'rest') =>
  (await who.does(door, calls.change, { callId, status })).call
const outcome = async (who: Person, input: object, door: Door = 'rest') =>
  outcomeOf(await who.tries(door, calls.change, input as never))
const listOf = async (who: Person, door: Door = 'rest') => (await who.does(door, calls.list, {})).calls
const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString()

describe('a call', () => {
  solo.each(over)('over %s: rings, is answered and ends, for both, with its length', async (door) => {
    const call = await ring(door, { channelName: 'room-1' })
    expect(call).toMatchObject({
      caller_address: one.account,
      callee_address: two.account,
      call_type: 'video',
      status: 'ringing',
      ended_at: null,
      duration_seconds: 0,
      channel_name: 'room-1',
      callee: { address: two.account, username: null },
    })
    expect(await change(two, call.id, 'active', door)).toMatchObject({ status: 'active', ended_at: null })
    server.setAhead(90)
    const ended = await change(one, call.id, 'completed', door)
    expect(ended).toMatchObject({ id: call.id, status: 'completed', ended_at: expect.any(String) })
    expect(ended.duration_seconds).toBeGreaterThanOrEqual(89)
    expect(ended.duration_seconds).toBeLessThan(190)
    for (const who of [one, two]) expect(await listOf(who, door)).toEqual([ended])
  })

  test(
    'the devices of the callee are told who rings, and those of both of each change; nobody else is',
    heavy,
    async () => {
      const other = await person(server, 'uninvolved')
      const theirs = [await two.socket('/notifications'), await two.socket('/notifications')]
      const [mine, foreign] = [await one.socket('/notifications'), await other.socket('/notifications')]
      const call = await ring('socket', { channelName: 'room-2' })
      for (const line of theirs)
        expect(await line.hears(incomingCall)).toEqual({ from: one.account, channelName: 'room-2', call })
      expect(await mine.hears(callChanged)).toEqual({ call })
      await change(two, call.id, 'declined')
      for (const line of [...theirs, mine])
        expect((await line.hears(callChanged, ({ call }) => call.status === 'declined')).call.id).toBe(call.id)
      await note({ status: 'missed' })
      for (const line of theirs) await line.hears(callChanged, ({ call }) => call.status === 'missed')
      await staysSilent(foreign, callChanged)
      expect([...theirs, mine, foreign].map((line) => line.all(incomingCall).length)).toEqual([1, 1, 0, 0])
    },
  )

  solo('that nobody answers is missed after a minute, and cannot be answered any more', async () => {
    const { id, started_at } = await ring()
    server.setAhead(ringSeconds + 1)
    const [missed] = await listOf(two)
    const rungOut = new Date(Date.parse(started_at) + ringSeconds * 1_000).toISOString()
    expect(missed).toMatchObject({ id, status: 'missed', ended_at: rungOut, duration_seconds: 0 })
    expect(await outcome(two, { callId: id, status: 'active' })).toBe('409 CONFLICT')
    expect((await change(one, id, 'missed')).status).toBe('missed')
  })

  test('who is in a meeting is not rung: the call is missed at once, and rings again when they have left', async () => {
    const line = await two.line('/notifications')
    const place = await two.socket('/meetings')
    const { joinCode: code } = (await two.does('rest', meetings.create, {})).room
    const { token } = await two.does('rest', meetings.token, { code, displayName: 'Bob' })
    await two.does(place, seating.enter, { token })
    const call = await ring()
    expect(call).toMatchObject({ status: 'missed', ended_at: call.started_at, duration_seconds: 0 })
    await line.hears(callChanged, (told) => told.call.id === call.id && told.call.status === 'missed')
    expect(await outcome(two, { callId: call.id, status: 'active' })).toBe('409 CONFLICT')
    expect(line.all(incomingCall)).toEqual([])
    await two.does(place, seating.leave, {})
    expect((await ring()).status).toBe('ringing')
    await line.hears(incomingCall)
  })

  solo('of which nobody says that it ended has failed after a day, and may still be told how long it was', async () => {
    const { id } = await ring()
    await change(two, id, 'active')
    server.setAhead(86_401)
    expect((await listOf(one))[0]).toMatchObject({ status: 'failed', ended_at: null, duration_seconds: 0 })
    const { call } = await one.does('rest', calls.change, { callId: id, durationSeconds: 60 })
    expect(call).toMatchObject({ status: 'failed', ended_at: expect.any(String), duration_seconds: 60 })
  })

  solo.each(over)('over %s: only its callee answers or declines, and nothing goes back', async (door) => {
    const call = await ring()
    for (const status of ['active', 'declined'])
      expect(await outcome(one, { callId: call.id, status }, door)).toBe('403 FORBIDDEN')
    await change(two, call.id, 'active')
    for (const status of ['missed', 'declined'])
      expect(await outcome(two, { callId: call.id, status }, door)).toBe('409 CONFLICT')
    expect(await outcome(two, { callId: call.id, status: 'ringing' }, door)).toBe('400 VALIDATION_ERROR')
    expect(await outcome(two, { callId: call.id, endedAt: ago(0) }, door)).toBe('400 VALIDATION_ERROR')
    const ended = await change(one, call.id, 'completed', door)
    for (const input of [{ status: 'active' }, { status: 'failed' }, { durationSeconds: 999 }, { endedAt: ago(500) }])
      expect(await outcome(two, { callId: call.id, ...input }, door), JSON.stringify(input)).toBe('409 CONFLICT')
    const { ended_at: endedAt, duration_seconds: durationSeconds } = ended
    const again = { callId: call.id, status: 'completed' as const, endedAt: endedAt ?? '', durationSeconds }
    expect((await two.does(door, calls.change, again)).call).toEqual(ended)
  })

  test('of many answers and ends at once one holds', async () => {
    const { id } = await ring()
    const ways = ['declined', 'failed', 'missed', 'completed'] as const
    const outcomes = await Promise.all(ways.map((status) => outcome(two, { callId: id, status })))
    expect(outcomes.filter((each) => each === '200')).toHaveLength(1)
    expect(outcomes.filter((each) => each === '409 CONFLICT')).toHaveLength(3)
    expect(ways).toContain((await listOf(one))[0]?.status)
  })
})

describe('a call that is told when it is over', () => {
  solo('has the times that are said, and what is left out follows from them', async () => {
    const times = { startedAt: ago(600), endedAt: ago(480) }
    expect(await note(times)).toMatchObject({ started_at: times.startedAt, duration_seconds: 120 })
    expect(await note({ ...times, durationSeconds: 90 })).toMatchObject({ duration_seconds: 90 })
    const { startedAt } = times
    const ended_at = new Date(Date.parse(startedAt) + 60_000).toISOString()
    expect(await note({ startedAt, durationSeconds: 60 })).toMatchObject({ ended_at, duration_seconds: 60 })
    const told = await note({ durationSeconds: 300 })
    expect(Date.parse(told.ended_at ?? '') - Date.parse(told.started_at)).toBe(300_000)
    const open = await note()
    expect(open).toMatchObject({ ended_at: null, duration_seconds: 0 })
    server.setAhead(61)
    const endedAt = new Date(Date.parse(open.started_at) + 60_000).toISOString()
    const { call } = await two.does('rest', calls.change, { callId: open.id, endedAt })
    expect(call).toMatchObject({ status: 'completed', ended_at: endedAt, duration_seconds: 60 })
  })

  solo.each([
    { startedAt: '2026-01-02T00:00:00Z', endedAt: '2026-01-01T00:00:00Z' },
    { startedAt: '2026-01-01T00:00:00Z', endedAt: '2026-01-02T00:00:02Z' },
    { startedAt: '2026-01-01T00:00:00Z', endedAt: '2026-01-01T00:01:00Z', durationSeconds: 62 },
    { startedAt: '2099-01-01T00:00:00Z' },
    { startedAt: '2026-01-01T00:00:00Z', endedAt: '2099-01-01T00:00:00Z' },
    { durationSeconds: -1 },
    { durationSeconds: 86_401 },
    { durationSeconds: 1.5 },
    { startedAt: 'yesterday' },
    { status: 'missed', durationSeconds: 5 },
    { status: 'declined', durationSeconds: 5 },
    { status: 'ringing', durationSeconds: 5 },
    { status: 'ringing', startedAt: '2026-01-01T00:00:00Z' },
    { status: 'active' },
    { status: 'busy' },
    { status: undefined },
    { callType: 'hologram' },
    { calleeAddress: undefined },
    { channelName: 'see http://evil.example' },
    { calleeAddress: { $ne: null } },
  ])('is refused over both doors: %j', async (wrong) => {
    for (const door of over) {
      const input = { calleeAddress: two.account, callType: 'audio', status: 'completed', ...wrong }
      expect(outcomeOf(await one.tries(door, calls.start, input as never))).toBe('400 VALIDATION_ERROR')
    }
    expect(await Calls.countDocuments({ caller_address: one.account })).toBe(0)
  })
})

describe('a note of a call that came to nothing', () => {
  solo.each(over)('over %s: is told otherwise by either of the two, until the call was completed', async (door) => {
    const line = await two.line('/notifications')
    const { id, started_at } = await note({ status: 'missed', startedAt: ago(300) })
    expect(await change(two, id, 'declined', door)).toMatchObject({ status: 'declined', duration_seconds: 0 })
    await line.hears(callChanged, ({ call }) => call.id === id && call.status === 'declined')
    const talk = { callId: id, status: 'completed' as const, durationSeconds: 60 }
    const { call } = await one.does(door, calls.change, talk)
    const ended_at = new Date(Date.parse(started_at) + 60_000).toISOString()
    expect(call).toMatchObject({ status: 'completed', started_at, ended_at, duration_seconds: 60 })
    expect((await two.does(door, calls.change, talk)).call).toEqual(call)
    for (const status of ['missed', 'failed', 'active'])
      expect(await outcome(one, { callId: id, status }, door)).toBe('409 CONFLICT')
  })

  solo('keeps what stays true of it, and takes no length that cannot be', async () => {
    const times = { startedAt: ago(600), endedAt: ago(480) }
    const { id, ended_at } = await note({ status: 'failed', ...times, durationSeconds: 90 })
    const wrong = [{ durationSeconds: 5 }, { endedAt: ago(700) }, { endedAt: '2099-01-01T00:00:00Z' }]
    for (const more of wrong)
      expect(await outcome(one, { callId: id, status: 'missed', ...more })).toBe('400 VALIDATION_ERROR')
    expect(await change(one, id, 'missed')).toMatchObject({ status: 'missed', ended_at, duration_seconds: 0 })
  })

  solo.each(over)('O82: over %s: does not end in the future by its length', async (door) => {
    for (const status of ['missed', 'failed', 'completed'] as const) {
      const { id } = await note({ status })
      expect(await outcome(two, { callId: id, status: 'completed', durationSeconds: 5 }, door)).toBe(
        '400 VALIDATION_ERROR',
      )
    }
    const { id } = await ring(door)
    await change(two, id, 'active')
    expect(await outcome(one, { callId: id, status: 'completed', durationSeconds: 50 }, door)).toBe(
      '400 VALIDATION_ERROR',
    )
    server.setAhead(51)
    await one.does(door, calls.change, { callId: id, status: 'completed', durationSeconds: 50 })
  })

  solo('of a call that rang stands, and so does one that an older version stored', async () => {
    const rung = await ring()
    await change(two, rung.id, 'declined')
    const { id: old } = await note({ status: 'missed' })
    await Calls.updateOne({ _id: old }, { $unset: { is_note: 1 } })
    for (const callId of [rung.id, old])
      expect(await outcome(one, { callId, status: 'completed' })).toBe('409 CONFLICT')
    expect((await listOf(two)).map(({ status }) => status)).toEqual(['missed', 'declined'])
  })

  solo.each(over)('over %s: is not told otherwise to who has blocked the other', async (door) => {
    const { id } = await note({ status: 'missed' })
    await one.does('rest', social.block, { userAddress: two.account })
    for (const who of [one, two])
      expect(await outcome(who, { callId: id, status: 'completed' }, door)).toBe('403 BLOCKED')
  })
})

describe('calls are of the two alone', () => {
  solo.each(over)('over %s: nobody else reads or changes one, nor learns that it is there', async (door) => {
    const other = await person(server, `third ${round}`)
    const { id } = await ring()
    expect(await listOf(other, door)).toEqual([])
    for (const callId of [id, 'none']) {
      const refusal = await other.refused(door, calls.change, { callId, status: 'completed' })
      expect(refusal).toMatchObject({ code: 'ACCESS_DENIED', message: 'You are no party of this call' })
    }
    const asOther = { userAddress: one.account }
    expect(outcomeOf(await other.tries(door, calls.list, asOther))).toBe('403 FORBIDDEN')
    const forged = {
      callerAddress: one.account,
      calleeAddress: two.account,
      callType: 'audio',
      status: 'missed',
    } as const
    expect(outcomeOf(await other.tries(door, calls.start, forged))).toBe('403 FORBIDDEN')
    expect((await listOf(two))[0]?.status).toBe('ringing')
  })

  solo('without a session there are none', async () => {
    for (const method of ['GET', 'POST', 'PATCH'])
      expect((await fetch(`${server.url}/api/calls`, { method })).status).toBe(401)
  })

  solo.each(over)('over %s: a block in either direction refuses to ring, to note and to answer', async (door) => {
    const rings = await ring()
    for (const [by, of] of [
      [one, two],
      [two, one],
    ] as const) {
      await by.does('rest', social.block, { userAddress: of.account })
      for (const status of ['ringing', 'missed'] as const) {
        const input = { calleeAddress: two.account, callType: 'audio', status } as const
        expect(outcomeOf(await one.tries(door, calls.start, input))).toBe('403 BLOCKED')
      }
      expect(await outcome(two, { callId: rings.id, status: 'active' }, door)).toBe('403 BLOCKED')
      await by.does('rest', social.unblock, { userAddress: of.account })
      await befriend(one, two)
    }
    await two.does('rest', social.block, { userAddress: one.account })
    expect((await change(two, rings.id, 'declined', door)).status).toBe('declined')
  })

  solo.each(over)('over %s: nobody calls themself, or an account that is not there', async (door) => {
    const to = async (calleeAddress: string) =>
      outcomeOf(await one.tries(door, calls.start, { calleeAddress, callType: 'audio', status: 'ringing' }))
    expect(await to(one.account)).toBe('400 VALIDATION_ERROR')
    expect(await to(wallet('nobody at all').address)).toBe('404 USER_NOT_FOUND')
  })

  solo.each(over)('over %s: who is suspended neither rings nor answers, and still reads', async (door) => {
    const { id } = await ring()
    await root.does('rest', accounts.suspend, { userAddress: two.account, ban: true })
    expect(await outcome(two, { callId: id, status: 'active' }, door)).toBe('403 SUSPENDED')
    const input = { calleeAddress: one.account, callType: 'audio', status: 'ringing' } as const
    expect(outcomeOf(await two.tries(door, calls.start, input))).toBe('403 SUSPENDED')
    expect(await listOf(two, door)).toHaveLength(1)
  })
})

describe('O82: who may ring', () => {
  const allow = (who: Person, calls_from: 'friends' | 'everyone' | 'nobody') =>
    who.does('rest', accounts.updateProfile, { calls_from })
  const rings = async (from: Person, door: Door) =>
    outcomeOf(await from.tries(door, calls.start, { calleeAddress: two.account, callType: 'video', status: 'ringing' }))

  solo.each(over)('over %s: friends alone, where nothing else is said, whatever rooms are shared', async (door) => {
    const stranger = await person(server, `stranger ${door} ${round}`)
    await channelOf(two, stranger)
    const line = await two.line('/notifications')
    const input = { calleeAddress: two.account, callType: 'video', status: 'ringing' } as const
    expect(await stranger.refused(door, calls.start, input)).toMatchObject({
      code: 'FORBIDDEN',
      message: 'Only friends may call this person',
    })
    await stranger.does('rest', friends.request, { toAddress: two.account })
    expect(await rings(stranger, door)).toBe('403 FORBIDDEN')
    await staysSilent(line, incomingCall)
    expect(await listOf(two, door)).toEqual([])
    expect(await rings(one, door)).toBe('200')
    await one.does('rest', friends.removeByAddress, { friendAddress: two.account })
    expect(await rings(one, door)).toBe('403 FORBIDDEN')
  })

  solo.each(over)('over %s: everybody, or nobody, where the person says so', async (door) => {
    const stranger = await person(server, `stranger ${door} ${round}`)
    expect((await two.does('rest', accounts.ownProfile, {})).user.calls_from).toBe('friends')
    expect((await allow(two, 'everyone')).user.calls_from).toBe('everyone')
    expect(await rings(stranger, door)).toBe('200')
    await allow(two, 'nobody')
    for (const from of [stranger, one]) expect(await rings(from, door)).toBe('403 FORBIDDEN')
    await allow(two, 'friends')
    expect([await rings(one, door), await rings(stranger, door)]).toEqual(['200', '403 FORBIDDEN'])
    expect(outcomeOf(await two.tries('rest', accounts.updateProfile, { calls_from: 'me' } as never))).toBe(
      '400 VALIDATION_ERROR',
    )
    const forged = { calls_from: 'everyone', address: two.account } as const
    expect(outcomeOf(await stranger.tries('rest', accounts.updateProfile, forged))).toBe('403 FORBIDDEN')
  })

  solo.each(over)('over %s: what a stranger notes stands in their own list alone', async (door) => {
    const stranger = await person(server, `noting ${door} ${round}`)
    const line = await two.line('/notifications')
    const input = { calleeAddress: two.account, callType: 'audio', status: 'missed' } as const
    const { call } = await stranger.does(door, calls.start, input)
    await stranger.does(door, calls.change, { callId: call.id, status: 'failed' })
    await staysSilent(line, callChanged)
    for (const callId of [call.id, 'none'])
      for (const more of [{}, { status: 'active' }, { status: 'completed' }, { durationSeconds: 5 }] as const)
        expect(await two.refused(door, calls.change, { callId, ...more })).toMatchObject({
          code: 'ACCESS_DENIED',
          message: 'You are no party of this call',
        })
    expect(await listOf(two, door)).toEqual([])
    expect((await listOf(stranger, door)).map(({ id }) => id)).toEqual([call.id])
  })
})

describe('the list and the budget', () => {
  solo('a call that is told again with its key is one', async () => {
    const key = { idempotency_key: 'once' }
    const [first] = await Promise.all([1, 2, 3].map(() => note(key)))
    expect(await note(key)).toEqual(first)
    expect(await listOf(two)).toHaveLength(1)
  })

  solo('pages go on where the last one ended, whoever rang, without one twice', async () => {
    const back = { calleeAddress: one.account, callType: 'audio', status: 'missed' } as const
    for (let turn = 0; turn < 3; turn++) {
      await note()
      await two.does('rest', calls.start, back)
    }
    const all = await listOf(one)
    expect(all.map(({ caller_address }) => caller_address)).toEqual(
      [two, one, two, one, two, one].map(({ account }) => account),
    )
    const first = await one.does('socket', calls.list, { limit: 4 })
    const second = await one.does('rest', calls.list, { limit: 4, before: first.next ?? '' })
    expect([...first.calls, ...second.calls]).toEqual(all)
    expect(second.next).toBe(null)
    expect(outcomeOf(await two.tries('rest', calls.list, { before: first.next ?? '' }))).toBe('400 INVALID_PARAMETER')
  })

  solo('one person is rung ten times an hour by another, and by everybody else all the same', heavy, async () => {
    for (let turn = 0; turn < 10 * scale; turn++) await ring()
    const refusal = await one.refused('socket', calls.start, {
      calleeAddress: two.account,
      callType: 'audio',
      status: 'ringing',
    })
    expect(refusal).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryAfter: 3_600 })
    const other = await person(server, `patient ${round}`)
    await befriend(other, two)
    await other.does('rest', calls.start, { calleeAddress: two.account, callType: 'audio', status: 'ringing' })
  })

  solo('a note that is told otherwise counts as a ring of who tells it', async () => {
    const { id } = await note({ status: 'missed' })
    for (let turn = 1; turn <= 10 * scale; turn++) await change(one, id, turn % 2 ? 'declined' : 'missed')
    const before = await listOf(two)
    for (const door of over)
      expect(await outcome(one, { callId: id, status: 'failed' }, door)).toBe('429 RATE_LIMIT_EXCEEDED')
    expect(await listOf(two)).toEqual(before)
    expect((await change(two, id, 'failed')).status).toBe('failed')
  })

  solo('calls that are over are noted of one person sixty times an hour, which takes no ring away', heavy, async () => {
    for (let turn = 0; turn < 60; turn++) {
      server.setAhead(turn * 10)
      await Promise.all(Array.from({ length: scale }, () => note()))
    }
    const noted = { calleeAddress: two.account, callType: 'audio', status: 'missed' } as const
    const refusal = await one.refused('socket', calls.start, noted)
    expect(refusal).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryAfter: 3_600 })
    await ring()
  })
})
