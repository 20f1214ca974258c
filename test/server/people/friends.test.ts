// Modes: embedded, two-nodes-redis
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Blocks } from '#server/domains/moderation/blocks/model'
import { Accounts } from '#server/domains/people/accounts/model'
import { Pairs } from '#server/domains/people/friends/model'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import {
  friendAccepted,
  friendCancelled,
  friendDeclined,
  friendRemoved,
  friendRequested,
  friends,
} from '#shared/api/people/friends'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Person, person, staysSilent } from '#test/support/people'
import { solo } from '#test/support/solo'
import { call, wallet } from '#test/support/wallet'

const ask = async (who: Person, whom: Person, memo?: string) =>
  (await who.does('rest', friends.request, { toAddress: whom.account, ...(memo === undefined ? {} : { memo }) }))
    .request
const accept = async (who: Person, requestId: string) => (await who.does('rest', friends.accept, { requestId })).friend
const befriend = async (who: Person, whom: Person) => accept(whom, (await ask(who, whom)).id)
const friendsOf = async (who: Person) => (await who.does('rest', friends.list, {})).friends
const requestsOf = (who: Person) => who.does('rest', friends.requests, {})
const block = (who: Person, whom: Person) => who.does('rest', social.block, { userAddress: whom.account })
const unblock = (who: Person, whom: Person) => who.does('rest', social.unblock, { userAddress: whom.account })
const nothing = { incoming: [], outgoing: [] }
const fifty = <T>(make: (at: number) => Promise<T>) => Promise.all(Array.from({ length: 50 }, (_, at) => make(at)))
const posted = (who: Person, route: string, body: object = {}) => who.rest(`POST /api/${route}`, body)
const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).sort()

async function strangers(count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => `stranger:${crypto.randomUUID()}`)
  for (const _id of ids) await Accounts.create({ _id, created_at: new Date(), updated_at: new Date() })
  return ids
}

describe('friends', () => {
  let server: Booted
  let one: Person
  let two: Person
  let third: Person
  let round = 0

  beforeAll(async () => {
    server = await boot()
    third = await person(server, 'third')
  })
  afterAll(() => server.close())
  const urlOf = (at: number) => server.urls[at % server.urls.length] ?? server.url
  beforeEach(async () => {
    round += 1
    one = await person(server, `one ${round}`, urlOf(0))
    two = await person(server, `two ${round}`, urlOf(1))
  })

  /** Two connections of each, on different nodes where there are several, and one of nobody concerned. */
  const devices = async () => ({
    mine: [
      await one.socket('/notifications'),
      await (await person(server, `one ${round}`, urlOf(1))).socket('/notifications'),
    ],
    theirs: [
      await two.socket('/notifications'),
      await (await person(server, `two ${round}`, urlOf(0))).socket('/notifications'),
    ],
    others: await third.socket('/notifications'),
  })

  test('M36: requests and friendships are told at once to every device of both, wherever they are connected', async () => {
    const devices = {
      one: await Promise.all([
        one.socket('/notifications'),
        (await person(server, `one ${round}`, urlOf(1))).socket('/notifications'),
      ]),
      two: await Promise.all([
        two.socket('/notifications'),
        (await person(server, `two ${round}`, urlOf(0))).socket('/notifications'),
      ]),
      third: [await third.socket('/notifications')],
    }
    const request = await ask(one, two, 'Hello')
    for (const line of [...devices.two, ...devices.one])
      expect((await line.hears(friendRequested)).request).toMatchObject({
        id: request.id,
        from_address: one.account,
        to_address: two.account,
        status: 'pending',
        memo: 'Hello',
      })
    const friend = await accept(two, request.id)
    for (const line of devices.two) expect((await line.hears(friendAccepted)).friend).toEqual(friend)
    for (const line of devices.one)
      expect((await line.hears(friendAccepted)).friend).toMatchObject({
        user_address: one.account,
        friend_address: two.account,
      })
    for (const line of devices.third) {
      expect(line.all(friendRequested)).toEqual([])
      expect(line.all(friendAccepted)).toEqual([])
    }
  })

  solo('M36: requests that cross are told as a friendship; a blocked person tells nobody anything', async () => {
    const [mine, theirs] = [await one.socket('/notifications'), await two.socket('/notifications')]
    await ask(one, two)
    await ask(two, one)
    for (const line of [mine, theirs]) await line.hears(friendAccepted)
    await block(two, one)
    const before = theirs.all(friendRequested).length
    await one.refused('rest', friends.request, { toAddress: two.account })
    await staysSilent(theirs, friendRequested)
    expect(theirs.all(friendRequested).length).toBe(before)
  })

  const endings = [
    [
      'declined',
      friendDeclined,
      async (id: string) => two.does('rest', friends.decline, { requestId: id }),
      async (id: string) => two.refused('rest', friends.decline, { requestId: id }),
    ],
    [
      'declined by a block',
      friendDeclined,
      async () => block(two, one),
      async (id: string) => two.refused('rest', friends.decline, { requestId: id }),
    ],
    [
      'taken back',
      friendCancelled,
      async (id: string) => one.does('rest', friends.cancel, { id }),
      async (id: string) => one.does('rest', friends.cancel, { id }),
    ],
    [
      'taken back by a block',
      friendCancelled,
      async () => block(one, two),
      async (id: string) => one.does('rest', friends.cancel, { id }),
    ],
  ] as const
  solo.each(endings)(
    'M36: a request that is %s is told once to every device of both',
    async (_how, event, end, repeat) => {
      const { mine, theirs, others } = await devices()
      const { id } = await ask(one, two, 'A secret memo')
      for (const line of [...mine, ...theirs]) await line.hears(friendRequested)
      await end(id)
      const request = { id, from_address: one.account, to_address: two.account }
      for (const line of [...mine, ...theirs]) expect(await line.hears(event)).toEqual({ request })
      await repeat(id)
      await staysSilent(mine[0] ?? others, event)
      expect(mine[0]?.all(event)).toHaveLength(1)
      expect(others.frames.filter((frame) => frame.event.startsWith('friend:'))).toEqual([])
      const again = await ask(one, two).catch(() => null)
      expect(again?.id).not.toBe(id)
    },
  )

  solo.each([
    ['by id', (id: string) => two.does('rest', friends.remove, { id })],
    ['by address', () => one.does('rest', friends.removeByAddress, { friendAddress: two.account })],
    ['by a block', () => block(one, two)],
    [
      'by a report that blocks',
      async () => {
        const about = { reportedAddress: one.account, reportType: 'spam', alsoBlock: true } as const
        return two.does('rest', social.report, about)
      },
    ],
  ] as const)('M36: a friendship that ends %s is told once to every device of both', async (_how, end) => {
    const { mine, theirs, others } = await devices()
    await befriend(one, two)
    const [own, other] = [(await friendsOf(one))[0], (await friendsOf(two))[0]]
    for (const line of [...mine, ...theirs]) await line.hears(friendAccepted)
    await end(other?.id ?? '')
    for (const [lines, row] of [
      [mine, own],
      [theirs, other],
    ] as const)
      for (const line of lines)
        expect(await line.hears(friendRemoved)).toEqual({
          friend: { id: row?.id, user_address: row?.user_address, friend_address: row?.friend_address },
        })
    await staysSilent(mine[0] ?? others, friendRemoved)
    expect(mine[0]?.all(friendRemoved)).toHaveLength(1)
    expect(others.frames.filter((frame) => frame.event.startsWith('friend:'))).toEqual([])
  })

  test('M36: of fifty parallel removals one is told, and requests are told before their end', async () => {
    const { mine } = await devices()
    const [line = await one.socket('/notifications')] = mine
    const { id } = await ask(one, two)
    await fifty((at) => posted(two, at % 2 ? `friend-requests/${id}/reject` : 'friends/reject', { requestId: id }))
    await line.hears(friendDeclined)
    for (let turn = 0; turn < 3; turn++) {
      const next = await ask(one, two)
      await one.does('rest', friends.cancel, { id: next.id })
      await line.hears(friendCancelled, ({ request }) => request.id === next.id)
    }
    expect(line.all(friendDeclined)).toHaveLength(1)
    const told = line.frames.filter(({ event }) => event.startsWith('friend:'))
    const ids = told.map(({ event, payload }) => `${event} ${(payload as { request: { id: string } }).request.id}`)
    for (const { request } of line.all(friendRequested)) {
      const end = ids.findIndex((one) => one.endsWith(request.id) && !one.startsWith('friend:requested'))
      expect(end === -1 || ids.indexOf(`friend:requested ${request.id}`) < end).toBe(true)
    }
  })

  describe('a request', () => {
    solo('waits for its recipient, and is seen by both and nobody else', async () => {
      await two.does('rest', accounts.updateProfile, { display_name: 'Two' })
      const answer = await posted(one, 'friends/request', {
        fromAddress: one.account,
        toAddress: two.account,
        memo: ' We met at the fair. ',
      })
      const { request } = answer.body
      expect(answer.body).toEqual({ success: true, request, ...(request as object) })
      expect(request).toMatchObject({
        from_address: one.account,
        to_address: two.account,
        status: 'pending',
        memo: 'We met at the fair.',
        display_name: 'Two',
        username: null,
        avatar_url: null,
      })
      expect(await requestsOf(one)).toEqual({ incoming: [], outgoing: [request] })
      const { incoming, outgoing } = await requestsOf(two)
      expect(outgoing).toEqual([])
      expect(incoming).toEqual([{ ...(request as object), display_name: null }])
      expect(await requestsOf(third)).toEqual(nothing)
      expect(await friendsOf(two)).toEqual([])
    })

    solo('is listed by its direction, newest first', async () => {
      const [first, second] = [await ask(third, one), await ask(two, one)]
      const own = await ask(one, await person(server, `asked ${round}`))
      const { incoming, outgoing } = await requestsOf(one)
      expect(incoming.map(({ id }) => id)).toEqual([second.id, first.id])
      expect(outgoing.map(({ id }) => id)).toEqual([own.id])
      expect(await one.does('rest', friends.requests, { type: 'incoming' })).toEqual({ incoming, outgoing: [] })
      expect(await one.does('rest', friends.requests, { type: 'outgoing' })).toEqual({ incoming: [], outgoing })
      expect(await one.rest('GET /api/friend-requests?type=both')).toMatchObject({ status: 400 })
    })

    solo.each(['toAddress', 'to_address'])('under the other path too, with %s', async (field) => {
      const { status, body } = await posted(one, 'friend-requests', { [field]: two.account, memo: 'Hello' })
      expect(status).toBe(200)
      expect(body).toMatchObject({ memo: 'Hello', request: { id: body.id, to_address: two.account } })
      expect((await posted(two, `friend-requests/${body.id}/accept`)).body).toMatchObject({
        success: true,
        friend: { friend_address: one.account },
      })
    })

    solo('is answered once, with yes or no', async () => {
      const { id } = await ask(one, two)
      expect((await posted(two, `friend-requests/${id}/reject`)).body).toEqual({ success: true })
      for (const answer of ['accept', 'reject'])
        expect(await posted(two, `friends/${answer}`, { requestId: id })).toMatchObject({
          status: 404,
          code: 'NOT_FOUND',
          body: { error: 'Friend request not found, or answered already' },
        })
      expect(await requestsOf(one)).toEqual(nothing)
      expect(await friendsOf(one)).toEqual([])
    })

    solo('may be made again after it was declined, accepted and ended, or taken back', async () => {
      const first = await ask(one, two)
      await two.does('rest', friends.decline, { requestId: first.id })
      const second = await ask(one, two)
      await accept(two, second.id)
      await one.does('rest', friends.removeByAddress, { friendAddress: two.account })
      const third = await ask(two, one)
      await two.does('rest', friends.cancel, { id: third.id })
      const last = await ask(one, two)
      expect(new Set([first.id, second.id, third.id, last.id]).size).toBe(4)
      expect((await requestsOf(two)).incoming.map(({ id }) => id)).toEqual([last.id])
    })

    solo('is taken back by its sender alone, and that is answered alike when nothing was there', async () => {
      const { id } = await ask(one, two)
      for (const who of [two, third]) expect(await who.does('rest', friends.cancel, { id })).toEqual({ success: true })
      expect((await requestsOf(two)).incoming).toHaveLength(1)
      for (const _ of ['first', 'again']) await one.does('rest', friends.cancel, { id })
      expect(await requestsOf(two)).toEqual(nothing)
      expect(await two.refused('rest', friends.accept, { requestId: id })).toMatchObject({ code: 'NOT_FOUND' })
    })

    solo('that is accepted can no longer be cancelled', async () => {
      const { id } = await ask(one, two)
      await accept(two, id)
      await one.does('rest', friends.cancel, { id })
      expect(await friendsOf(one)).toHaveLength(1)
    })

    solo('is answered by nobody but its recipient', async () => {
      const { id: requestId } = await ask(one, two)
      for (const who of [one, third])
        for (const operation of [friends.accept, friends.decline])
          expect(await who.refused('rest', operation, { requestId })).toMatchObject({ status: 404, code: 'NOT_FOUND' })
      expect((await requestsOf(two)).incoming).toHaveLength(1)
    })

    solo('crossing another makes friends at once', async () => {
      const { id } = await ask(one, two)
      expect(await ask(two, one)).toMatchObject({ id, from_address: one.account, status: 'accepted' })
      expect(await friendsOf(one)).toMatchObject([{ friend_address: two.account }])
      expect(await friendsOf(two)).toMatchObject([{ friend_address: one.account }])
      for (const who of [one, two]) expect(await requestsOf(who)).toEqual(nothing)
    })

    solo('is refused where it makes no sense', async () => {
      const refused = (toAddress: string) => one.refused('rest', friends.request, { toAddress })
      const invalid = { status: 400, code: 'VALIDATION_ERROR' }
      expect(await refused(one.account)).toMatchObject({ ...invalid, message: 'You cannot befriend yourself' })
      expect(await refused(wallet('never here').address)).toMatchObject({ status: 404, code: 'USER_NOT_FOUND' })
      await ask(one, two)
      expect(await refused(two.account)).toMatchObject({ ...invalid, message: 'Your request is pending already' })
      await ask(two, one)
      for (const [who, whom] of [[one, two] as const, [two, one] as const])
        expect(await who.refused('rest', friends.request, { toAddress: whom.account })).toMatchObject({
          ...invalid,
          message: 'You are friends already',
        })
    })

    solo.each([
      ['nobody', {}, 'toAddress'],
      ['no address', { toAddress: 'not an address' }, 'Invalid address'],
      ['a list', { toAddress: [] }, 'toAddress'],
      ['a long memo', { toAddress: `0x${'1'.repeat(40)}`, memo: 'x'.repeat(101) }, 'memo'],
      ['a memo that controls', { toAddress: `0x${'1'.repeat(40)}`, memo: 'a\u0007b' }, 'memo'],
    ])('to or with %s: 400, under both paths', async (_title, body, text) => {
      for (const path of ['friends/request', 'friend-requests']) {
        const answer = await posted(one, path, body)
        expect(answer).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
        expect(answer.body.error).toContain(text)
      }
    })

    solo('may say as much as a hundred characters, however many bytes they are', async () => {
      expect((await ask(one, two, '🦊'.repeat(100))).memo).toBe('🦊'.repeat(100))
    })

    solo('is made in one’s own name', async () => {
      const claimed = { toAddress: two.account, fromAddress: third.account }
      for (const path of ['friends/request', 'friend-requests'])
        expect(await posted(one, path, claimed)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
      expect(await requestsOf(two)).toEqual(nothing)
    })

    solo('can neither be made nor seen by anybody who is not signed in', async () => {
      for (const [route, body] of [
        ['GET /api/friends', null],
        ['GET /api/friend-requests', null],
        ['POST /api/friends/request', { toAddress: two.account }],
      ] as const)
        expect(await call(server.url, route, body)).toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
    })
  })

  describe('friends', () => {
    solo('have a row each, with an id of its own that stays', async () => {
      const friend = await befriend(one, two)
      expect(friend).toMatchObject({ user_address: two.account, friend_address: one.account, nickname: null })
      expect(await friendsOf(two)).toEqual([friend])
      const [mine] = await friendsOf(one)
      expect(mine).toMatchObject({
        user_address: one.account,
        friend_address: two.account,
        created_at: friend.created_at,
      })
      expect(mine?.id).not.toBe(friend.id)
      expect(await friendsOf(one)).toEqual([mine])
    })

    solo('are listed newest first with how they are shown, a page at a time', async () => {
      const people: Person[] = []
      for (let at = 0; at < 5; at++) people.push(await person(server, `friend ${round} ${at}`))
      await people[4]?.does('rest', accounts.claimUsername, { username: `newest_${round}` })
      for (const [at, who] of people.entries()) await (at % 2 ? befriend(one, who) : befriend(who, one))
      const newestFirst = people.map(({ account }) => account).reverse()
      const all = await friendsOf(one)
      expect(all.map(({ friend_address }) => friend_address)).toEqual(newestFirst)
      expect(all[0]).toMatchObject({ username: `newest_${round}`, display_name: null, avatar_url: null })
      const seen: string[] = []
      let before: string | null = null
      for (const length of [2, 2, 1]) {
        const page: { friends: { friend_address: string }[]; next: string | null } = await one.does(
          'rest',
          friends.list,
          {
            limit: 2,
            ...(before === null ? {} : { before }),
          },
        )
        expect(page.friends).toHaveLength(length)
        seen.push(...page.friends.map(({ friend_address }) => friend_address))
        before = page.next
      }
      expect(before).toBeNull()
      expect(seen).toEqual(newestFirst)
    })

    solo('are for the caller alone, and a browser may keep them for ten seconds', async () => {
      await befriend(one, two)
      for (const path of ['friends', 'friend-requests']) {
        const { headers } = await one.rest(`GET /api/${path}`)
        expect(headers.get('cache-control')).toBe('private, max-age=10')
        expect(headers.get('vary')).toBe('Origin, Authorization, Cookie')
      }
      expect(await one.rest(`GET /api/friends?userAddress=${two.account}`)).toMatchObject({ status: 403 })
      const own = await one.rest(`GET /api/friends?userAddress=${one.account}`)
      expect(own.body.friends).toHaveLength(1)
      for (const query of ['limit=0', 'limit=1.5', 'before=*'])
        expect(await one.rest(`GET /api/friends?${query}`)).toMatchObject({ status: 400 })
    })

    solo('have nicknames that only who gave them sees', async () => {
      const { id } = await befriend(one, two)
      await two.does('rest', friends.rename, { id, nickname: ' Onesie ' })
      await one.does('rest', friends.renameByAddress, { friendAddress: two.account, nickname: 'Deuce' })
      expect(await friendsOf(two)).toMatchObject([{ id, nickname: 'Onesie' }])
      expect(await friendsOf(one)).toMatchObject([{ nickname: 'Deuce' }])
      await two.does('rest', friends.rename, { id, nickname: '' })
      await one.does('rest', friends.renameByAddress, { friendAddress: two.account, nickname: null })
      for (const who of [one, two]) expect(await friendsOf(who)).toMatchObject([{ nickname: null }])
      for (const nickname of ['x'.repeat(51), 'a\nb', 'a\u0000b', 5, undefined])
        for (const body of [{ nickname }, { nickname, friendAddress: one.account }])
          expect(await two.rest(`PATCH /api/friends${body.friendAddress ? '' : `/${id}`}`, body)).toMatchObject({
            status: 400,
            code: 'VALIDATION_ERROR',
          })
    })

    solo.each(['id', 'address'])('part for both, by %s, and only once', async (by) => {
      const { id } = await befriend(one, two)
      const remove = () =>
        by === 'id'
          ? two.rest(`DELETE /api/friends/${id}`, { userAddress: two.account })
          : two.rest(`DELETE /api/friends?friendAddress=${one.account}`)
      expect((await remove()).body).toEqual({ success: true })
      for (const who of [one, two]) expect(await friendsOf(who)).toEqual([])
      expect(await remove()).toMatchObject({ status: 404, code: 'NOT_FOUND', body: { error: 'Friend not found' } })
    })

    solo('of others are answered as if they did not exist', async () => {
      const { id } = await befriend(one, two)
      const gone = { status: 404, code: 'NOT_FOUND', message: 'Friend not found' }
      for (const who of [one, third]) {
        expect(await who.refused('rest', friends.remove, { id })).toMatchObject(gone)
        expect(await who.refused('rest', friends.rename, { id, nickname: 'Mine' })).toMatchObject(gone)
      }
      const friendAddress = one.account
      expect(await third.refused('rest', friends.removeByAddress, { friendAddress })).toMatchObject(gone)
      expect(await third.refused('rest', friends.renameByAddress, { friendAddress, nickname: 'x' })).toMatchObject(gone)
      expect(await third.rest(`DELETE /api/friends/${id}`, { userAddress: two.account })).toMatchObject({ status: 403 })
      expect(await friendsOf(two)).toMatchObject([{ id, nickname: null }])
    })

    solo('are no friends while a request waits', async () => {
      await ask(one, two)
      const friendAddress = two.account
      expect(await one.refused('rest', friends.removeByAddress, { friendAddress })).toMatchObject({ code: 'NOT_FOUND' })
      expect((await requestsOf(one)).outgoing).toHaveLength(1)
    })
  })

  describe('a block', () => {
    const unwanted = { status: 403, code: 'FORBIDDEN', message: 'You cannot send this user a friend request' }

    solo('ends the friendship, or the request, from either side', async () => {
      for (const [blocker, blocked] of [[one, two] as const, [two, one] as const]) {
        await befriend(one, two)
        await block(blocker, blocked)
        for (const who of [one, two]) expect(await friendsOf(who)).toEqual([])
        await unblock(blocker, blocked)
        const { id: requestId } = await ask(one, two)
        await block(blocker, blocked)
        for (const who of [one, two]) expect(await requestsOf(who)).toEqual(nothing)
        expect(await two.refused('rest', friends.accept, { requestId })).toMatchObject({ code: 'NOT_FOUND' })
        await unblock(blocker, blocked)
        for (const who of [one, two]) expect(await requestsOf(who)).toEqual(nothing)
      }
    })

    solo('is told alike to both: neither asks the other', async () => {
      await block(one, two)
      expect(await one.refused('rest', friends.request, { toAddress: two.account })).toMatchObject(unwanted)
      expect(await two.refused('rest', friends.request, { toAddress: one.account })).toMatchObject(unwanted)
      await unblock(one, two)
      expect(await ask(two, one)).toMatchObject({ status: 'pending' })
    })

    solo('counts before it has ended what was between the two', async () => {
      await befriend(one, two)
      await ask(third, one)
      // A block that died after its first write.
      for (const blocked of [two.account, third.account])
        await Blocks.create({
          _id: `${one.account} ${blocked}`,
          block_id: crypto.randomUUID(),
          blocker_address: one.account,
          blocked_address: blocked,
          created_at: new Date().toISOString(),
        })
      for (const who of [one, two]) expect(await friendsOf(who)).toEqual([])
      const { incoming } = await requestsOf(one)
      expect(incoming).toEqual([])
      const pending = await Pairs.findOne({ from_address: third.account, to_address: one.account }).lean()
      const requestId = pending?.request_id ?? ''
      expect(await one.refused('rest', friends.accept, { requestId })).toMatchObject({ code: 'NOT_FOUND' })
      expect(await Pairs.findOne({ request_id: requestId }).lean()).toBeNull()
    })

    /** Races in rounds of ten: each between two people, clients of different nodes, who take turns to block. */
    async function racing(
      rounds: number,
      race: (asker: Person, asked: Person, block: () => Promise<unknown>, turn: number) => Promise<void>,
    ) {
      const lanes = Array.from({ length: 10 }, async (_, lane) => {
        const asker = await person(server, `racer ${lane}`, urlOf(lane))
        const asked = await person(server, `rival ${lane}`, urlOf(lane + 1))
        for (let turn = 0; turn < rounds; turn++) {
          const [blocker, blocked] = (lane + turn) % 2 ? [asker, asked] : [asked, asker]
          await race(asker, asked, () => block(blocker, blocked), turn)
          for (const who of [asker, asked]) expect(await friendsOf(who)).toEqual([])
          await unblock(blocker, blocked)
          expect(await friendsOf(asker)).toEqual([])
          expect(await requestsOf(asked)).toEqual(nothing)
        }
      })
      await Promise.all(lanes)
    }

    test('T55: racing an acceptance never leaves friends, nor makes them when it is lifted', heavy, async () => {
      await racing(2, async (asker, asked, block, turn) => {
        const { id: requestId } = await ask(asker, asked)
        const accepting = () => posted(asked, 'friends/accept', { requestId })
        const [first, second] = turn % 2 ? [accepting, block] : [block, accepting]
        await Promise.all([first(), second()])
      })
    })

    test('T55: racing the requests of both leaves nothing', heavy, async () => {
      await racing(2, async (asker, asked, block) => {
        const asking = (who: Person, whom: Person) => posted(who, 'friends/request', { toAddress: whom.account })
        await Promise.all([asking(asker, asked), asking(asked, asker), block()])
      })
    })
  })

  describe('in parallel', () => {
    solo('of fifty equal requests exactly one is stored', async () => {
      const answers = await fifty((at) =>
        posted(one, at % 2 ? 'friends/request' : 'friend-requests', { toAddress: two.account }),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      const texts = answers.filter(({ status }) => status !== 200).map(({ status, body }) => `${status} ${body.error}`)
      expect(new Set(texts)).toEqual(new Set(['400 Your request is pending already']))
      expect((await requestsOf(two)).incoming).toHaveLength(1)
      expect(await Pairs.countDocuments({ from_address: one.account })).toBe(1)
    })

    test('of fifty crossing requests one is stored and one accepts it', async () => {
      const answers = await fifty((at) => {
        const [who, whom] = at % 2 ? [one, two] : [two, one]
        return posted(who, 'friends/request', { toAddress: whom.account })
      })
      const taken = answers.filter(({ status }) => status === 200)
      expect(taken.map(({ body }) => body.status).sort()).toEqual(['accepted', 'pending'])
      expect(new Set(taken.map(({ body }) => body.id)).size).toBe(1)
      expect(statuses(answers)).toEqual([...Array(2).fill(200), ...Array(48).fill(400)])
      for (const who of [one, two]) {
        expect(await friendsOf(who)).toHaveLength(1)
        expect(await requestsOf(who)).toEqual(nothing)
      }
    })

    solo('of fifty accepts and declines exactly one counts', async () => {
      const { id: requestId } = await ask(one, two)
      const answers = await fifty((at) => posted(two, `friends/${at % 2 ? 'accept' : 'reject'}`, { requestId }))
      expect(statuses(answers)).toEqual([200, ...Array(49).fill(404)])
      const accepted = answers.some(({ status, body }) => status === 200 && body.friend !== undefined)
      for (const who of [one, two]) expect(await friendsOf(who)).toHaveLength(accepted ? 1 : 0)
    })

    solo('of fifty removals exactly one succeeds', async () => {
      const { id } = await befriend(one, two)
      const answers = await fifty((at) =>
        at % 2 ? two.rest(`DELETE /api/friends/${id}`) : one.rest(`DELETE /api/friends?friendAddress=${two.account}`),
      )
      expect(statuses(answers)).toEqual([200, ...Array(49).fill(404)])
      expect(await friendsOf(one)).toEqual([])
    })

    test('of an acceptance and a cancellation one wins, and both see which', async () => {
      for (let turn = 0; turn < 10; turn++) {
        const { id } = await ask(one, two)
        const [accepted] = await Promise.all([
          posted(two, 'friends/accept', { requestId: id }),
          one.does('rest', friends.cancel, { id }),
        ])
        const left = accepted.status === 200 ? 1 : 0
        for (const who of [one, two]) expect(await friendsOf(who)).toHaveLength(left)
        if (left) await one.does('rest', friends.removeByAddress, { friendAddress: two.account })
      }
    })

    solo('requests of one person beyond a hundred pending are refused', async () => {
      const others = await strangers(150)
      const asking = (toAddress: string) => posted(one, 'friends/request', { toAddress })
      for (const other of others.slice(0, 90)) expect((await asking(other)).status).toBe(200)
      const answers = await Promise.all(others.slice(90, 140).map(asking))
      expect(new Set(statuses(answers).slice(-40))).toEqual(new Set([409]))
      const pending = await Pairs.countDocuments({ from_address: one.account, state: 'pending' })
      expect(pending).toBe(90 + answers.filter(({ status }) => status === 200).length)
      expect(pending).toBeLessThanOrEqual(100)
      for (const other of others.slice(140)) await asking(other)
      expect(await asking(two.account)).toMatchObject({
        status: 409,
        code: 'CONFLICT',
        body: { error: 'You have 100 requests pending. Take one back first.' },
      })
      const { outgoing } = await requestsOf(one)
      expect(outgoing).toHaveLength(100)
      await one.does('rest', friends.cancel, { id: outgoing[0]?.id ?? '' })
      expect((await asking(two.account)).status).toBe(200)
    })
  })
})

solo('one person may send five requests an hour to one other, and sixty to all', async () => {
  const server = await boot({ environment: { RATE_LIMIT_SCALE: '1' }, nodes: 1 })
  try {
    const [pest, victim] = [await person(server, 'pest'), await person(server, 'victim')]
    const asking = (toAddress: string) => posted(pest, 'friend-requests', { toAddress })
    const limited = { status: 429, code: 'RATE_LIMIT_EXCEEDED', body: { retryAfter: 3_600 } }
    for (let turn = 0; turn < 5; turn++) {
      const { body } = await asking(victim.account)
      await pest.does('rest', friends.cancel, { id: String(body.id) })
    }
    expect(await asking(victim.account)).toMatchObject(limited)
    for (let turn = 6; turn < 60; turn++)
      expect(await asking(wallet(`nobody ${turn}`).address)).toMatchObject({ status: 404, code: 'USER_NOT_FOUND' })
    expect(await asking(wallet('nobody').address)).toMatchObject(limited)
    expect(await friendsOf(victim)).toEqual([])
  } finally {
    await server.close()
  }
})
