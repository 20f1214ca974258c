// Modes: embedded, two-nodes-redis
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Meetings } from '#server/domains/meetings/meetings/model'
import { fakeMeetings } from '#server/ports/meetings/fake'
import { isJoinCode, meetings } from '#shared/api/meetings/meetings'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import type { CallOf } from '#shared/kit/contract'
import { bootWith } from '#test/support/boot-with'
import { type Door, moderates, outcomeOf, over, type Person, people, person } from '#test/support/people'
import { call, connect, wallet } from '#test/support/wallet'

/** Guards are as many times as high here; see `test/support/boot.ts`. */
const scale = 5
const daySeconds = 86_400
const provider = fakeMeetings()
const { server, root } = await bootWith(['root'], {
  superAdmins: ['root'],
  environment: { RATE_LIMIT_SCALE: String(scale) },
  services: { meetings: provider },
})
await moderates(root, { room: null, action: 'word_add', patch: { word: 'zork' } })
await moderates(root, { room: null, action: 'word_add', patch: { word: 'plum', word_action: 'mute' } })

let host: Person
let guest: Person
let round = 0
beforeEach(async () => {
  round += 1
  ;[host, guest] = await people(server, `hosting ${round}`, `visiting ${round}`)
})
afterEach(() => {
  server.setAhead(0)
  provider.away = null
})

const open = async (more: CallOf<typeof meetings.create> = {}) => (await host.does('rest', meetings.create, more)).room
const get = async (code: string) => (await guest.does('rest', meetings.get, { code })).room
const outcome = async (code: string, who = guest) => outcomeOf(await who.tries('rest', meetings.get, { code }))
/** What this person hears of a meeting, and of a token for it. */
const heard = async (code: string, door: Door, who = guest) => [
  outcomeOf(await who.tries(door, meetings.get, { code })),
  outcomeOf(await who.tries(door, meetings.token, { code, displayName: 'Ann' })),
]
/** Without a session. */
const visit = (route: string, body: object | null = null) => call(server.url, route, body)

describe('a meeting', () => {
  test.each(over)('over %s: is opened, listed, found by its code in any case, and ended', async (door) => {
    const { room } = await host.does(door, meetings.create, { title: 'Tea', maxParticipants: 3 })
    expect(room).toMatchObject({ title: 'Tea', maxParticipants: 3 })
    expect(isJoinCode(room.joinCode)).toBe(true)
    expect(room.joinUrl).toBe(`http://localhost:3000/room/${room.joinCode}`)
    const life = Date.parse(room.expiresAt ?? '') - Date.now()
    expect(Math.abs(life - daySeconds * 1_000)).toBeLessThan(60_000)
    provider.people.set(room.roomId, 2)
    const { rooms } = await host.does(door, meetings.list, {})
    expect(rooms).toEqual([{ ...room, participantCount: 2, createdAt: expect.any(String) }])
    const { room: found } = await guest.does(door, meetings.get, { code: room.joinCode.toLowerCase() })
    const { joinUrl: _, ...rest } = room
    expect(found).toMatchObject({ ...rest, participantCount: 2, isPermanent: false })
    expect(found.host).toMatchObject({ address: host.account, avatar: null })
    await host.does(door, meetings.end, { code: room.joinCode })
    expect(provider.closed).toContain(room.roomId)
    expect(await heard(room.joinCode, door)).toEqual(['410 MEETING_ENDED', '410 MEETING_ENDED'])
    expect((await host.does(door, meetings.list, {})).rooms).toEqual([])
    await host.does(door, meetings.end, { code: room.joinCode })
  })

  test('is called Quick Meeting and has four places, where nothing else is said; never more', async () => {
    expect(await open()).toMatchObject({ title: 'Quick Meeting', maxParticipants: 4 })
    expect((await open({ maxParticipants: 40 })).maxParticipants).toBe(4)
    expect((await open({ maxParticipants: 1 })).maxParticipants).toBe(1)
    for (const empty of [null, '' as const])
      expect(await open({ title: empty, maxParticipants: empty })).toMatchObject({
        title: 'Quick Meeting',
        maxParticipants: 4,
      })
    for (const wrong of [{ maxParticipants: 0 }, { maxParticipants: 2.5 }, { title: ' ' }, { title: '\u202eevil' }])
      for (const door of over)
        expect(outcomeOf(await host.tries(door, meetings.create, wrong))).toBe('400 VALIDATION_ERROR')
  })

  test.each(over)('over %s: is over after 24 hours, and says so', async (door) => {
    const { joinCode: code } = await open()
    server.setAhead(daySeconds - 60)
    expect(await outcome(code)).toBe('200')
    server.setAhead(daySeconds + 60)
    expect(await heard(code, door)).toEqual(['410 MEETING_EXPIRED', '410 MEETING_EXPIRED'])
    expect((await Meetings.findOne({ join_code: code }).lean())?.status).toBe('expired')
    expect((await host.does('rest', meetings.list, {})).rooms).toEqual([])
  })

  test('that is opened again with its key is one; each has a code of its own', async () => {
    const key = { idempotency_key: 'tea' }
    const [one, other] = await Promise.all([open(key), open(key)])
    expect(one).toEqual(other)
    const codes = new Set<string>()
    for (let each = 0; each < 12; each++) codes.add((await open()).joinCode)
    expect(codes.size).toBe(12)
    expect((await host.does('rest', meetings.list, {})).rooms).toHaveLength(10)
  })

  test.each(over)('over %s: nobody but its host ends it, or learns that it is another`s', async (door) => {
    const { joinCode: code } = await open()
    for (const named of [code, 'ZZZZZZ']) {
      const refusal = await guest.refused(door, meetings.end, { code: named })
      expect(refusal).toMatchObject({ code: 'ROOM_NOT_FOUND' })
    }
    const forged = { code, hostWalletAddress: host.account }
    expect(outcomeOf(await guest.tries(door, meetings.end, forged))).toBe('403 FORBIDDEN')
    expect(outcomeOf(await guest.tries(door, meetings.list, { wallet_address: host.account }))).toBe('403 FORBIDDEN')
    expect(outcomeOf(await guest.tries(door, meetings.create, { hostWalletAddress: host.account }))).toBe(
      '403 FORBIDDEN',
    )
    expect(await outcome(code)).toBe('200')
  })

  test.each(over)('over %s: of whom is suspended lets nobody in; they open none, and may end theirs', async (door) => {
    const { joinCode: code } = await open()
    await root.does('rest', accounts.suspend, { userAddress: host.account, ban: true })
    expect(outcomeOf(await guest.tries(door, meetings.token, { code, displayName: 'Ann' }))).toBe('410 MEETING_ENDED')
    expect(outcomeOf(await host.tries(door, meetings.create, {}))).toBe('403 SUSPENDED')
    expect(outcomeOf(await host.tries(door, meetings.token, { code, displayName: 'Ann' }))).toBe('403 SUSPENDED')
    await host.does(door, meetings.end, { code })
  })

  test('without a session none is opened, listed or ended', async () => {
    for (const route of ['POST /api/rooms', 'GET /api/rooms', 'DELETE /api/rooms/ABCDEF'])
      expect(await visit(route, route.startsWith('GET') ? null : {})).toMatchObject({ status: 401 })
  })
})

describe('tokens', () => {
  test.each(over)('over %s: let in who is signed in under their account, and say who is the host', async (door) => {
    const { joinCode: code, roomId } = await open({ maxParticipants: 2 })
    const answer = await host.does(door, meetings.token, { code, displayName: ' Ann ' })
    expect(answer).toEqual({
      token: `pass ${provider.admitted.length}`,
      roomId,
      isHost: true,
      identity: host.account,
      url: 'wss://meetings.test',
    })
    const pass = { room: roomId, identity: host.account, name: 'Ann', isHost: true, most: 2 }
    expect(provider.admitted.at(-1)).toEqual(pass)
    const theirs = await guest.does(door, meetings.token, { code, displayName: 'Bob' })
    expect(theirs).toMatchObject({ isHost: false, identity: guest.account })
  })

  test('let guests in by a name alone, over both doors, each as somebody of their own, whoever they claim to be', async () => {
    const { joinCode: code } = await open()
    const asked = { displayName: 'Cora', walletAddress: host.account }
    const { body } = await visit(`POST /api/rooms/${code}/token`, asked)
    expect(body).toMatchObject({ isHost: false, identity: expect.stringMatching(/^guest:/) })
    const socket = connect(server.url, '/meetings', null)
    const acked = await socket.timeout(15_000).emitWithAck('meeting:token', { code, displayName: 'Cora' })
    socket.close()
    expect(acked).toMatchObject({ ok: true, data: { isHost: false, identity: expect.stringMatching(/^guest:/) } })
    expect(acked.data.identity).not.toBe(body.identity)
  })

  test.each(over)('over %s: are refused to names that deceive, hide or are blocked', async (door) => {
    await host.does('rest', accounts.claimUsername, { username: `ann_hosts_${round}_${door}` })
    const { joinCode: code } = await open()
    const refused = async (displayName: string) =>
      outcomeOf(await guest.tries(door, meetings.token, { code, displayName }))
    for (const name of [
      '',
      ' ',
      'x'.repeat(51),
      'Plaza Support',
      'Admin',
      '\u200b',
      'A\u202eB',
      `ann_hosts_${round}_${door}`,
    ])
      expect(await refused(name), name).toBe('400 VALIDATION_ERROR')
    await guest.does('rest', accounts.claimUsername, { username: `own_${round}_${door}` })
    expect(await refused(`own_${round}_${door}`)).toBe('200')
    expect(await refused('z0rk')).toBe('403 BLOCKED_WORD')
    expect(await refused('a plum')).toBe('403 MESSAGE_REJECTED')
    expect(outcomeOf(await host.tries(door, meetings.create, { title: 'zork' }))).toBe('403 BLOCKED_WORD')
    expect(outcomeOf(await host.tries(door, meetings.create, { title: 'plum' }))).toBe('403 MESSAGE_REJECTED')
    expect(outcomeOf(await host.tries(door, meetings.create, { title: 'Plaza Support' }))).toBe('400 VALIDATION_ERROR')
  })

  test.each(over)('over %s: are refused where one has blocked the other', async (door) => {
    const { joinCode: code } = await open()
    for (const [by, of] of [
      [host, guest],
      [guest, host],
    ] as const) {
      await by.does('rest', social.block, { userAddress: of.account })
      expect(outcomeOf(await guest.tries(door, meetings.token, { code, displayName: 'Bob' }))).toBe('403 BLOCKED')
      await by.does('rest', social.unblock, { userAddress: of.account })
    }
  })

  test.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)(
    'are refused where the provider answers %s; lists are not',
    async (away) => {
      for (const door of over) {
        const { joinCode: code, id } = await open()
        provider.away = away
        expect(await host.refused(door, meetings.token, { code, displayName: 'Ann' })).toMatchObject({ code: away })
        expect((await host.does(door, meetings.list, {})).rooms[0]).toMatchObject({ id, participantCount: 0 })
        expect(await host.refused(door, meetings.end, { code })).toMatchObject({ code: away })
        provider.away = null
        await host.does(door, meetings.end, { code })
      }
    },
  )
})

describe('permanent rooms', () => {
  test.each(over)('over %s: one for each account, made when it is first asked for', async (door) => {
    const { account: wallet_address } = host
    expect(await outcome(wallet_address)).toBe('404 ROOM_NOT_FOUND')
    const asked = await Promise.all([1, 2, 3].map(() => guest.does(door, meetings.permanent, { wallet_address })))
    expect(new Set(asked.map(({ room }) => room.roomId)).size).toBe(1)
    const [first] = asked
    expect(first?.room).toMatchObject({
      permanentUrl: `http://localhost:3000/room/${wallet_address}`,
      walletAddress: wallet_address,
    })
    server.setAhead(6 * daySeconds)
    const room = await get(wallet_address.toUpperCase().replace('0X', '0x'))
    expect(room).toMatchObject({ isPermanent: true, expiresAt: null, roomId: first?.room.roomId })
    expect((await host.does('rest', meetings.list, {})).rooms).toEqual([])
    await host.does(door, meetings.end, { code: wallet_address })
    expect(provider.closed).toContain(room.roomId)
    expect(await get(room.joinCode)).toEqual(room)
  })

  test.each(over)('O84: over %s: at a provider nobody but the host enters it first', async (door) => {
    const { room } = await guest.does(door, meetings.permanent, { wallet_address: host.account })
    const asked = { code: host.account, displayName: 'Ann' }
    expect(await guest.refused(door, meetings.token, asked)).toMatchObject({ code: 'HOST_ABSENT' })
    expect((await get(host.account)).host.isPresent).toBe(null)
    expect((await host.does(door, meetings.token, asked)).isHost).toBe(true)
    provider.people.set(room.roomId, 1)
    expect((await guest.does(door, meetings.token, asked)).isHost).toBe(false)
  })

  test.each(over)('over %s: none of an account that is not there', async (door) => {
    const wallet_address = wallet('nobody at all').address
    const refusal = await guest.refused(door, meetings.permanent, { wallet_address })
    expect(refusal).toMatchObject({ code: 'USER_NOT_FOUND' })
    expect(await visit('GET /api/rooms/permanent')).toMatchObject({ status: 400 })
  })
})

describe('the paths of meetings', () => {
  test('hide no room of the house, and are hidden by none', async () => {
    expect((await visit('GET /api/rooms/alpha')).body).toMatchObject({ room: { type: 'alpha' } })
    expect(await visit('GET /api/rooms/ABCDEF')).toMatchObject({ status: 404, body: { error: 'Room not found' } })
    expect(await visit('GET /api/rooms/!!!')).toMatchObject({ status: 400 })
    expect(await visit('POST /api/rooms/ABCDEF/token', {})).toMatchObject({ status: 400 })
    expect(await visit('PUT /api/rooms/ABCDEF', {})).toMatchObject({ status: 405 })
  })

  test('who names twenty codes of nobody`s in a minute is told of none, over either door', async () => {
    const { joinCode: code } = await open()
    const other = await person(server, 'guessing')
    const letters = [...'ABCDEFGHJKLMNPQRSTUV']
    for (const first of letters.slice(0, scale))
      await Promise.all(letters.map((second) => visit(`GET /api/rooms/ZZZZ${first}${second}`)))
    for (const door of over) {
      const limited = '429 RATE_LIMIT_EXCEEDED'
      expect(await heard(code, door, other)).toEqual([limited, limited])
      const refusal = await other.refused(door, meetings.end, { code })
      expect(refusal).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryAfter: 60 })
    }
  })
})
