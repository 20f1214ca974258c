// Modes: embedded
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { recordOf, signed } from '#server/domains/events'
import { loadAccountFacts, roleKey, saveAccountFacts, suspensionKey } from '#server/domains/people/accounts/facts'
import { Accounts } from '#server/domains/people/accounts/model'
import { deceptionBy, isReserved } from '#server/domains/people/accounts/names'
import { storeMissingLooks, storeMissingSearchForms } from '#server/domains/people/accounts/profile-changes'
import { forgetProfile, profilesOf } from '#server/domains/people/accounts/profiles'
import { GLOBAL, type Row } from '#server/log/types'
import { fakeWeb } from '#server/ports/web/fake'
import { madeUpName } from '#shared/kit/person-name'
import { boot } from '#test/support/boot'
import { enter } from '#test/support/enter'
import { heavy } from '#test/support/heavy'
import { pngOf } from '#test/support/pictures'
import { call, signIn, wallet } from '#test/support/wallet'

let server: Awaited<ReturnType<typeof boot>>
let url: string
/** Another node, where there is one. */
let there: string
const root = wallet('root')
const [plain, custom] = ['https://example.com/plain.png', 'https://example.com/custom.png'] as const
const web = fakeWeb({ [plain]: { body: pngOf() }, [custom]: { body: pngOf() } })
beforeAll(async () => {
  server = await boot({ environment: { SUPER_ADMINS: root.address }, services: { web } })
  url = server.url
  there = server.urls.at(-1) ?? url
})
afterAll(() => server.close())

const person = async (name: string) => {
  const { sessionToken, address } = await enter(url, wallet(name))
  return { address, call: (route: string, input: object | null = null) => call(there, route, input, sessionToken) }
}

test('a profile that changes while it is loaded is not shown from then on as it was', async () => {
  const { address } = await person('renamed while loaded')
  const node = server.apps[0]?.node
  if (!node) throw new Error('no node')
  const name = async () => (await profilesOf(node, [address])).get(address)?.display_name
  forgetProfile(node, address)
  const find = Accounts.find.bind(Accounts)
  vi.spyOn(Accounts, 'find').mockImplementationOnce(((...asked: Parameters<typeof find>) => ({
    async lean() {
      const found = await find(...asked).lean()
      await Accounts.updateOne({ _id: address }, { display_name: 'Changed' })
      forgetProfile(node, address)
      return found
    },
  })) as never)
  expect(await name()).not.toBe('Changed')
  expect(await name()).toBe('Changed')
})

describe('usernames', () => {
  test('one is taken, changed and given up; what is given up is free again', async () => {
    const alice = await person('alice')
    expect(await alice.call('POST /api/username', { username: 'Alice_1' })).toMatchObject({
      status: 200,
      body: { success: true, username: 'alice_1', isNew: true },
    })
    expect((await alice.call('POST /api/username/claim', { username: 'alice_2' })).body).toMatchObject({ isNew: false })
    expect(
      (await call(url, `GET /api/username?address=${alice.address.toUpperCase().replace('X', 'x')}`)).body,
    ).toEqual({
      username: 'alice_2',
      wallet_address: alice.address,
    })
    const found = { username: 'alice_2', address: alice.address }
    expect((await call(url, 'GET /api/username/resolve?username=@Alice_2')).body).toEqual(found)
    expect((await call(url, 'GET /api/username/lookup?username=alice_2')).body).toEqual({ address: alice.address })
    expect((await call(url, 'GET /api/username/check?username=alice_1')).body).toMatchObject({ available: true })
    expect((await alice.call('DELETE /api/username')).body).toEqual({ success: true })
    expect(await call(url, 'GET /api/username/resolve?username=alice_2')).toMatchObject({
      status: 404,
      code: 'USER_NOT_FOUND',
      body: { address: null },
    })
    expect((await call(url, `GET /api/username?address=${alice.address}`)).body).toMatchObject({ username: null })
  })

  test('of fifty who ask for one name at once, one gets it', heavy, async () => {
    const people = await Promise.all(Array.from({ length: 50 }, (_, index) => person(`crowd ${index}`)))
    const answers = await Promise.all(people.map((one) => one.call('POST /api/username', { username: 'wanted' })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'USERNAME_TAKEN')).toHaveLength(49)
  })

  test.each(['ab', 'a'.repeat(21), 'with space', 'dot.ted', 'adm\u0456n', 'zero\u200bwidth'])(
    '%j is no username',
    async (username) => {
      const bob = await person('bob')
      expect(await bob.call('POST /api/username', { username })).toMatchObject({
        status: 400,
        code: 'VALIDATION_ERROR',
      })
    },
  )

  test('nobody without a session takes or gives up one', async () => {
    expect((await call(url, 'POST /api/username', { username: 'nobody_1' })).status).toBe(401)
    expect((await call(url, 'DELETE /api/username')).status).toBe(401)
  })

  test.each([
    'admin',
    'plaza',
    'plazabot',
    'plaza_x',
    'official_x',
    'x_support',
    'null',
    'airdrop',
    'wallet',
    'satoshi',
  ])('%s is reserved', (name) => expect(isReserved(name)).toBe(true))
  test.each(['alice', 'modest', 'administer', 'teamwork', 'plazas'])('%s is not', (name) =>
    expect(isReserved(name)).toBe(false),
  )
})

const noStatus = { status_emoji: null, status_text: null }

describe('profiles', () => {
  test('are changed by their owner and seen by everybody', async () => {
    const carol = await person('carol')
    const changed = await carol.call('PATCH /api/user/profile', { display_name: '  Carol ', avatar_url: plain })
    const { avatar_url } = changed.body.user as { avatar_url: string }
    expect(changed).toMatchObject({ status: 200, body: { user: { name: 'Carol', display_name: 'Carol', avatar_url } } })
    expect((await call(url, `GET /api/public/user?address=${carol.address}`)).body).toEqual({
      user: { username: null, display_name: 'Carol', ens_name: null, avatar_url, is_bot: false, ...noStatus },
    })
  })

  test('have a page once their owner turns it on', async () => {
    const carol = await person('carol')
    await carol.call('POST /api/username', { username: 'carol_c' })
    const keys = [carol.address, 'carol_c', '@Carol_C']
    const pages = () => Promise.all(keys.map((key) => call(url, `GET /api/public/user/${key}`)))
    for (const page of await pages())
      expect(page).toMatchObject({
        status: 404,
        body: { error: 'This user has no public page', code: 'USER_NOT_FOUND' },
      })
    const socials = [
      { platform: 'github', handle: '@carol' },
      { platform: 'youtube', handle: 'carol.tv' },
    ]
    const change = {
      public_landing_enabled: true,
      bio: 'Birds, mostly.',
      socials,
      avatar_url: null,
      display_name: 'Carol',
    }
    expect((await carol.call('PATCH /api/user/profile', change)).status).toBe(200)
    for (const { body, headers } of await pages()) {
      expect(body).toEqual({
        user: {
          address: carol.address,
          name: 'Carol',
          username: 'carol_c',
          ensName: null,
          avatarUrl: null,
          bio: 'Birds, mostly.',
          is_bot: false,
          ...noStatus,
        },
        socials: [
          { platform: 'github', handle: 'carol', url: 'https://github.com/carol' },
          { platform: 'youtube', handle: 'carol.tv', url: 'https://www.youtube.com/@carol.tv' },
        ],
        agents: [],
        scheduling: null,
      })
      expect(headers.get('cache-control')).toBe('public, max-age=0, s-maxage=60, stale-while-revalidate=300')
    }
    await carol.call('PATCH /api/user/profile', { public_landing_enabled: false })
    for (const page of await pages()) {
      expect(page.status).toBe(404)
      expect(page.headers.get('cache-control')).toBe('no-store')
    }
  })

  test('are read back by their owner as they were written, field by field', async () => {
    const ivy = await person('ivy')
    const own = async () => (await ivy.call('GET /api/user/profile')).body.user
    expect(await own()).toMatchObject({
      ...{ address: ivy.address, bio: null, socials: [], custom_avatar_url: null },
      ...{ use_custom_avatar: false, public_landing_enabled: false },
    })
    const bio = 'x'.repeat(280)
    const socials = [{ platform: 'x', handle: 'ivy' }]
    await ivy.call('PATCH /api/user/profile', { bio, socials, display_name: 'Ivy' })
    await ivy.call('PATCH /api/user/profile', { display_name: 'Ivy B' })
    expect(await own()).toMatchObject({ bio, socials, display_name: 'Ivy B' })
    await ivy.call('PATCH /api/user/profile', { bio: null, socials: [], display_name: null })
    expect(await own()).toMatchObject({ bio: null, socials: [], display_name: null })
  })

  test('say what their owner says of the moment, and nothing while the owner is suspended', async () => {
    const [boss, kim] = [await person('root'), await person('kim')]
    const change = async (input: object) => (await kim.call('PATCH /api/user/profile', input)).body.user
    const shown = async () => (await call(url, `GET /api/public/user?address=${kim.address}`)).body.user
    expect((await kim.call('GET /api/user/profile')).body.user).toMatchObject({ ...noStatus, do_not_disturb: false })
    const said = { status_emoji: '🌴', status_text: 'On holiday' }
    expect(await change({ ...said, public_landing_enabled: true })).toMatchObject(said)
    expect(await change({ display_name: 'Kim', do_not_disturb: true })).toMatchObject({ ...said, do_not_disturb: true })
    expect(await shown()).toMatchObject(said)
    expect((await call(url, `GET /api/public/user/${kim.address}`)).body.user).toMatchObject(said)
    await boss.call('POST /api/admin/ban', { userAddress: kim.address, ban: true })
    expect(await shown()).toMatchObject(noStatus)
    await boss.call('POST /api/admin/ban', { userAddress: kim.address, ban: false })
    expect(await shown()).toMatchObject(said)
    expect(await change({ status_emoji: '', do_not_disturb: '' })).toMatchObject({ ...said, status_emoji: null })
    expect(await change({ status_text: ' ', do_not_disturb: null })).toMatchObject({
      ...noStatus,
      do_not_disturb: true,
    })
    expect(await change({ status_text: 'Lunch @ noon, ask @kim' })).toMatchObject({
      status_text: 'Lunch @ noon, ask @kim',
    })
    await change(said)
    expect(await change({ status_emoji: null, status_text: null, do_not_disturb: false })).toMatchObject({
      ...noStatus,
      do_not_disturb: false,
    })
  })

  test('show no status that an older version stored and that would be refused now', async () => {
    const lee = await person('lee')
    const shown = async () => (await call(url, `GET /api/public/user?address=${lee.address}`)).body.user
    const store = (said: object) => Accounts.updateOne({ _id: lee.address }, { $set: said })
    await store({ status_emoji: '✅', status_text: 'At lunch' })
    expect(await shown()).toMatchObject({ status_emoji: null, status_text: 'At lunch' })
    await store({ status_emoji: '🌴', status_text: '@dave' })
    expect(await shown()).toMatchObject({ status_emoji: '🌴', status_text: null })
    const own = (await lee.call('GET /api/user/profile')).body.user
    expect(own).toMatchObject({ status_emoji: '🌴', status_text: null })
  })

  test('M35: a username is changed with the rest of a profile, or nothing is', async () => {
    const [nora, omar] = [await person('nora'), await person('omar')]
    const change = (input: object) => nora.call('PATCH /api/user/profile', input)
    expect(await change({ username: '@Nora_N', display_name: 'Nora N' })).toMatchObject({
      status: 200,
      body: { user: { username: 'nora_n', display_name: 'Nora N' } },
    })
    expect((await nora.call('GET /api/user/profile')).body.user).toMatchObject({
      ...{ address: nora.address, wallet_address: nora.address, username: 'nora_n' },
      ...{ display_name: 'Nora N', displayName: 'Nora N', name: 'Nora N' },
    })
    await omar.call('POST /api/username', { username: 'omar_o' })
    for (const username of ['omar_o', '0mar_o', 'admin', 'p1aza'])
      expect(await change({ username, bio: 'Changed' }), username).toMatchObject({
        status: 409,
        code: 'USERNAME_TAKEN',
      })
    for (const username of ['', 'x', 'a b', 7]) expect((await change({ username, bio: 'Changed' })).status).toBe(400)
    expect(await change({ username: 'nora_m', display_name: 'Omar O' })).toMatchObject({ status: 400 })
    const { body } = await nora.call('GET /api/user/profile')
    expect(body.user).toMatchObject({ username: 'nora_n', bio: null })
    expect((await change({ bio: 'Kept' })).body.user).toMatchObject({ username: 'nora_n', bio: 'Kept' })
    expect((await change({ display_name: null })).body.user).toMatchObject({ name: 'nora_n' })
    expect((await change({ username: null })).body.user).toMatchObject({ username: null })
    expect((await omar.call('POST /api/username', { username: 'nora_n' })).status).toBe(200)
  })

  test('show a custom picture while it is turned on', async () => {
    const mia = await person('mia')
    const shown = async () => (await call(url, `GET /api/public/user?address=${mia.address}`)).body.user
    const given = { avatar_url: plain, custom_avatar_url: custom }
    const { user } = (await mia.call('PATCH /api/user/profile', given)).body as { user: typeof given }
    const { avatar_url, custom_avatar_url } = user
    expect(await shown()).toMatchObject({ avatar_url })
    await mia.call('PATCH /api/user/profile', { use_custom_avatar: true })
    expect(await shown()).toMatchObject({ avatar_url: custom_avatar_url })
    await mia.call('PATCH /api/user/profile', { custom_avatar_url: null })
    expect(await shown()).toMatchObject({ avatar_url })
  })

  test('of nobody: null in one place, 404 in the other', async () => {
    const { address } = wallet('never here')
    expect((await call(url, `GET /api/public/user?address=${address}`)).body).toEqual({ user: null })
    expect(await call(url, `GET /api/public/user/${address}`)).toMatchObject({
      status: 404,
      body: { error: 'User not found', code: 'USER_NOT_FOUND' },
    })
  })

  test.each([
    { avatar_url: 'http://example.com/a.png' },
    { avatar_url: 'javascript:alert(1)' },
    { avatar_url: 'https://user:word@example.com/' },
    { display_name: '' },
    { display_name: 'x'.repeat(51) },
    { display_name: 'Adm\u0456n' },
    { display_name: 'a\u202eb' },
    { bio: 'x'.repeat(281) },
    { custom_avatar_url: 'http://example.com/a.png' },
    { use_custom_avatar: 'yes' },
    { status_emoji: 'x' },
    { status_emoji: '🌴🌴' },
    { status_emoji: '✅' },
    { status_text: 'x'.repeat(81) },
    { status_text: 'a\u202eb' },
    { status_text: 'one\ntwo' },
    { status_text: 'Plaza Support' },
    { status_text: '@dave' },
    { status_text: '🌴 \uff20dave' },
    { status_text: 'Sam \u{1f5f8}' },
    { do_not_disturb: 'yes' },
    { socials: [{ platform: 'myspace', handle: 'dave' }] },
    { socials: [{ platform: 'x', handle: '../evil' }] },
    { socials: [{ platform: 'github', handle: '..' }] },
    { socials: [{ platform: 'x', handle: 'a b' }] },
    { socials: ['one', 'two'].map((handle) => ({ platform: 'x', handle })) },
  ])('%j is refused', async (change) => {
    const dave = await person('dave')
    expect(await dave.call('PATCH /api/user/profile', change)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })

  test.each([
    'Admin',
    '4dm1n',
    'Plaza Support',
    'OFFICIAL',
    '\u041e\u0444\u0444icial'.replace('\u0444\u0444', 'ff'),
    'A d m i n',
    'Sam \u2705',
  ])('T19: %s would deceive', (name) => expect(deceptionBy(name)).not.toBeNull())
  test.each([
    'Alice',
    'Zoë',
    'Олена',
    '李雷',
    'Grand Piazza',
    'Modest Mouse',
    'Núñez',
    'Ali 🦊',
    'Root Beer Fan',
    'Team Rocket',
    '👩‍🚀 Ada',
    '🦊',
    ...['administrivia', 'Söze', 'Анна', 'Badminton', '👩‍🚀 Zoe', 'Officer K', 'Corner Shop', 'The Beatles', 'מרים'],
    ...['Anna from Brno', 'Plazido', 'Иван', 'Mia in the Club', 'Sam!'],
  ])('T19: %s does not', (name) => expect(deceptionBy(name)).toBeNull())

  test.each([
    ...[
      'The Plaza Team',
      'the P1aza tearn',
      'PIaza Support',
      'Plaza',
      'p l a z a',
      'Plaaaza',
      'Team Plaza',
      'teamplaza',
    ],
    ...['Plaza Security', 'ΡӏаzаТеаm', '𝐏𝐥𝐚𝐳𝐚 𝐓𝐞𝐚𝐦', 'Ｐｌａｚａ', 'Staff of Plaza', 'The Support Team', '5upport'],
    ...[
      'adm1n',
      '@dmin',
      'admiiin',
      'adminn',
      'Adrnin',
      'ᴀᴅᴍɪɴ',
      'Your M0derator',
      'Admin99',
      'the_moderator',
      'Staff',
    ],
    ...['Sam\u202e', 'Sam\u2066', 'Sam\u200f', 'Sam\u061c', 'new\nline', 'nul\0', 'ad\u200bmin'],
  ])('M14: %j would deceive', (name) => expect(deceptionBy(name)).not.toBeNull())

  test.each([
    ...['p1aza', 'pl4za', 'plaaaza', 'the_plaza', 'p1aza_team', 'adm1n', 'adrnin', 'adminn', 'a_d_m_i_n', 'admin_1'],
    ...['admin99', 'm0derator', 'the_moderator', '0fficial', 'x_0fficial', 'supp0rt', 'supp0rt_x', 'r00t', '5atoshi'],
  ])('M14: the username %s passes for a reserved one', (name) => expect(isReserved(name)).toBe(true))
  test.each(['al1ce', 'modern_art', 'bill_99', 'mod3st', 'plazas', 'administer', 'corner', '___', 'piazza'])(
    'M14: the username %s does not',
    (name) => expect(isReserved(name)).toBe(false),
  )

  test('M14: usernames that an older version stored are compared after a start', async () => {
    const [older, other] = [await person('older owner'), await person('taker of an older name')]
    await older.call('POST /api/username', { username: 'older_name' })
    await Accounts.updateOne({ username: 'older_name' }, { $unset: { username_look: '' } })
    await storeMissingLooks()
    expect(await other.call('POST /api/username', { username: '0lder_name' })).toMatchObject({ code: 'USERNAME_TAKEN' })
    expect((await other.call('PATCH /api/user/profile', { display_name: 'Older Name' })).status).toBe(400)
  })
})

describe('suspension', () => {
  test('is decided by admins, seen in the account, and lifted', async () => {
    const [boss, eve] = [await person('root'), await person('eve')]
    const where = `GET /api/admin/ban?address=${eve.address}`
    expect((await boss.call(where)).body).toEqual({ isBanned: false, banReason: null })
    const banned = await boss.call('POST /api/admin/ban', { userAddress: eve.address, ban: true, reason: 'spam' })
    expect(banned.body).toEqual({ success: true, banned: true })
    expect((await boss.call(where)).body).toEqual({ isBanned: true, banReason: 'spam' })
    expect((await eve.call(where)).status).toBe(403)
    expect((await eve.call('GET /api/user/profile')).body.suspension_reason).toBe('spam')
    expect((await boss.call('GET /api/user/profile')).body.suspension_reason).toBe(null)
    const again = await signIn(url, wallet('eve'))
    expect(again.answer.body.user).toMatchObject({ is_banned: true })
    await boss.call('POST /api/admin/ban', { userAddress: eve.address, ban: false })
    expect((await boss.call(where)).body).toEqual({ isBanned: false, banReason: null })
    expect((await eve.call('GET /api/user/profile')).body.suspension_reason).toBe(null)
  })

  test('admins suspend users, super admins admins, nobody themself', async () => {
    const [boss, helper, other, user] = [
      await person('root'),
      await person('helper'),
      await person('other'),
      await person('plain'),
    ]
    for (const { address: walletAddress } of [helper, other])
      expect((await boss.call('POST /api/admin/admins', { walletAddress })).body).toMatchObject({ role: 'admin' })
    const ban = (target: string) => ({ userAddress: target, ban: true, reason: 'test' })
    expect((await helper.call('POST /api/admin/ban', ban(user.address))).status).toBe(200)
    for (const target of [other.address, boss.address, helper.address])
      expect(await helper.call('POST /api/admin/ban', ban(target))).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await boss.call('POST /api/admin/ban', ban(boss.address))).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect((await helper.call('GET /api/admin/admins')).status).toBe(200)
    expect((await boss.call('POST /api/admin/ban', ban(helper.address))).status).toBe(200)
    expect(await helper.call('GET /api/admin/admins')).toMatchObject({ status: 403, code: 'FORBIDDEN' })
  })
})

describe('roles', () => {
  test('are given and taken by super admins alone, and hold at once', async () => {
    const [boss, mary] = [await person('root'), await person('mary')]
    expect(await mary.call('GET /api/admin/admins')).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    await boss.call('POST /api/admin/admins', { walletAddress: mary.address })
    const { body } = await mary.call('GET /api/admin/admins')
    expect(body.admins).toContainEqual(expect.objectContaining({ wallet_address: mary.address, role: 'admin' }))
    expect(body.admins).toContainEqual(expect.objectContaining({ wallet_address: boss.address, is_super_admin: true }))
    const walletAddress = wallet('friend').address
    expect((await mary.call('POST /api/admin/admins', { walletAddress })).status).toBe(403)
    expect((await mary.call(`DELETE /api/admin/admins?address=${boss.address}`)).status).toBe(403)
    expect((await boss.call(`DELETE /api/admin/admins?address=${mary.address}`)).body).toEqual({ success: true })
    expect((await mary.call('GET /api/admin/admins')).status).toBe(403)
  })

  test('nobody changes their own', async () => {
    const boss = await person('root')
    const removed = await boss.call(`DELETE /api/admin/admins?address=${boss.address}`)
    expect(removed).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    const lowered = await boss.call('POST /api/admin/admins', { walletAddress: boss.address })
    expect(lowered).toMatchObject({ status: 403, code: 'FORBIDDEN' })
  })

  test('admins list accounts by page, by the start of a name, and by address', async () => {
    const [boss, zed] = [await person('root'), await person('zed')]
    await zed.call('POST /api/username', { username: 'zed_of_zeds' })
    for (const search of ['zed_', '@ZED_of', zed.address]) {
      const { body } = await boss.call(`GET /api/admin/users?search=${search}`)
      expect(body).toMatchObject({
        total: 1,
        page: 1,
        totalPages: 1,
        users: [{ wallet_address: zed.address, login_count: 1 }],
      })
    }
    await zed.call('PATCH /api/user/profile', { display_name: 'Zoë 🦊 of Zeds' })
    const found = async (search: string) =>
      (await boss.call(`GET /api/admin/users?search=${encodeURIComponent(search)}`)).body.total
    for (const search of ['zoë', 'ZOE\u0308 ', 'Zoë 🦊 OF z'])
      expect([search, await found(search)]).toEqual([search, 1])
    for (const search of ['of zeds', '.*', '{"$ne":null}']) expect([search, await found(search)]).toEqual([search, 0])
    await Accounts.updateOne({ _id: zed.address }, { $unset: { display_name_sought: '' } })
    expect(await found('zoë')).toBe(0)
    await storeMissingSearchForms()
    expect(await found('zoë')).toBe(1)
    await zed.call('PATCH /api/user/profile', { display_name: null })
    expect(await found('zoë')).toBe(0)
    const first = await boss.call('GET /api/admin/users?limit=2&sortBy=created_at&sortOrder=asc')
    const second = await boss.call('GET /api/admin/users?limit=2&page=2&sortBy=created_at&sortOrder=asc')
    expect(first.body.users).toHaveLength(2)
    expect(second.body.users).not.toEqual(first.body.users)
    expect((await boss.call('GET /api/admin/users?limit=0')).status).toBe(400)
    expect((await zed.call('GET /api/admin/users')).status).toBe(403)
  })

  test('admins find people without a name by the one that is made for them, until they have their own', async () => {
    const [boss, shy] = [await person('root'), await person('without a name')]
    const name = madeUpName(shy.address)
    const found = async (search: string) => {
      const { body } = await boss.call(`GET /api/admin/users?search=${encodeURIComponent(search)}`)
      return (body.users as { wallet_address: string }[]).map(({ wallet_address }) => wallet_address)
    }
    for (const search of [name, name.toLowerCase(), name.slice(0, 3)])
      expect(await found(search)).toContain(shy.address)
    expect(await found(name.slice(1))).not.toContain(shy.address)
    await shy.call('POST /api/username', { username: 'shy_no_more' })
    expect(await found(name)).not.toContain(shy.address)
  })
})

describe('what follows from the log', () => {
  const account = wallet('recorded').address.toLowerCase()
  const row = (seq: number, type: string, body: Row['body'] = {}, reason: string | null = null): Row => ({
    ...{ _id: `row ${seq}`, room: GLOBAL, seq, epoch: 'e', n: null, total: 0, sender: 'someone', cid: `cid ${seq}` },
    ...{
      type,
      body,
      target: account,
      until: null,
      reason,
      at: seq * 1000,
      chain: '',
      chained: false,
      applied_seq: seq,
      v: 1,
    },
  })
  /** Writes what a row says, as the log does. */
  const write = (one: Row) =>
    saveAccountFacts(
      (recordOf(one.type)?.changes?.(one, signed(one)) ?? []).flatMap((change) =>
        'value' in change ? [{ ...change, row: one }] : [],
      ),
    )
  const facts = () => loadAccountFacts([roleKey(account), suspensionKey(account), 'member:x'])

  test('is written for an account that never signed in, once, and never by an older row', async () => {
    const key = { role: roleKey(account), suspension: suspensionKey(account) }
    expect(await facts()).toEqual(
      new Map([
        [key.role, { value: null, seq: 0 }],
        [key.suspension, { value: null, seq: 0 }],
      ]),
    )
    await Promise.all([
      write(row(7, 'account.role_changed', { role: 'admin' })),
      write(row(8, 'account.suspended', {}, 'spam')),
    ])
    await write(row(5, 'account.role_changed', { role: 'super_admin' }))
    await write(row(6, 'account.unsuspended'))
    expect(await facts()).toEqual(
      new Map<string, object>([
        [key.role, { value: 'admin', seq: 7 }],
        [key.suspension, { value: { reason: 'spam', by: 'someone', at: 8000 }, seq: 8 }],
      ]),
    )
    await write(row(9, 'account.unsuspended'))
    await write(row(10, 'account.role_changed', { role: 'user' }))
    expect(await facts()).toEqual(
      new Map([
        [key.role, { value: 'user', seq: 10 }],
        [key.suspension, { value: null, seq: 9 }],
      ]),
    )
  })
})

test('an account that was erased takes no name and no profile, though its session goes on', async () => {
  const gone = await person('gone')
  await Accounts.deleteOne({ _id: gone.address })
  const name = await gone.call('POST /api/username', { username: 'gone_1' })
  const profile = await gone.call('PATCH /api/user/profile', { display_name: 'Gone' })
  const read = await gone.call('GET /api/user/profile')
  for (const answer of [name, profile, read]) expect(answer).toMatchObject({ status: 404, code: 'USER_NOT_FOUND' })
})
