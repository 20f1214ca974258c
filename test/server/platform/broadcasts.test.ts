// Modes: embedded, two-nodes-redis
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Client } from '#client/sdk/types'
import { plazaAccount } from '#server/domains/people/accounts/accounts'
import { Accounts } from '#server/domains/people/accounts/model'
import { broadcastJob, sendNextBatch } from '#server/domains/platform/broadcasts/index'
import { Broadcasts } from '#server/domains/platform/broadcasts/model'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { fakePush } from '#server/ports/push/fake'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { serviceTokens } from '#shared/api/people/service-tokens'
import { broadcasts } from '#shared/api/platform/broadcasts'
import { push as pushing } from '#shared/api/platform/push'
import { inbox } from '#shared/api/rooms/inbox'
import { messages } from '#shared/api/rooms/messages'
import { dmOf, roomKey } from '#shared/kit/primitives'
import { type Booted, boot } from '#test/support/boot'
import { clientOf, conversationOf, shows } from '#test/support/direct-clients'
import { heavy } from '#test/support/heavy'
import { befriend, type Person, person, sealed } from '#test/support/people'
import { pushBrowser } from '#test/support/push-browser'
import { call, wallet } from '#test/support/wallet'

const push = fakePush()
const environment = { SUPER_ADMINS: wallet('tells many').address }
let server: Booted
let admin: Person
const open: Client[] = []
afterEach(() => {
  for (const client of open.splice(0)) client.close()
  vi.restoreAllMocks()
})

/** What somebody was told by somebody, the newest of each conversation. */
const toldBy = async (who: Person, from: string) =>
  (await who.does('rest', inbox.directPreviews, {})).previews
    .filter(({ sender_address }) => sender_address === from)
    .map(({ content, message_type }) => [message_type, content])
const historyOf = async (who: Person, other: string) =>
  (await who.does('rest', messages.history, { room: dmOf(who.account, other) })).messages
const tell = (message: string, target = 'all_users', headers = {}, by = admin) =>
  by.rest('POST /api/admin/broadcast', { message, target }, headers)

describe('a broadcast', () => {
  beforeAll(async () => {
    server = await boot({ environment, services: { push } })
    admin = await person(server, 'tells many')
  })
  afterAll(() => server.close())

  let round = 0
  const somebody = (name: string) => person(server, `${name} ${++round}`)

  test('is told to every account once, in clear, and not to who is suspended', async () => {
    const [ada, gone] = [await somebody('ada'), await somebody('gone')]
    await admin.does('rest', accounts.suspend, { userAddress: gone.account, ban: true })
    const { total } = await admin.does('rest', broadcasts.read, {})
    const sent = await tell('Back at nine')
    expect(sent.body).toEqual({
      ...{ success: true, id: expect.any(String), target: 'all_users' },
      ...{ sent: total, failed: 0, pushSent: 0, total },
    })
    expect(await toldBy(ada, plazaAccount)).toEqual([['system', 'Back at nine']])
    expect(await historyOf(ada, plazaAccount)).toMatchObject([
      { content: 'Back at nine', message_type: 'system', sender: { name: 'Plaza' } },
    ])
    expect(await toldBy(gone, plazaAccount)).toEqual([])
    const { broadcasts: last } = await admin.does('rest', broadcasts.read, { target: 'friends' })
    expect(last[0]).toMatchObject({ id: sent.body.id, sent: total, created_by: admin.account })
    expect(last[0]?.finished_at).toEqual(expect.any(String))
  })

  test('is shown by clients as what it is: in clear, and no secret', async () => {
    const ada = await clientOf(server, `reads ${++round}`)
    open.push(ada)
    await tell('For everybody to read')
    const conversation = conversationOf(ada, { account: plazaAccount })
    await shows(conversation, 'For everybody to read')
    expect(conversation.state.messages[0]?.secrecy).toMatchObject({ state: 'clear', isSecret: false })
  })

  test('is told to browsers in its words, while no page is in front of their people', async () => {
    const ada = await somebody('ada')
    const { asJson, subscription } = pushBrowser(`https://push.test/${round}`)
    await ada.does('rest', pushing.subscribe, { subscription: asJson })
    expect((await tell('Look here')).body).toMatchObject({ pushSent: 1 })
    const told = () =>
      push.sent.flatMap(({ endpoint, message }) =>
        endpoint === subscription.endpoint ? [JSON.parse(message.text) as object] : [],
      )
    await expect.poll(told).toMatchObject([{ title: 'Plaza', body: 'Look here', type: 'message' }])
  })

  test('with the same key is told once, and answered as it was', async () => {
    const ada = await somebody('ada')
    const key = { 'idempotency-key': `once-${round}` }
    const first = await tell('Only once', 'all_users', key)
    expect((await tell('Only once', 'all_users', key)).body).toEqual(first.body)
    expect(await tell('Another', 'all_users', key)).toMatchObject({ status: 409, code: 'CONFLICT' })
    expect(await historyOf(ada, plazaAccount)).toHaveLength(1)
  })

  test('to friends is from the admin, and reaches them alone', async () => {
    const names = ['friend', 'blocker', 'suspended', 'stranger'] as const
    const [friend, blocker, suspended, stranger] = await Promise.all(names.map(somebody))
    if (!friend || !blocker || !suspended || !stranger) throw new Error('Nobody came')
    for (const one of [friend, blocker, suspended]) await befriend(admin, one)
    await admin.does('rest', accounts.suspend, { userAddress: suspended.account, ban: true })
    await blocker.does('rest', social.block, { userAddress: admin.account })
    expect((await tell('Dear friends', 'friends')).body).toMatchObject({ sent: 1, failed: 0, total: 1 })
    expect(await toldBy(friend, admin.account)).toEqual([['system', 'Dear friends']])
    for (const one of [blocker, suspended, stranger]) expect(await toldBy(one, admin.account)).toEqual([])
    const [told] = await historyOf(admin, friend.account)
    const edited = { room: dmOf(admin.account, friend.account), id: told?.id ?? '', text: sealed() }
    expect(await admin.refused('rest', messages.edit, edited)).toMatchObject({ status: 400, code: 'INVALID_PARAMETER' })
  })

  test('is from an account that admins find by its name, and whose name, page and voice are nobody else’s', async () => {
    const ada = await somebody('ada')
    await tell('Who is this?')
    const { users } = await admin.does('rest', accounts.users, { search: 'plaz' })
    expect(users).toMatchObject([{ wallet_address: plazaAccount, display_name: 'Plaza', wallet_type: null }])
    const { user } = await ada.does('rest', accounts.publicUser, { address: plazaAccount })
    expect(user).toMatchObject({ display_name: 'Plaza', is_bot: true })
    for (const change of [{ display_name: 'Plaza' }, { display_name: 'P1aza' }, { username: 'plaza' }])
      expect((await ada.rest('PATCH /api/user/profile', change)).status).toBeGreaterThanOrEqual(400)
    const speaks = { name: 'Voice', account: plazaAccount, scopes: ['messages:write'] }
    expect(await admin.refused('rest', serviceTokens.create, speaks)).toMatchObject({ code: 'USER_NOT_FOUND' })
  })

  test('from Plaza is answered by nobody, and refused by who has blocked it', async () => {
    const [ada, bo] = [await somebody('ada'), await somebody('bo')]
    await tell('No answer, please')
    const room = dmOf(ada.account, plazaAccount)
    expect(await ada.refused('rest', messages.send, { room, text: sealed() })).toMatchObject({ code: 'READ_ONLY' })
    await bo.does('rest', social.block, { userAddress: plazaAccount })
    const { body } = await tell('And one more')
    expect(body).toMatchObject({ failed: 1, total: Number(body.sent) + 1 })
    expect(await toldBy(ada, plazaAccount)).toEqual([['system', 'And one more']])
    expect(await toldBy(bo, plazaAccount)).toEqual([['system', 'No answer, please']])
  })

  test('goes on where somebody cannot be told, who is counted as failed after some tries', async () => {
    const [ada, cut] = [await somebody('ada'), await somebody('cut')]
    const { failed } = (await tell('While all is well')).body
    const damaged = roomKey(dmOf(cut.account, plazaAccount))
    for (const { node } of server.apps) {
      const act = node.log.act
      const fails = (room: string, given: never) =>
        room === damaged ? Promise.reject(new Error('It is damaged')) : act(room, given)
      vi.spyOn(node.log, 'act').mockImplementation(fails as never)
    }
    const { status, body } = await tell('Despite one')
    expect({ status, body }).toMatchObject({ status: 200, body: { sent: 0, failed: 0 } })
    expect(await toldBy(ada, plazaAccount)).toEqual([['system', 'Despite one']])
    const node = server.apps[0]?.node
    if (!node) throw new Error('There is no node')
    const id = String(body.id)
    const said = { id, message: 'Despite one', target: 'all_users', created_by: admin.account, at: node.now() } as const
    const run = (attempt: number) => broadcastJob.run(said, { id, attempt, node, signal: new AbortController().signal })
    await expect(run(5)).rejects.toThrow('1 could not be told')
    expect(await Broadcasts.findOne({ _id: id }).lean()).toMatchObject({ cursor: '', sent: 0, finished_at: null })
    await run(6)
    const { broadcasts: last } = await admin.does('rest', broadcasts.read, {})
    const total = Number(body.total)
    expect(last[0]).toMatchObject({ id, total, sent: total - Number(failed) - 1, failed: Number(failed) + 1 })
    expect(last[0]?.finished_at).toEqual(expect.any(String))
    expect(await toldBy(cut, plazaAccount)).toEqual([['system', 'While all is well']])
  })

  test('passes over who ends the process at each try, and tells all others', async () => {
    const [ada, deadly] = [await somebody('ada'), await somebody('deadly')]
    const node = server.apps[0]?.node
    if (!node) throw new Error('There is no node')
    const room = roomKey(dmOf(deadly.account, plazaAccount))
    const act = node.log.act
    // As for the process that dies of it, this never ends.
    const ends = (key: string, given: never) => (key === room ? new Promise(() => {}) : act(key, given))
    vi.spyOn(node.log, 'act').mockImplementation(ends as never)
    const id = `deadly-${round}`
    const said = { id, message: 'To the last', target: 'all_users', created_by: admin.account, at: node.now() } as const
    const run = (attempt: number) => broadcastJob.run(said, { id, attempt, node, signal: new AbortController().signal })
    const tried = async () => (await Broadcasts.findOne({ _id: id }).lean())?.tried ?? []
    for (let attempt = 2; attempt <= 4; attempt++) {
      void run(attempt)
      await expect.poll(tried).toEqual(Array(attempt - 1).fill(deadly.account))
    }
    await run(5)
    const { broadcasts: last } = await admin.does('rest', broadcasts.read, {})
    const done = last.find((one) => one.id === id)
    expect([Number(done?.sent) + Number(done?.failed), done?.finished_at]).toEqual([done?.total, expect.any(String)])
    expect(await toldBy(ada, plazaAccount)).toEqual([['system', 'To the last']])
    expect(await toldBy(deadly, plazaAccount)).toEqual([])
    expect(await tried()).toEqual([])
  })

  test('adds up at its end, whoever has left or come meanwhile', heavy, async () => {
    const node = server.apps[0]?.node
    if (!node) throw new Error('There is no node')
    const made = (_id: string) => ({ _id, wallet_type: 'eoa', created_at: new Date(0), updated_at: new Date(0) })
    const many = Array.from({ length: 120 }, (_, index) => `0x${String(index).padStart(40, 'd')}`)
    await Accounts.insertMany(many.map(made))
    const id = `adds-up-${round}`
    const said = { id, message: 'Add me up', target: 'all_users', created_by: admin.account, at: node.now() } as const
    const first = await sendNextBatch(node, said)
    expect([first.sent + first.failed, first.finished_at]).toEqual([50, null])
    await Accounts.deleteMany({ _id: { $in: many.slice(0, 5) } })
    await Accounts.updateMany({ _id: { $in: many.slice(5, 10) } }, { $set: { is_banned: true } })
    await Accounts.create(made(`0x${'f'.repeat(40)}`))
    let turn = first
    while (turn.finished_at === null) turn = await sendNextBatch(node, said)
    expect(turn.total).toBe(first.total - 9)
    expect(turn.sent + turn.failed).toBe(turn.total)
    await Accounts.deleteMany({ _id: { $in: [...many, `0x${'f'.repeat(40)}`] } })
  })

  test('to many is told in turns, and nobody is told twice where a turn is done again', heavy, async () => {
    const at = new Date()
    const many = Array.from({ length: 120 }, (_, index) => `0x${String(index).padStart(40, 'e')}`)
    await Accounts.insertMany(many.map((_id) => ({ _id, wallet_type: 'eoa', created_at: at, updated_at: at })))
    const { body } = await tell('To so many')
    const id = String(body.id)
    expect(Number(body.sent) + Number(body.failed)).toBeGreaterThanOrEqual(50)
    await expect
      .poll(async () => (await Broadcasts.findOne({ _id: id }).lean())?.finished_at, { timeout: 30_000 })
      .toBeTruthy()
    const done = await Broadcasts.findOne({ _id: id }).lean()
    expect([done?.total, (done?.sent ?? 0) + (done?.failed ?? 0)]).toEqual([body.total, body.total])
    const rooms = many.map((account) => `dm:${dmOf(account, plazaAccount).id}`)
    expect(await Rooms.countDocuments({ _id: { $in: rooms } })).toBe(many.length)
    const node = server.apps[0]?.node
    if (!node) throw new Error('There is no node')
    await Broadcasts.updateOne({ _id: id }, { $set: { cursor: '', finished_at: null, sent: 0, failed: 0 } })
    const said = {
      id,
      message: 'To so many',
      target: 'all_users',
      created_by: admin.account,
      at: at.getTime(),
    } as const
    const turns = await Promise.all([sendNextBatch(node, said), sendNextBatch(node, said)])
    expect(turns.map(({ sent, failed }) => sent + failed)).toEqual([50, 50])
    let turn = await sendNextBatch(node, said)
    while (turn.finished_at === null) turn = await sendNextBatch(node, said)
    const anew = await Broadcasts.findOne({ _id: id }).lean()
    expect([anew?.sent, anew?.failed]).toEqual([done?.sent, done?.failed])
    for (const room of rooms) expect([room, await node.log.ask(room, (view) => view.total)]).toEqual([room, 1])
  })

  test('is of admins alone, says something, and nothing that is blocked', async () => {
    const who = await somebody('who')
    for (const route of ['GET /api/admin/broadcast', 'POST /api/admin/broadcast']) {
      const body = route.startsWith('POST') ? { message: 'Hello', target: 'all_users' } : null
      expect((await who.rest(route, body)).status).toBe(403)
      expect((await call(server.url, route, body)).status).toBe(401)
    }
    const wrong: [input: object, says: string][] = [
      [{ message: 'Hello', target: 'strangers' }, 'target: one of all_users, friends'],
      [{ message: 'Hello' }, 'target'],
      [{ target: 'all_users' }, 'message'],
      [{ message: ' \n ', target: 'all_users' }, 'message is required'],
      [{ message: 'x'.repeat(2_001), target: 'all_users' }, 'Too long'],
    ]
    for (const [input, says] of wrong) {
      const { status, body } = await admin.rest('POST /api/admin/broadcast', input)
      expect([input, status, body.error]).toEqual([input, 400, expect.stringContaining(says)])
    }
    expect((await admin.rest('GET /api/admin/broadcast?target=strangers')).status).toBe(400)
    for (const [word, action] of [
      ['zork', 'block'],
      ['plum', 'mute'],
    ])
      await admin.rest('POST /api/blocked-words', { word, action, scope: 'global' })
    expect(await tell('A zork')).toMatchObject({ status: 403, code: 'BLOCKED_WORD' })
    expect(await tell('A plum')).toMatchObject({ status: 403, code: 'MESSAGE_REJECTED' })
    expect(await toldBy(who, plazaAccount)).toEqual([])
  })
})

describe('what a broadcast may cost', () => {
  beforeAll(async () => {
    server = await boot({ environment: { ...environment, RATE_LIMIT_SCALE: '1', VERDICT_STEPS: '15000' } })
    admin = await person(server, 'tells many')
  })
  afterAll(() => server.close())

  test('an admin tells many five times an hour, and nothing that costs too much to judge', async () => {
    await admin.rest('POST /api/blocked-words', { word: 'zork', action: 'block', scope: 'global' })
    expect(await tell('ж'.repeat(2_000))).toMatchObject({ status: 400, code: 'TEXT_TOO_COMPLEX' })
    const statuses: number[] = []
    for (let round = 0; round < 6; round++) statuses.push((await tell(`Round ${round}`, 'friends')).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
  })
})
