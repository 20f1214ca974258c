// Modes: embedded
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Agents } from '#server/domains/agents/agent-state/model'
import { Favorites } from '#server/domains/agents/agents/model'
import { suggestedQuestionsOf } from '#server/domains/agents/agents/render'
import { Accounts } from '#server/domains/people/accounts/model'
import { agents } from '#shared/api/agents/agents'
import { social } from '#shared/api/moderation/social'
import { accounts } from '#shared/api/people/accounts'
import { friends } from '#shared/api/people/friends'
import type { CallOf } from '#shared/kit/contract'
import { type Booted, boot } from '#test/support/boot'
import { outcomeOf, over, type Person, person } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { readsOf } from '#test/support/store-reads'
import { times } from '#test/support/times'
import { wallet } from '#test/support/wallet'

let server: Booted
let admin: Person
beforeAll(async () => {
  server = await boot({
    environment: { ADMINS: wallet('admin').address, BETA: 'open' },
    services: { model: puppetModel().model },
  })
  admin = await person(server, 'admin')
})
afterAll(() => server.close())

let people = 0
const somebody = () => person(server, `finder ${++people}`)
let made = 0
const agentOf = async (owner: Person, more: object = {}) =>
  (await owner.does('rest', agents.create, { name: `Found ${++made}`, visibility: 'public', ...more })).agent

/** The ids that are found with a tag of this test alone. */
async function found(who: Person, input: CallOf<typeof agents.discover>, door: 'rest' | 'socket' = 'rest') {
  const answer = await who.does(door, agents.discover, input)
  return { ids: answer.agents.map(({ id }) => id), total: answer.total }
}
async function befriend(one: Person, other: Person) {
  const { request } = await one.does('rest', friends.request, { toAddress: other.account })
  await other.does('rest', friends.accept, { requestId: request.id })
}

describe('discovery', () => {
  test.each(over)('shows the agents of others that one may talk to, and none besides, over %s', async (door) => {
    const [owner, friend, stranger] = [await somebody(), await somebody(), await somebody()]
    const tags = [`seen-${door}`]
    const open = await agentOf(owner, { tags })
    const ofFriends = await agentOf(owner, { tags, visibility: 'friends' })
    await agentOf(owner, { tags, visibility: 'private' })
    const official = await agentOf(admin, { tags, visibility: 'official' })
    await befriend(owner, friend)
    const seen = async (who: Person, filter: 'all' | 'public' | 'friends' | 'official' = 'all') => {
      const { ids, total } = await found(who, { tags: tags.join(), filter }, door)
      expect(total).toBe(ids.length)
      return ids.sort()
    }
    const sorted = (...agents: { id: string }[]) => agents.map(({ id }) => id).sort()
    expect(await seen(owner)).toEqual(sorted(official))
    expect(await seen(stranger)).toEqual(sorted(open, official))
    expect(await seen(friend)).toEqual(sorted(open, ofFriends, official))
    expect(await seen(friend, 'public')).toEqual(sorted(open))
    expect(await seen(friend, 'friends')).toEqual(sorted(ofFriends))
    expect(await seen(friend, 'official')).toEqual(sorted(official))
    expect(await seen(stranger, 'friends')).toEqual([])
    await friend.does('rest', social.block, { userAddress: owner.account })
    expect(await seen(friend)).toEqual(sorted(official))
    expect(await seen(owner)).toEqual(sorted(official))
    await owner.does('rest', social.block, { userAddress: stranger.account })
    expect(await seen(stranger)).toEqual(sorted(official))
  })

  test.each(over)('leaves out the agents of who is suspended, but for official ones, over %s', async (door) => {
    const [owner, other] = [await somebody(), await somebody()]
    const tags = [`suspended-${door}`]
    const open = await agentOf(owner, { tags })
    const official = await agentOf(admin, { tags, visibility: 'official' })
    await Agents.updateOne({ _id: official.id }, { $set: { owner_address: owner.account } })
    const seen = async () => (await found(other, { tags: tags.join() }, door)).ids.sort()
    const both = [open.id, official.id].sort()
    expect(await seen()).toEqual(both)
    await admin.does('rest', accounts.suspend, { userAddress: owner.account, ban: true })
    expect(await seen()).toEqual([official.id])
    expect((await found(other, { tags: tags.join() }, door)).total).toBe(1)
    await admin.does('rest', accounts.suspend, { userAddress: owner.account, ban: false })
    expect(await seen()).toEqual(both)
  })

  test('fills each page past the agents of who is not found', async () => {
    const [owner, gone, other] = [await somebody(), await somebody(), await somebody()]
    const tags = ['pages-of-found']
    const [hidden, first, alsoHidden, second] = [
      await agentOf(gone, { tags }),
      await agentOf(owner, { tags }),
      await agentOf(gone, { tags }),
      await agentOf(owner, { tags }),
    ]
    for (const [at, { id }] of [hidden, first, alsoHidden, second].entries())
      await Agents.updateOne({ _id: id }, { $set: { message_count: 100 - at } })
    const page = async (offset: number, limit = 1) => found(other, { tags: tags.join(), offset, limit })
    expect((await page(0, 4)).ids).toEqual([hidden.id, first.id, alsoHidden.id, second.id])
    await Accounts.updateOne({ _id: gone.account }, { $set: { erased_at: new Date(Date.now() + 86_400_000) } })
    expect(await page(0)).toEqual({ ids: [first.id], total: 2 })
    expect(await page(1)).toEqual({ ids: [second.id], total: 2 })
    expect(await page(2)).toEqual({ ids: [], total: 2 })
    await Accounts.updateOne({ _id: gone.account }, { $unset: { erased_at: '' } })
    expect((await page(0, 4)).total).toBe(4)
  })

  test('O04: costs the same, however many accounts are suspended', async () => {
    const [owner, other] = [await somebody(), await somebody()]
    await agentOf(owner, { tags: ['costs'] })
    const page = () => other.does('rest', agents.discover, { tags: 'costs' })
    await page()
    const before = await readsOf(page)
    const at = new Date()
    const suspended = { is_banned: true, created_at: at, updated_at: at }
    await Accounts.insertMany(times(300, (nth) => ({ _id: `bot:suspended ${nth}`, ...suspended })))
    expect(await readsOf(page)).toBeLessThan(before + 20)
  })

  test('says of an agent what everybody may know, and nothing that is for its owner', async () => {
    const [owner, other] = [await somebody(), await somebody()]
    await owner.rest('POST /api/username', { username: 'finders_owner' })
    const { id, name } = await agentOf(owner, { tags: ['fields'], systemInstructions: 'The secret is tea' })
    const answer = await other.does('rest', agents.discover, { tags: 'fields' })
    expect(answer.agents).toEqual([
      {
        id,
        owner_address: owner.account,
        name,
        personality: '',
        avatar_emoji: '🤖',
        avatar_url: null,
        visibility: 'public',
        tags: ['fields'],
        message_count: 0,
        created_at: expect.any(String),
        owner: { username: 'finders_owner', ensName: null },
        isFriendsAgent: false,
      },
    ])
    expect(JSON.stringify(answer)).not.toContain('secret')
  })

  test('finds by one of the tags, and by the beginnings of words', async () => {
    const [owner, other] = [await somebody(), await somebody()]
    const tea = await agentOf(owner, { name: 'Téa Master 茶', tags: ['drinks'], personality: 'Knows the oolong well' })
    const coffee = await agentOf(owner, { name: 'Barista', tags: ['drinks', 'coffee'], personality: 'Grumpy' })
    const search = async (input: CallOf<typeof agents.discover>) => (await found(other, input)).ids.sort()
    const both = [tea.id, coffee.id].sort()
    expect(await search({ tags: ' Drinks ,nothing' })).toEqual(both)
    expect(await search({ tags: 'coffee' })).toEqual([coffee.id])
    expect(await search({ tags: ' , ,' })).toEqual([])
    const ten = Array.from({ length: 10 }, (_, at) => `none-${at}`)
    expect(await search({ tags: [...ten.slice(1), 'coffee'].join() })).toEqual([coffee.id])
    expect(await search({ tags: [...ten, 'coffee'].join() })).toEqual([])
    expect(await search({ search: 'TEA mas' })).toEqual([tea.id])
    expect(await search({ search: 'oolong' })).toEqual([tea.id])
    expect(await search({ search: '茶' })).toEqual([tea.id])
    expect(await search({ search: 'oolong barista' })).toEqual([])
    expect(await search({ search: 'drink', tags: 'coffee' })).toEqual([coffee.id])
    expect(await search({ search: '.*' })).toEqual([])
    expect(await search({ search: 'ster', tags: 'drinks' })).toEqual([])
    await owner.does('rest', agents.update, { id: tea.id, name: 'Sencha', tags: ['leaves'] })
    expect(await search({ search: 'TEA mas' })).toEqual([])
    expect(await search({ search: 'sench' })).toEqual([tea.id])
  })

  test('gives each agent on exactly one page, those who answered most first', async () => {
    const [owner, other] = [await somebody(), await somebody()]
    const tags = ['pages']
    for (let at = 0; at < 5; at++) await agentOf(owner, { tags })
    const best = await agentOf(await somebody(), { tags })
    await Agents.updateOne({ _id: best.id }, { $set: { message_count: 7 } })
    const all = (await found(other, { tags: 'pages' })).ids
    expect(all).toHaveLength(6)
    expect(all[0]).toBe(best.id)
    const pages: string[] = []
    for (let offset = 0; offset < 8; offset += 2) {
      const answer = await other.does('rest', agents.discover, { tags: 'pages', limit: 2, offset })
      expect(answer).toMatchObject({ total: 6, limit: 2, offset })
      pages.push(...answer.agents.map(({ id }) => id))
    }
    expect(pages).toEqual(all)
    const most = await other.does('rest', agents.discover, { tags: 'pages', limit: 1_000 })
    expect(most).toMatchObject({ limit: 100, total: 6 })
  })

  test.each([
    'limit=0',
    'limit=-1',
    'limit=1.5',
    'limit=0x10',
    'limit=1&limit=2',
    'offset=-1',
    'offset=1e9',
    'filter=private',
  ])('T20, T22, T68: %s is refused', async (query) => {
    const answer = await admin.rest(`GET /api/agents/discover?${query}`)
    expect(answer.status).toBe(400)
  })

  test.each([{ filter: { $ne: 'all' } }, { search: { $gt: '' } }, { tags: ['a'] }, { limit: '5' }, { offset: null }])(
    'T20, T22: %j is refused',
    async (wrong) => {
      const answer = await admin.tries('socket', agents.discover, wrong as { search: string })
      expect(outcomeOf(answer)).toBe('400 VALIDATION_ERROR')
    },
  )

  test('T09: is for who is signed in, and for nobody else by their address', async () => {
    const other = await somebody()
    expect((await fetch(`${server.url}/api/agents/discover`)).status).toBe(401)
    const asOther = await admin.rest(`GET /api/agents/discover?userAddress=${other.account}`)
    expect(asOther.status).toBe(403)
  })
})

describe('favorites', () => {
  test.each(over)('are kept once, listed newest first, and given up, over %s', async (door) => {
    const [owner, who] = [await somebody(), await somebody()]
    const [first, second] = [await agentOf(owner), await agentOf(owner)]
    const { favorite } = await who.does(door, agents.addFavorite, { agentId: first.id })
    expect(favorite).toMatchObject({ user_address: who.account, agent_id: first.id })
    server.setAhead(1)
    await who.does(door, agents.addFavorite, { agentId: second.id })
    const again = await who.refused(door, agents.addFavorite, { agentId: second.id })
    expect(again).toMatchObject({ status: 409, code: 'CONFLICT' })
    const listed = async () => {
      const { favorites, total } = await who.does(door, agents.favorites, {})
      expect(total).toBe(favorites.length)
      return favorites.map(({ agent }) => agent.id)
    }
    expect(await listed()).toEqual([second.id, first.id])
    await who.does(door, agents.removeFavorite, { agentId: first.id })
    await who.does(door, agents.removeFavorite, { agentId: first.id })
    expect(await listed()).toEqual([second.id])
    expect((await owner.does(door, agents.favorites, {})).favorites).toEqual([])
    server.setAhead(0)
  })

  test('are given up by the query and by the body, and of fifty tries at once one is kept', async () => {
    const [owner, who] = [await somebody(), await somebody()]
    const { id: agentId } = await agentOf(owner)
    for (const route of [`DELETE /api/agents/favorites?agentId=${agentId}`, 'DELETE /api/agents/favorites']) {
      const tries = Array.from({ length: 50 }, () => who.tries('rest', agents.addFavorite, { agentId }))
      const outcomes = (await Promise.all(tries)).map(outcomeOf)
      expect(outcomes.filter((outcome) => outcome === '200')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === '409 CONFLICT')).toHaveLength(49)
      const body = route.includes('?') ? null : { userAddress: who.account, agentId }
      expect((await who.rest(route, body)).body).toEqual({ success: true })
      expect(await Favorites.countDocuments({ agent_id: agentId })).toBe(0)
    }
    expect((await who.rest('DELETE /api/agents/favorites')).status).toBe(400)
  })

  test('are read by a client without our SDK, as the documents have them', async () => {
    const [owner, who] = [await somebody(), await somebody()]
    const agent = await agentOf(owner)
    await who.does('rest', agents.addFavorite, { agentId: agent.id })
    const path = `/api/agents/favorites?userAddress=${who.account.toUpperCase().replace('0X', '0x')}`
    const answer = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${who.token}` } })
    const body = (await answer.json()) as { favorites: Record<string, unknown>[] }
    expect([answer.status, Object.keys(body)]).toEqual([200, ['favorites', 'total']])
    const shown = {
      ...{ id: agent.id, owner_address: owner.account, name: agent.name, personality: agent.personality },
      ...{ avatar_emoji: agent.avatar_emoji, avatar_url: null, visibility: agent.visibility, message_count: 0 },
      ...{ created_at: agent.created_at, owner: expect.any(Object) },
    }
    const favorite = { id: expect.any(String), created_at: expect.any(String), name: agent.name }
    expect(body.favorites).toEqual([{ ...favorite, agent: expect.objectContaining(shown) }])
    expect(body.favorites[0]?.id).not.toBe(agent.id)
  })

  test('T09: are only of agents of others that one may talk to, as long as one may', async () => {
    const [owner, who] = [await somebody(), await somebody()]
    const [open, hidden] = [await agentOf(owner), await agentOf(owner, { visibility: 'private' })]
    const friendly = await agentOf(owner, { visibility: 'friends' })
    for (const door of over) {
      const outcome = async (one: Person, agentId: string) =>
        outcomeOf(await one.tries(door, agents.addFavorite, { agentId }))
      expect(await outcome(who, hidden.id)).toBe('404 AGENT_NOT_FOUND')
      expect(await outcome(who, friendly.id)).toBe('403 AGENT_FRIENDS_ONLY')
      expect(await outcome(who, 'nothing')).toBe('404 AGENT_NOT_FOUND')
      expect(await outcome(owner, open.id)).toBe('400 VALIDATION_ERROR')
    }
    await who.does('rest', agents.addFavorite, { agentId: open.id })
    await owner.does('rest', agents.update, { id: open.id, visibility: 'private' })
    expect(await who.does('rest', agents.favorites, {})).toEqual({ favorites: [], total: 0 })
    await owner.does('rest', agents.update, { id: open.id, visibility: 'public' })
    expect((await who.does('rest', agents.favorites, {})).total).toBe(1)
    const ofOwner = await who.rest(`GET /api/agents/favorites?userAddress=${owner.account}`)
    expect(ofOwner.status).toBe(403)
  })

  test('T65: are 500 at the most, and none of an agent that is deleted meanwhile', async () => {
    const [owner, who] = [await somebody(), await somebody()]
    const { id: agentId } = await agentOf(owner)
    const created_at = new Date()
    const rows = Array.from({ length: 500 }, (_, place) => ({
      ...{ _id: `${who.account} ${place}`, favorite_id: `${who.account} ${place}`, agent_id: `gone-${place}` },
      ...{ user_address: who.account, place, created_at },
    }))
    await Favorites.insertMany(rows)
    expect(outcomeOf(await who.tries('rest', agents.addFavorite, { agentId }))).toBe('400 VALIDATION_ERROR')
    await Favorites.deleteMany({ user_address: who.account })
    const create = Favorites.create.bind(Favorites)
    const spy = vi.spyOn(Favorites, 'create').mockImplementationOnce((async (favorite: object) => {
      await owner.does('rest', agents.remove, { id: agentId })
      return create(favorite)
    }) as never)
    expect(outcomeOf(await who.tries('rest', agents.addFavorite, { agentId }))).toBe('404 AGENT_NOT_FOUND')
    spy.mockRestore()
    expect(await Favorites.countDocuments({ user_address: who.account })).toBe(0)
  })

  test('go with the agent', async () => {
    const [owner, who] = [await somebody(), await somebody()]
    const agent = await agentOf(owner)
    await who.does('rest', agents.addFavorite, { agentId: agent.id })
    await owner.does('rest', agents.remove, { id: agent.id })
    expect(await who.does('rest', agents.favorites, {})).toEqual({ favorites: [], total: 0 })
    await expect.poll(() => Favorites.countDocuments({ agent_id: agent.id })).toBe(0)
  })
})

describe('suggested questions', () => {
  const agent = {
    name: 'Tea',
    personality: '',
    tags: [] as string[],
    visibility: 'public',
    suggested_questions: null,
  } as const
  test.each([
    [{}],
    [{ personality: 'A chef who loves coding, music and travel' }],
    [{ tags: ['crypto', 'games', 'law', 'fitness'] }],
    [{ name: 'x'.repeat(100) }],
    [{ name: '😀'.repeat(80) }],
  ])('of a public agent are four, with its name in the first: %j', (more) => {
    const questions = suggestedQuestionsOf({ ...agent, ...more }) ?? []
    expect(new Set(questions).size).toBe(4)
    for (const question of questions) {
      expect(question.length).toBeLessThanOrEqual(100)
      expect(question.isWellFormed()).toBe(true)
    }
    expect(questions[0]).toContain((more as { name?: string }).name?.slice(0, 50) ?? 'Tea')
  })

  test('follow from what the agent says of itself, and are seen with it', async () => {
    const owner = await somebody()
    const { id } = await agentOf(owner, { personality: 'A chef' })
    const seen = async () => (await owner.does('rest', agents.get, { id })).agent.suggested_questions
    expect(await seen()).toContain('What can I cook tonight?')
    expect(await seen()).toHaveLength(4)
    await owner.does('rest', agents.update, { id, visibility: 'private' })
    expect(await seen()).toBeNull()
  })
})

describe('T19: the name of an agent', () => {
  const reserved = '400 AGENT_NAME_RESERVED'

  test.each([
    ...['Admin', 'Admіn', 'ＡＤＭＩＮ', 'A d m i n', 'Moderator', 'Official Weather', 'Weather ✅'],
    ...['Plaza', 'P1aza Support', 'PlazaStaff', 'Plaza System'],
    ...[
      'System',
      'SYSTEM',
      'Ѕystem',
      'S y s t e m',
      'Sys tem',
      'System 2',
      '★ System ★',
      'System message',
      'SystemBot',
    ],
    ...['Staff', 'ꜱᴛᴀꜰꜰ', '5taff', 'The Staff', 'Staff bot', 'Staff_Team', 'Staff agent 7'],
    ...['Owner', '0wner', 'Owner account', 'Root', 'Mod', 'Mod bot', 'Verified', 'Security'],
    ...[
      'Support',
      'Support Team',
      'Help',
      'Customer Service',
      'News',
      'Bank',
      'Airdrop',
      'Anonymous',
      'CEO',
      'Elon Musk',
    ],
  ])('is not %s, but of an official one', async (name) => {
    const owner = await somebody()
    const mine = await agentOf(owner, { visibility: 'private' })
    for (const door of over) {
      for (const more of [{ name }, { name, visibility: 'public' as const }])
        expect(outcomeOf(await owner.tries(door, agents.create, more))).toBe(reserved)
      expect(outcomeOf(await owner.tries(door, agents.update, { id: mine.id, name }))).toBe(reserved)
      expect(outcomeOf(await admin.tries(door, agents.create, { name }))).toBe(reserved)
    }
    expect((await owner.does('rest', agents.get, { id: mine.id })).agent.name).toBe(mine.name)
    const official = await agentOf(admin, { name, visibility: 'official' })
    await admin.does('rest', agents.remove, { id: official.id })
  })

  test.each([
    ...[
      'Bot',
      'Helper',
      'Support bot',
      'Team lead',
      'Team assistant',
      'Weather',
      'Погода',
      '天気',
      '🤖',
      'Test',
      'Demo 2',
    ],
    ...['Solar System', 'Operating systems', 'System Design Coach', 'Root vegetables', 'Staff picks', 'Modal', 'Model'],
    ...['Modern art', 'Dog owners', 'Home owner advice', 'News 24', 'Bank holidays', 'Token counter', 'Piazza'],
  ])('may be %s', async (name) => {
    const owner = await somebody()
    for (const door of over) {
      const { agent } = await owner.does(door, agents.create, { name })
      await owner.does(door, agents.remove, { id: agent.id })
    }
  })

  test('is not taken for the one of an official agent', async () => {
    await agentOf(admin, { name: 'Guide', visibility: 'official' })
    const owner = await somebody()
    for (const name of ['Guide', 'GUIDE', 'Guіde', 'Gu1de', ' guide '])
      expect(outcomeOf(await owner.tries('rest', agents.create, { name }))).toBe(reserved)
    expect(outcomeOf(await owner.tries('rest', agents.create, { name: 'Guidebook' }))).toBe('200')
  })

  test.each(over)('is given up by an agent that is official no more, over %s', async (door) => {
    const { id } = await agentOf(admin, {
      name: door === 'rest' ? 'System alert' : 'System notice',
      visibility: 'official',
    })
    const asPublic = { id, visibility: 'public' as const }
    expect(outcomeOf(await admin.tries(door, agents.update, asPublic))).toBe(reserved)
    const { agent } = await admin.does(door, agents.update, { ...asPublic, name: `Harbour ${door}` })
    expect(agent).toMatchObject({ visibility: 'public', name: `Harbour ${door}` })
    // What is its own already is nobody else's.
    await admin.does(door, agents.update, { id, visibility: 'official' })
    await admin.does(door, agents.update, asPublic)
  })

  test('that is stored already stays until it is changed', async () => {
    const owner = await somebody()
    const { id } = await agentOf(owner, {})
    await Agents.updateOne({ _id: id }, { $set: { name: 'System' } })
    await owner.does('rest', agents.update, { id, name: 'System', tags: ['old'] })
    expect(outcomeOf(await owner.tries('rest', agents.update, { id, name: 'Staff' }))).toBe(reserved)
  })
})
