// Modes: embedded, two-nodes-redis
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { Seats } from '#server/domains/meetings/meetings/model'
import {
  meetingEntered,
  meetingLeft,
  meetingOver,
  meetingSignal,
  meetings,
  seating,
} from '#shared/api/meetings/meetings'
import { bootWith } from '#test/support/boot-with'
import { heavy } from '#test/support/heavy'
import { follow, type Line } from '#test/support/line'
import { outcomeOf, over, type Person, people, staysSilent } from '#test/support/people'
import { solo } from '#test/support/solo'
import { call, connect } from '#test/support/wallet'

/** Guards are as many times as high here; see `test/support/boot.ts`. */
const scale = 5
const { server } = await bootWith([], {
  environment: {
    RATE_LIMIT_SCALE: String(scale),
    ICE_SERVERS: 'stun:stun.example.com:3478, turn:turn.example.com:3478?transport=udp',
    TURN_SECRET: 'a secret of the TURN server',
  },
})
let host: Person
let guest: Person
let code: string
let round = 0
beforeEach(async () => {
  round += 1
  ;[host, guest] = await people(server, `seating ${round}`, `seated ${round}`)
  code = (await host.does('rest', meetings.create, {})).room.joinCode
})

const tokenFor = async (who: Person, displayName = 'Ann', at = code) =>
  (await who.does('rest', meetings.token, { code: at, displayName })).token
/** A new connection of this person, in the meeting. */
async function enter(who: Person, name = 'Ann', at = code) {
  const line = await who.socket('/meetings')
  return { line, ...(await who.does(line, seating.enter, { token: await tokenFor(who, name, at) })) }
}
/** Enters without a session. */
async function visit() {
  const answered = await call(server.url, `POST /api/rooms/${code}/token`, { displayName: 'Dan' })
  const line = follow(connect(server.url, '/meetings', null))
  await line.hears('session:ready')
  if (answered.status !== 200) return { line, outcome: outcomeOf(answered), peer: '' }
  const { token } = answered.body
  const answer = await line.socket.timeout(15_000).emitWithAck('meeting:enter', { token })
  const outcome: string = answer.ok ? '200' : `${answer.error.status} ${answer.error.code}`
  return { line, outcome, peer: String(answer.data?.me.peer) }
}
const offer = { type: 'offer', sdp: 'v=0' } as const
const counted = async () => (await guest.does('rest', meetings.get, { code })).room.participantCount

describe('a meeting that is held over this server', () => {
  test('who enters is told who is there, and they of them; who leaves is gone, by themself or with their connection', async () => {
    const one = await enter(host, 'Ann')
    expect(one).toMatchObject({ me: { name: 'Ann', isHost: true }, people: [] })
    const two = await enter(guest, 'Bob')
    expect(two).toMatchObject({ me: { name: 'Bob', isHost: false }, people: [one.me] })
    expect(await one.line.hears(meetingEntered, ({ person }) => person.name === 'Bob')).toEqual({ person: two.me })
    expect(await counted()).toBe(2)
    await guest.does(two.line, seating.leave, {})
    expect(await one.line.hears(meetingLeft)).toEqual({ peer: two.me.peer })
    const again = await enter(guest, 'Bob')
    again.line.socket.disconnect()
    await one.line.hears(meetingLeft, ({ peer }) => peer === again.me.peer)
    expect(await counted()).toBe(1)
  })

  test('an offer reaches whom it is for, in the same meeting, and nobody else', heavy, async () => {
    const [one, two] = [await enter(host, 'Ann'), await enter(guest, 'Bob')]
    const [other] = await people(server, `elsewhere ${round}`)
    const elsewhere = (await other.does('rest', meetings.create, {})).room.joinCode
    const three = await enter(other, 'Cora', elsewhere)
    await guest.does(two.line, seating.signal, { to: one.me.peer, signal: offer })
    expect(await one.line.hears(meetingSignal)).toEqual({ from: two.me.peer, signal: offer })
    await other.does(three.line, seating.signal, { to: one.me.peer, signal: offer })
    await staysSilent(two.line, meetingSignal)
    expect(one.line.all(meetingSignal)).toHaveLength(1)
  })

  solo('who is in no meeting, or in none any more, sends nothing, and nobody sends what is no offer', async () => {
    const one = await enter(host)
    const line = await guest.socket('/meetings')
    const send = async (at: Line, signal: object = offer) =>
      outcomeOf(await guest.tries(at, seating.signal, { to: one.me.peer, signal } as never))
    expect(await send(line)).toBe('403 FORBIDDEN')
    await guest.does(line, seating.enter, { token: await tokenFor(guest, 'Bob') })
    for (const wrong of [
      { type: 'offer', sdp: 'x'.repeat(20_001) },
      { type: 'rollback', sdp: 'v=0' },
      { type: 'offer' },
    ])
      expect(await send(line, wrong)).toBe('400 VALIDATION_ERROR')
    expect(await send(line)).toBe('200')
    await guest.does(line, seating.leave, {})
    expect(await send(line)).toBe('403 FORBIDDEN')
    await one.line.hears(meetingSignal)
    expect(one.line.all(meetingSignal)).toHaveLength(1)
  })

  test('has as many places as were asked for, one of them its host’s, also when many enter at once', async () => {
    code = (await host.does('rest', meetings.create, { maxParticipants: 3 })).room.joinCode
    const crowd = await people(server, ...[1, 2, 3, 4, 5].map((each) => `crowding ${round} ${each}`))
    const lines = await Promise.all(crowd.map((who) => who.socket('/meetings')))
    const tokens = await Promise.all(crowd.map((who) => tokenFor(who)))
    const outcomes = await Promise.all(
      crowd.map(async (who, at) =>
        outcomeOf(await who.tries(lines[at] as Line, seating.enter, { token: tokens[at] ?? '' })),
      ),
    )
    expect(outcomes.sort()).toEqual(['200', '200', '409 MEETING_FULL', '409 MEETING_FULL', '409 MEETING_FULL'])
    expect(await counted()).toBe(2)
    expect((await enter(host)).people).toHaveLength(2)
    expect(await counted()).toBe(3)
  })

  solo('guests do not hold a host out of their permanent room', async () => {
    const { room } = await host.does('rest', meetings.permanent, { wallet_address: host.account })
    code = new URL(room.permanentUrl).pathname.split('/').at(-1) ?? ''
    const { line } = await enter(host)
    const outcomes: string[] = []
    for (let one = 0; one < 4; one++) outcomes.push((await visit()).outcome)
    expect(outcomes).toEqual(['200', '200', '200', '409 MEETING_FULL'])
    await host.does(line, seating.leave, {})
    expect((await enter(host)).people).toHaveLength(3)
  })

  solo.each(over)('O84: over %s: a permanent room is entered by nobody while its host is away', async (door) => {
    const { room } = await host.does('rest', meetings.permanent, { wallet_address: host.account })
    code = new URL(room.permanentUrl).pathname.split('/').at(-1) ?? ''
    const found = async () => (await guest.does(door, meetings.get, { code })).room
    const { joinCode, host: shown } = await found()
    expect(shown.isPresent).toBe(false)
    for (const named of [code, joinCode])
      expect(await guest.refused(door, meetings.token, { code: named, displayName: 'Bob' })).toMatchObject({
        code: 'HOST_ABSENT',
        retryAfter: 5,
      })
    expect((await visit()).outcome).toBe('409 HOST_ABSENT')
    const one = await enter(host)
    expect((await found()).host.isPresent).toBe(true)
    const { token } = await guest.does(door, meetings.token, { code, displayName: 'Bob' })
    const { peer } = await visit()
    await host.does(one.line, seating.leave, {})
    expect((await found()).host.isPresent).toBe(false)
    const line = await guest.socket('/meetings')
    expect(outcomeOf(await guest.tries(line, seating.enter, { token }))).toBe('409 HOST_ABSENT')
    // Who was there stays.
    expect((await enter(host)).people.map((person) => person.peer)).toEqual([peer])
    expect(outcomeOf(await guest.tries(line, seating.enter, { token }))).toBe('200')
  })

  solo.each(over)(
    'its host removes somebody, who hears why and nothing more, and is not let in for an hour, over %s',
    async (door) => {
      const one = await enter(host)
      const two = await enter(guest, 'Bob')
      const three = await visit()
      const token = await tokenFor(guest, 'Bob')
      const outcome = async (who: Person, peer: string, at = code) =>
        outcomeOf(await who.tries(door, meetings.remove, { code: at, peer }))
      const elsewhere = (await host.does('rest', meetings.create, {})).room.joinCode
      expect(await outcome(guest, one.me.peer)).toBe('404 ROOM_NOT_FOUND')
      expect(await outcome(host, two.me.peer, elsewhere)).toBe('404 NOT_FOUND')
      expect(await outcome(host, 'nobody')).toBe('404 NOT_FOUND')
      expect(await outcome(host, one.me.peer)).toBe('400 VALIDATION_ERROR')
      expect(await counted()).toBe(3)

      for (const peer of [two.me.peer, three.peer]) {
        expect(await outcome(host, peer)).toBe('200')
        await one.line.hears(meetingLeft, (left) => left.peer === peer)
        // Also who had an account, and comes again as a guest.
        expect((await visit()).outcome).toBe('403 FORBIDDEN')
      }
      for (const { line } of [two, three]) expect(await line.hears(meetingOver)).toEqual({ why: 'removed' })
      expect(outcomeOf(await guest.tries(two.line, seating.enter, { token }))).toBe('403 FORBIDDEN')
      expect(outcomeOf(await guest.tries(door, meetings.token, { code, displayName: 'Bob' }))).toBe('403 FORBIDDEN')
      const late = { to: one.me.peer, signal: offer }
      expect(outcomeOf(await guest.tries(two.line, seating.signal, late))).toBe('403 FORBIDDEN')
      two.line.forget()
      const [other] = await people(server, `let in ${round}`)
      await enter(other, 'Cora')
      await one.line.hears(meetingEntered, ({ person }) => person.name === 'Cora')
      await staysSilent(two.line, meetingEntered)
      expect(two.line.all(meetingEntered)).toEqual([])
      server.setAhead(3_700)
      const [later] = await people(server, `seated ${round}`)
      const again = outcomeOf(await later.tries(door, meetings.token, { code, displayName: 'Bob' }))
      server.setAhead(0)
      expect(again).toBe('200')
    },
  )

  test('who is removed while they enter sits nowhere', async () => {
    await enter(host)
    const { peer } = await visit()
    const create = Seats.create.bind(Seats)
    // Between the first look at who was removed, and the place.
    const held = vi.spyOn(Seats, 'create').mockImplementationOnce((async (seat: object) => {
      await host.does('rest', meetings.remove, { code, peer })
      return create(seat)
    }) as never)
    const { line, outcome } = await visit()
    held.mockRestore()
    expect(outcome).toBe('403 FORBIDDEN')
    expect(await counted()).toBe(1)
    const late = { to: peer, signal: offer }
    expect(await line.socket.timeout(15_000).emitWithAck('meeting:signal', late)).toMatchObject({
      error: { code: 'FORBIDDEN' },
    })
  })

  solo('one account enters it twenty times a minute, and others all the same', async () => {
    const line = await guest.socket('/meetings')
    const token = await tokenFor(guest, 'Bob')
    const outcome = async () => outcomeOf(await guest.tries(line, seating.enter, { token }))
    for (let turn = 0; turn < 20 * scale; turn++) expect(await outcome()).toBe('200')
    expect(await outcome()).toBe('429 RATE_LIMIT_EXCEEDED')
    expect(await counted()).toBe(1)
    await enter(host)
    server.setAhead(61)
    const later = await outcome()
    server.setAhead(0)
    expect(later).toBe('200')
  })

  test('a connection that enters several times at once has one place, and none when it is gone', async () => {
    const line = await guest.socket('/meetings')
    const guests = await Promise.all(
      ['Ann', 'Bob', 'Cora', 'Dan'].map((displayName) =>
        call(server.url, `POST /api/rooms/${code}/token`, { displayName }),
      ),
    )
    await Promise.all(guests.map(({ body }) => guest.does(line, seating.enter, { token: String(body.token) })))
    expect(await counted()).toBe(1)
    line.socket.disconnect()
    await expect.poll(counted).toBe(0)
  })

  test('a place whose node is dead is free after its lease', async () => {
    code = (await host.does('rest', meetings.create, { maxParticipants: 2 })).room.joinCode
    await enter(host)
    const { roomId } = (await guest.does('rest', meetings.get, { code })).room
    const dead = { room_id: roomId, peer: 'gone', identity: 'gone', name: 'Gone', is_host: false }
    await Seats.create({ _id: `${roomId} 1`, ...dead, until: new Date(Date.now() + 20_000) })
    const line = await guest.socket('/meetings')
    const token = await tokenFor(guest, 'Bob')
    expect(outcomeOf(await guest.tries(line, seating.enter, { token }))).toBe('409 MEETING_FULL')
    await Seats.updateOne({ peer: 'gone' }, { $set: { until: new Date(Date.now() - 1) } })
    expect(await counted()).toBe(1)
    expect(outcomeOf(await guest.tries(line, seating.enter, { token }))).toBe('200')
  })

  test('who enters twice is there once: the first connection is told, and sends nothing any more', async () => {
    const one = await enter(host)
    const [first, second] = [await enter(guest, 'Bob'), await enter(guest, 'Bob')]
    expect(await first.line.hears(meetingOver)).toEqual({ why: 'elsewhere' })
    await one.line.hears(meetingLeft, ({ peer }) => peer === first.me.peer)
    expect(second.people).toEqual([one.me])
    const late = { to: one.me.peer, signal: offer }
    expect(outcomeOf(await guest.tries(first.line, seating.signal, late))).toBe('403 FORBIDDEN')
    expect(await counted()).toBe(2)
  })

  test('its host ends it for everybody, and it is not entered again', async () => {
    const [one, two] = [await enter(host), await enter(guest, 'Bob')]
    const token = await tokenFor(guest, 'Bob')
    await host.does('rest', meetings.end, { code })
    for (const { line } of [one, two]) expect(await line.hears(meetingOver)).toEqual({ why: 'ended' })
    expect(outcomeOf(await guest.tries(two.line, seating.enter, { token }))).toBe('410 MEETING_ENDED')
    const late = { to: one.me.peer, signal: offer }
    expect(outcomeOf(await guest.tries(two.line, seating.signal, late))).toBe('403 FORBIDDEN')
  })

  solo('that has expired is not entered, by a token from before', async () => {
    const token = await tokenFor(guest)
    const line = await guest.socket('/meetings')
    server.setAhead(86_500)
    const outcome = outcomeOf(await guest.tries(line, seating.enter, { token }))
    server.setAhead(0)
    expect(outcome).toBe('410 MEETING_EXPIRED')
  })

  solo('is entered by guests who are not signed in, and by nothing that is no token', async () => {
    const { body } = await call(server.url, `POST /api/rooms/${code}/token`, { displayName: 'Cora' })
    const line = follow(connect(server.url, '/meetings', null))
    await line.hears('session:ready')
    const tries = async (token: string) => {
      const answer = await line.socket.timeout(15_000).emitWithAck('meeting:enter', { token })
      return answer.ok ? '200' : `${answer.error.status} ${answer.error.code}`
    }
    for (const wrong of ['none', host.token, `${body.token}x`])
      expect(await tries(wrong)).toBe('401 MEETING_TOKEN_INVALID')
    expect(await tries(String(body.token))).toBe('200')
    expect(await counted()).toBe(1)
    line.socket.disconnect()
    await expect.poll(counted).toBe(0)
  })

  solo('tells the servers by which browsers reach each other, with a password for this visit', async () => {
    const { iceServers, me } = await enter(host)
    expect(iceServers).toEqual([
      { urls: ['stun:stun.example.com:3478'] },
      {
        urls: ['turn:turn.example.com:3478?transport=udp'],
        username: expect.stringMatching(new RegExp(`^\\d{10}:${me.peer}$`)),
        credential: expect.stringMatching(/^[A-Za-z0-9+/]{27}=$/),
      },
    ])
  })
})
