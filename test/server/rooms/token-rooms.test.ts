// Modes: embedded
import { getAddress, type Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { tokensOf } from '#server/domains/rooms/tokens/gate'
import { fakeChain } from '#server/ports/chain/fake'
import { moderation } from '#shared/api/moderation/moderation'
import { accounts } from '#shared/api/people/accounts'
import { wallet as walletOf } from '#shared/api/people/wallet'
import { messages } from '#shared/api/rooms/messages'
import { rooms } from '#shared/api/rooms/rooms'
import { tokens } from '#shared/api/rooms/tokens'
import { type Booted, boot } from '#test/support/boot'
import { folderStorage } from '#test/support/folder-storage'
import { appoint } from '#test/support/moderation'
import { over, type Person, person } from '#test/support/people'
import { pngOf } from '#test/support/pictures'
import { call, wallet } from '#test/support/wallet'

const base = 8453
const token = `0x${'7a'.repeat(20)}` as const
const pieces = `0x${'7b'.repeat(20)}` as const
const spoken = `0x${'7c'.repeat(20)}` as const
const chain = fakeChain(base)
let server: Booted
let root: Person
let founder: Person
let named = 0
const someone = () => person(server, `holder ${++named}`)
const asked = { tokenAddress: token, tokenChainId: base, name: 'Holders', minBalance: '1000' }

beforeAll(async () => {
  const environment = { SUPER_ADMINS: wallet('root').address, VERDICT_STEPS: '15000' }
  server = await boot({ services: { chains: new Map([[base, chain]]), storage: await folderStorage() }, environment })
  ;[root, founder] = await Promise.all([person(server, 'root'), person(server, 'founder')])
  const owner = founder.account as Hex
  chain.deploy(token, { token: { name: 'Heron', symbol: 'HRN', decimals: 2, owner } })
  chain.deploy(pieces, { token: { name: 'Feather\u202e\n\u0000 of glass', symbol: '', decimals: 0, owner: null } })
  chain.deploy(spoken, { token: { name: 'Zorkmid', symbol: 'ZRK', decimals: 0, owner: null } })
})
afterAll(() => server.close())

const give = (who: Person | Hex, value: bigint, of: Hex = token) =>
  chain.transfer({ to: typeof who === 'string' ? who : (who.account as Hex), value, token: of })
const path = (id: string, more = '') => `/api/token-chats/${id}${more}`
async function chatOf(by: Person, more: object = {}) {
  const { status, body } = await by.rest('POST /api/token-chats', { ...asked, ...more })
  expect(status).toBe(200)
  return z.object({ chat: z.looseObject({ id: z.string() }) }).parse(body).chat
}

test('the icon of a room for holders is given and taken away by who moderates it', async () => {
  const { id } = await chatOf(founder)
  const icon = async (by: Person, file: Buffer = pngOf()) => {
    const body = new FormData()
    body.set('userAddress', by.account)
    body.set('file', new Blob([new Uint8Array(file)]), 'x')
    const headers = { authorization: `Bearer ${by.token}` }
    const answer = await fetch(`${by.url}${path(id, '/icon')}`, { method: 'POST', headers, body })
    return { status: answer.status, body: (await answer.json()) as { success?: boolean; icon_url?: string } }
  }
  const given = await icon(founder)
  expect(given).toMatchObject({ status: 200, body: { success: true, icon_url: expect.stringMatching(/\.png$/) } })
  const shown = async () => (await call(server.url, `GET ${path(id)}`)).body.icon_url
  expect(await shown()).toBe(given.body.icon_url)
  const other = await someone()
  expect((await icon(other)).status).toBe(403)
  expect((await other.rest(`DELETE ${path(id, '/icon')}`)).status).toBe(403)
  expect((await icon(founder, Buffer.alloc(2 * 1024 * 1024 + 1))).status).toBe(413)
  expect((await icon(founder, Buffer.from('<svg/>'))).status).toBe(415)
  expect(await founder.rest(`DELETE ${path(id, '/icon')}?userAddress=${founder.account}`)).toMatchObject({
    status: 200,
    body: { success: true },
  })
  expect(await shown()).toBeNull()
})

test('a room for holders is what its chain says of the token, whatever the client says', async () => {
  const claims = { tokenName: 'USD Coin', tokenSymbol: 'USDC', tokenDecimals: 6, minBalanceDisplay: '1' }
  const chat = await chatOf(founder, claims)
  expect(chat).toMatchObject({
    id: expect.stringMatching(/^tc_[0-9a-f]{16}$/),
    ...{ created_by: founder.account, token_address: token, token_chain_id: base, token_name: 'Heron' },
    ...{ token_symbol: 'HRN', token_decimals: 2, min_balance: '1000', min_balance_display: '10', is_member: true },
    ...{ member_count: 1, emoji: '🪙', is_official: false, messaging_type: 'standard', icon_url: null },
  })
  const shown = await call(server.url, `GET ${path(chat.id)}`)
  expect(shown.body).toMatchObject({ id: chat.id, token_symbol: 'HRN', chat: { id: chat.id, is_member: false } })
  expect((await call(server.url, `GET ${path(chat.id, '/settings')}`)).body).toMatchObject({ id: chat.id })
  const strange = await chatOf(founder, { tokenAddress: pieces, minBalance: undefined })
  expect(strange).toMatchObject({ token_name: 'Feather of glass', token_symbol: '0x7B7b7b…', min_balance: '1' })
})

test.each(over)('over %s, what cannot be founded is refused by its reason', async (door) => {
  const found = (more: object) => founder.refused(door, rooms.createTokenRoom, { ...asked, ...more })
  expect(await found({ tokenAddress: `0x${'00'.repeat(20)}` })).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  expect((await found({ tokenChainId: 5 })).code).toBe('SERVICE_UNAVAILABLE')
  expect((await found({ minBalance: '-1' })).status).toBe(400)
  expect((await found({ messagingType: 'p2p' })).status).toBe(400)
  expect((await found({ isOfficial: true })).code).toBe('FORBIDDEN')
  for (const how of ['UPSTREAM_ERROR', 'TIMEOUT'] as const) {
    chain.away = how
    expect((await found({ tokenAddress: `0x${how.length.toString(16).padStart(40, '0')}` })).code).toBe(how)
    expect((await founder.refused(door, tokens.info, { address: `0x${'9'.repeat(40)}`, chainId: base })).code).toBe(how)
    chain.away = null
  }
})

test('T80: what a contract calls itself is judged as what people write', async () => {
  for (const [action, code] of [
    ['block', 'BLOCKED_WORD'],
    ['mute', 'MESSAGE_REJECTED'],
  ] as const) {
    const { status, body } = await root.rest('POST /api/blocked-words', { word: 'zorkmid', action, scope: 'global' })
    expect(status).toBe(200)
    for (const door of over)
      expect((await founder.refused(door, rooms.createTokenRoom, { ...asked, tokenAddress: spoken })).code).toBe(code)
    const { id } = z.object({ id: z.string() }).parse(body.word ?? body)
    expect((await root.rest(`DELETE /api/blocked-words?id=${id}`)).status).toBe(200)
  }
})

test('N01: what a room is called may cost as much as any other text', async () => {
  const { body } = await root.rest('POST /api/blocked-words', { word: 'zorkmid', scope: 'global' })
  for (const door of over) {
    const costly = { ...asked, name: 'ж'.repeat(100) }
    expect((await founder.refused(door, rooms.createTokenRoom, costly)).code).toBe('TEXT_TOO_COMPLEX')
  }
  const { id } = z.object({ id: z.string() }).parse(body.word ?? body)
  expect((await root.rest(`DELETE /api/blocked-words?id=${id}`)).status).toBe(200)
})

test('an official room is founded by an admin alone', async () => {
  expect(await chatOf(root, { isOfficial: true })).toMatchObject({ is_official: true })
})

test('a suspended account founds none', async () => {
  const gone = await someone()
  await root.does('rest', accounts.suspend, { userAddress: gone.account, ban: true })
  for (const door of over) expect((await gone.refused(door, rooms.createTokenRoom, asked)).code).toBe('SUSPENDED')
})

test('rooms are listed by members, found by token, chain and words, and by who is in them', async () => {
  const mine = await chatOf(founder, { name: 'Glass collectors', tokenAddress: pieces })
  const listed = async (query: string, who: Person | null = founder) => {
    const { body } = who
      ? await who.rest(`GET /api/token-chats${query}`)
      : await call(server.url, `GET /api/token-chats${query}`)
    return z.object({ chats: z.array(z.looseObject({ id: z.string(), token_address: z.string() })) }).parse(body).chats
  }
  expect(
    (await listed(`?tokenAddress=${pieces.toUpperCase().replace('0X', '0x')}`, null)).map((one) => one.token_address),
  ).toContain(pieces)
  expect(await listed('?chainId=10')).toEqual([])
  expect((await listed('?search=collectors', null)).map(({ id }) => id)).toEqual([mine.id])
  expect(await listed('?search=%20%2D', null)).toEqual([])
  expect(await listed('?mode=my', await someone())).toEqual([])
  expect((await listed('?mode=my')).map(({ id }) => id)).toContain(mine.id)
  expect((await call(server.url, 'GET /api/token-chats?mode=my')).status).toBe(401)
  for (const door of over) expect((await founder.does(door, rooms.listTokenRooms, {})).chats.length).toBeGreaterThan(0)
})

test('the balance counts over the wallet and the smart account, and joining says so', async () => {
  const { id } = await chatOf(founder)
  const who = await someone()
  give(who, 400n)
  const refused = await who.rest(`POST ${path(id, '/join')}`, { userAddress: who.account })
  expect(refused).toMatchObject({ status: 403, code: 'GATE_NOT_PASSED' })
  expect(refused.body).toMatchObject({
    error: 'You need 10 HRN and hold 4 HRN',
    required: '1000',
    actual: '400',
    symbol: 'HRN',
  })
  const { smartWalletAddress } = await who.does('rest', walletOf.smartWallet, {})
  give(getAddress(String(smartWalletAddress)), 600n)
  server.setAhead(0)
  await who.does('rest', rooms.recheckGate, { room: { type: 'token', id } })
  expect((await who.rest(`POST ${path(id, '/join')}`)).body).toEqual({
    success: true,
    walletsChecked: 2,
    totalBalance: '1000',
  })
  expect((await who.rest(`POST ${path(id, '/join')}`)).body).toEqual({ success: true, alreadyMember: true })
  expect((await who.rest(`POST ${path('tc_0000000000000000', '/join')}`)).status).toBe(404)
})

test('members have ranks, are found and taken out, by the documented paths', async () => {
  const { id } = await chatOf(founder)
  const [one, two] = await Promise.all([someone(), someone()])
  for (const who of [one, two]) {
    give(who, 1000n)
    await who.does('socket', rooms.join, { room: { type: 'token', id } })
  }
  const patch = (by: Person, body: object) => by.rest(`PATCH ${path(id, '/members')}`, body)
  expect((await patch(one, { targetAddress: two.account, role: 'admin' })).status).toBe(403)
  expect((await patch(founder, { targetAddress: one.account, role: 'owner' })).status).toBe(400)
  expect((await patch(founder, { targetAddress: one.account, role: 'admin' })).body).toEqual({
    success: true,
    role: 'admin',
  })
  const { body } = await one.rest(`GET ${path(id, `/members?search=${one.account}&limit=1`)}`)
  expect(body).toMatchObject({ members: [{ address: one.account, role: 'admin' }], total: 1, hasMore: false })
  expect((await one.rest(`GET ${path(id, '/members')}`)).body).toMatchObject({ total: 3 })
  expect((await one.rest(`PATCH ${path(id, '/settings')}`, { name: 'Keepers', emoji: '🗝' })).body).toMatchObject({
    chat: { name: 'Keepers' },
  })
  expect((await two.rest(`PATCH ${path(id, '/settings')}`, { name: 'Mine' })).status).toBe(403)
  expect((await one.rest(`DELETE ${path(id, `/members?targetAddress=${founder.account}`)}`)).status).toBe(403)
  expect((await one.rest(`DELETE ${path(id, `/members?targetAddress=${two.account}`)}`)).body).toEqual({
    success: true,
  })
  expect((await two.rest(`GET ${path(id, '/messages')}`)).status).toBe(403)
})

test('the last admin makes somebody else one before leaving', async () => {
  const { id } = await chatOf(founder)
  const room = { type: 'token', id } as const
  const next = await someone()
  give(next, 1000n)
  await next.does('rest', rooms.join, { room })
  for (const door of over)
    expect(await founder.refused(door, rooms.leave, { room })).toMatchObject({ code: 'VALIDATION_ERROR' })
  await founder.does('rest', rooms.setRole, { room, address: next.account, role: 'admin' })
  expect((await founder.rest(`DELETE ${path(id, '/join')}`)).body).toEqual({ success: true })
  expect((await founder.rest(`POST ${path(id, '/leave')}`)).status).toBe(200)
})

test('O63: who has the role of a moderator changes the rules of a token chat, and nothing else that admins do', async () => {
  const { id } = await chatOf(founder)
  const room = { type: 'token', id } as const
  const [mod, granted, member] = [await someone(), await someone(), await someone()]
  for (const who of [mod, granted, member]) {
    give(who, 1000n)
    await who.does('rest', rooms.join, { room })
  }
  await founder.does('rest', rooms.setRole, { room, address: mod.account, role: 'moderator' })
  await appoint(founder, room, granted, { canMute: true })
  const change = (who: Person, seconds: number) =>
    who.rest('POST /api/chat-rules', { chatType: 'token', chatId: id, rules: { slow_mode_seconds: seconds } })
  expect(await change(mod, 30)).toMatchObject({ status: 200, body: { rules: { slow_mode_seconds: 30 } } })
  expect((await change(granted, 10)).status).toBe(403)
  expect((await change(member, 10)).status).toBe(403)
  const word = { room, action: 'word_add', patch: { word: 'zorkmid' } } as const
  expect(await mod.refused('socket', moderation.act, word)).toMatchObject({ code: 'FORBIDDEN' })
  expect((await mod.rest(`PATCH ${path(id, '/settings')}`, { name: 'Mine' })).status).toBe(403)
  await founder.does('rest', rooms.setRole, { room, address: mod.account, role: 'member' })
  expect((await change(mod, 10)).status).toBe(403)
})

test.each(over)('of the last two admins, who leave at once, one stays, over %s', async (door) => {
  const next = await someone()
  give(next, 1000n)
  for (let round = 0; round < 10; round++) {
    const room = { type: 'token', id: (await chatOf(founder, { name: `Pair ${door} ${round}` })).id } as const
    await next.does(door, rooms.join, { room })
    await founder.does('rest', rooms.setRole, { room, address: next.account, role: 'admin' })
    const left = await Promise.allSettled([founder, next].map((admin) => admin.does(door, rooms.leave, { room })))
    expect(left.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  }
})

test('messages are for members, oldest first, and gone when they are taken back', async () => {
  const { id } = await chatOf(founder)
  const outsider = await someone()
  const say = (by: Person, content: string, replyTo?: string) =>
    by.rest(`POST ${path(id, '/messages')}`, { content, ...(replyTo ? { replyTo } : {}) })
  const Sent = z.object({ success: z.literal(true), message: z.object({ id: z.string(), chat_id: z.literal(id) }) })
  const first = Sent.parse((await say(founder, 'one')).body).message
  const second = Sent.parse((await say(founder, 'two', first.id)).body).message
  expect((await say(outsider, 'no')).status).toBe(403)
  expect((await outsider.rest(`GET ${path(id, '/messages')}`)).code).toBe('NOT_A_MEMBER')
  expect((await founder.rest(`GET ${path(id, '/messages?limit=50')}`)).body).toMatchObject({
    messages: [
      { id: first.id, content: 'one', reply_to: null, sender_address: founder.account },
      { id: second.id, reply_to: first.id, reply_to_message: { id: first.id, content: 'one' } },
    ],
    hasMore: false,
  })
  expect((await founder.rest(`DELETE ${path(id, `/messages?messageId=${second.id}`)}`)).body).toEqual({ success: true })
  const left = await founder.does('rest', messages.history, { room: { type: 'token', id } })
  expect(left.messages.map(({ content }) => content)).toEqual(['one', '[Message deleted]'])
  expect((await founder.rest(`GET ${path(id, '/messages')}`)).body).toMatchObject({ messages: [{ id: first.id }] })
})

test.each(over)('over %s, what a token is and which known ones somebody holds', async (door) => {
  const who = await someone()
  const [usdc] = tokensOf(base)
  give(who, 5n)
  give(who, 7_000_000n, usdc?.address)
  const facts = { address: token, chainId: base, name: 'Heron', symbol: 'HRN', decimals: 2, isDeployer: null }
  expect(await who.does(door, tokens.info, { address: token, chainId: base })).toMatchObject({
    ...facts,
    isOwner: false,
    userBalance: '5',
  })
  expect(await founder.does(door, tokens.info, { address: token, chainId: base })).toMatchObject({ isOwner: true })
  expect(await who.does(door, tokens.suggest, {})).toMatchObject({
    tokens: [{ symbol: 'USDC', balance: '7000000', chainId: base }],
    walletSources: [{ label: 'Wallet', address: who.account }],
  })
  chain.away = 'TIMEOUT'
  expect((await (await someone()).does(door, tokens.suggest, {})).tokens).toEqual([])
  chain.away = null
})

test('who is not signed in is told of a token without a balance', async () => {
  const { body } = await call(server.url, `GET /api/token-chats/token-info?address=${token}&chainId=${base}`)
  expect(body).toMatchObject({ symbol: 'HRN', isOwner: false, userBalance: null })
  expect((await call(server.url, 'GET /api/token-chats/token-info?address=1&chainId=1')).status).toBe(400)
})
