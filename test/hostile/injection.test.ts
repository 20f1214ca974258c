// Modes: embedded, mongodb
import mongoose from 'mongoose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keyAt } from '#server/ports/storage/port'
import { rooms } from '#shared/api/rooms/rooms'
import { boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { type Person, personAt } from '#test/support/people'
import { storeFile } from '#test/support/stored-files'
import { call } from '#test/support/wallet'

let server: Awaited<ReturnType<typeof boot>>
let url: string
let owner: Person
let member: Person
let channel: string
beforeAll(async () => {
  server = await boot()
  url = server.url
  owner = await personAt(url, 'injection owner')
  member = await personAt(url, 'injection member')
  channel = (await owner.does('rest', rooms.createChannel, { name: 'Injection' })).channel.id
  await member.rest(`POST /api/channels/${channel}/join`, {})
})
afterAll(() => server.close())

const Checked = z.object({
  verdict: z.object({ ok: z.boolean(), code: z.string().nullable(), text: z.string().nullable() }),
})
const verdictOf = async (text: string, type = 'text', room = channel) => {
  const { body } = await member.rest(`POST /api/rooms/channel/${room}/messages/check`, { text, type })
  return Checked.parse(body).verdict
}
const Sent = z.looseObject({ message: z.looseObject({ id: z.string(), content: z.string() }) })

describe('T18: a blocked word in disguise', () => {
  beforeAll(async () => {
    const word = { word: 'scam', scope: 'room', chatType: 'channel', chatId: channel }
    expect((await owner.rest('POST /api/blocked-words', word)).status).toBe(200)
  })

  test.each([
    ['as it is', 'a scam here'],
    ['capitals', 'SCAM'],
    ['zero width', 's\u200bc\u2060a\ufeffm'],
    ['fullwidth', 'ｓｃａｍ'],
    ['Cyrillic', 'sсаm'],
    ['mathematical', '𝐬𝐜𝐚𝐦'],
    ['combining', 's\u0336c\u0336a\u0336m\u0336'],
    ['accents', 'ṡćäm'],
    ['signs', '$c@m'],
    ['digits', '5c4m'],
    ['circled', 'ⓢⓒⓐⓜ'],
    ['drawn out', 'scaaaam'],
    ['spaced', 's c a m'],
    ['dotted', 's.c.a.m'],
    ['soft hyphen', 's\u00adc\u00adam'],
  ])('%s is caught', async (_title, text) => {
    expect(await verdictOf(text)).toMatchObject({ ok: false, code: 'BLOCKED_WORD' })
  })

  test.each([
    ['inside another word', 'escamillo sings'],
    ['a digit and a word', '5 cam'],
    ['another word', 'scamper'],
    ['reversed by U+202E: known to be missed', '\u202emacs'],
    ['Canadian syllabics: known to be missed', 'ᔕᑕᗩᗰ'],
  ])('%s passes', async (_title, text) => {
    expect(await verdictOf(text)).toMatchObject({ ok: true })
  })

  test('texts are stored as they were sent', async () => {
    const text = 'ｈｅｌｌｏ e\u0301 \u200b<b>'
    const { body } = await member.rest(`POST /api/channels/${channel}/messages`, { content: text })
    expect(Sent.parse(body).message.content).toBe(text)
  })
})

describe('T19: names that pass for others', () => {
  test.each([
    'Admіn',
    'ADMIN',
    'Аdmin',
    '𝐀𝐝𝐦𝐢𝐧',
    'Official Support',
    'Mod\u202eerator',
    'a\u0000b',
    'mоderator',
    'Ad\u200bmin',
  ])('display name %j', async (display_name) => {
    const before = await call(url, `GET /api/public/user?address=${member.account}`)
    expect((await member.rest('PATCH /api/user/profile', { display_name })).status).toBe(400)
    expect((await call(url, `GET /api/public/user?address=${member.account}`)).body).toEqual(before.body)
  })

  test.each(['аdmin_one', 'ａｂｃ', 'a-b-c', 'ab', 'x'.repeat(21), 'ﬁsh', 'a\u200bbc', 'a b c'])(
    'username %j',
    async (username) => {
      expect((await member.rest('POST /api/username', { username })).status).toBe(400)
    },
  )

  test.each(['p1aza', 'pl4za_x', 'adm1n', 'adrnin', 'm0derator', 'a_d_m_i_n', 'supp0rt', 'the_plaza'])(
    'M14: username %j passes for a reserved one',
    async (username) => {
      expect(await member.rest('POST /api/username', { username })).toMatchObject({ code: 'USERNAME_TAKEN' })
      const { body } = await call(url, `GET /api/username/check?username=${username}`)
      expect(body).toMatchObject({ available: false })
    },
  )

  test.each(['The Plaza Team', 'P1aza', 'PIaza', 'plaza.team', 'Your m0derator', 'Adrnin', 'Sam\u061c', 'Sam\u200e'])(
    'M14: display name %j',
    async (display_name) => {
      expect((await member.rest('PATCH /api/user/profile', { display_name })).status).toBe(400)
    },
  )

  test('M14: nobody takes a username or a display name that looks like the username of another', async () => {
    await owner.rest('POST /api/username', { username: 'alice_smith' })
    for (const username of ['al1ce_smith', 'alice_5mith', 'alicesmith', 'alice__smith', 'alice_srnith']) {
      expect(await member.rest('POST /api/username', { username }), username).toMatchObject({ code: 'USERNAME_TAKEN' })
      const { body } = await call(url, `GET /api/username/check?username=${username}`)
      expect(body, username).toMatchObject({ available: false })
    }
    const named = (who: Person, display_name: string) => who.rest('PATCH /api/user/profile', { display_name })
    const looks = ['alice_smith', 'Alice Smith', 'AIice Smith', 'аlice sмith', 'al1ce.sm1th', '@alice_smith']
    for (const name of [...looks, 'ÁLICE-SMITH', 'Alice Smith!', '𝐀𝐥𝐢𝐜𝐞 𝐒𝐦𝐢𝐭𝐡'])
      expect(await named(member, name), name).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
    expect((await named(member, 'Alice Smithson')).status).toBe(200)
    expect((await named(owner, 'Alice Smith')).status).toBe(200)
    expect((await owner.rest('POST /api/username', { username: 'alice_5mith' })).status).toBe(200)
    expect((await named(member, 'Alice Smith')).status).toBe(400)
    await owner.rest('DELETE /api/username')
    expect((await named(member, 'Alice Smith')).status).toBe(200)
    expect((await owner.rest('POST /api/username', { username: 'alice_smith' })).status).toBe(200)
  })

  test(
    'M14: names that differ by a small i and an l are two names; a capital I, l, 1 and | are one',
    heavy,
    async () => {
      const claim = (who: Person, username: string) => who.rest('POST /api/username', { username })
      const named = (who: Person, display_name: string) => who.rest('PATCH /api/user/profile', { display_name })
      for (const [held, other] of [
        ['ali_x', 'all_x'],
        ['mai', 'mal'],
        ['tim_bell', 'tlm_bell'],
        ['kali', 'kall'],
      ] as const) {
        await owner.rest('DELETE /api/username')
        expect((await claim(owner, held)).status, held).toBe(200)
        expect((await named(member, other)).status, other).toBe(200)
        expect((await claim(member, other)).status, other).toBe(200)
        await member.rest('DELETE /api/username')
      }
      await owner.rest('DELETE /api/username')
      await claim(owner, 'paul_bell')
      for (const name of [
        'PauI BeIl',
        'Pau1 Bell',
        'Pau| Bell',
        'PAUL BELL',
        'PauІ Bell',
        'PauΙ Bell',
        'Pauǀ Bell',
        'PAUl BELl',
      ])
        expect((await named(member, name)).status, name).toBe(400)
      for (const username of ['pau1_bell', 'paulbe11'])
        expect((await claim(member, username)).code).toBe('USERNAME_TAKEN')
      for (const name of ['Paui Bell', 'Pauí Bell']) expect((await named(member, name)).status, name).toBe(200)
      await owner.rest('DELETE /api/username')
      await claim(owner, 'mai_lin')
      for (const name of ['MaI Lin', 'MAI LIN', 'Ma1 L1n', 'Mаі Lіn', 'MAІ LІN', 'MaI L1n'])
        expect((await named(member, name)).status, name).toBe(400)
      for (const name of ['Mal Lin', 'Mai Lln']) expect((await named(member, name)).status, name).toBe(200)
      await owner.rest('DELETE /api/username')
    },
  )

  test.each([
    ...[
      'Plaza',
      'P1aza',
      'ΡӏаzаТеаm',
      'The Plaza Team',
      'Plaza Support',
      'plaza announcements',
      'Plaza.News',
      'P L A Z A',
    ],
    ...[
      'Plaza 👑',
      'Plaza Security 🔒',
      '⭐Plaza⭐Security⭐',
      'Plaza Staff 🔵',
      'Plaza Moderators',
      'Plaza Support 2',
    ],
    ...[
      'Official',
      '0fficial Lobby',
      'OfficiaI',
      'Lobby ✅',
      'Lob\u200bby',
      'Lob\u2060by',
      'Z\u0300\u0301\u0302\u0303',
    ],
  ])('M14: only admins call a room %j', async (name) => {
    for (const [route, input] of [
      ['POST /api/channels', { name }],
      [`PATCH /api/channels/${channel}`, { name }],
      ['POST /api/groups', { name, memberAddresses: [] }],
    ] as const)
      expect(await owner.rest(route, input), route).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })

  test(
    'M14: words of every day are names of rooms, and what looks like the name of a channel is taken',
    heavy,
    async () => {
      for (const name of [
        'Help',
        'News',
        'Support for beginners',
        'Team',
        'Plaza de Mayo',
        'Piazza',
        '日本語',
        'C',
        'C++',
        'C#',
      ])
        expect(await owner.rest('POST /api/channels', { name }), name).toMatchObject({ status: 200 })
      await owner.rest('POST /api/channels', { name: 'Sausalito' })
      for (const name of ['SAUSALITO', 'Sаusаlitо', 'Ｓausalito', 'Saùsalitö', '𝐒𝐚𝐮𝐬𝐚𝐥𝐢𝐭𝐨'])
        expect(await member.rest('POST /api/channels', { name }), name).toMatchObject({ code: 'VALIDATION_ERROR' })
    },
  )

  test.each(['Key\u202e', 'Key\u2066', 'Key\nother', 'Key\u200f'])('M14: no passkey is called %j', async (name) => {
    for (const field of ['displayName', 'userName'])
      expect((await call(url, 'POST /api/passkey/register/options', { [field]: name })).status, field).toBe(400)
  })

  test('M14: of many who ask at once for usernames that look alike, one gets one', async () => {
    const looks = ['wanted_one', 'w4nted_one', 'want3d_one', 'wanted_0ne', 'wantedone', 'w4nt3d_0n3']
    const people = await Promise.all(looks.map((_, at) => personAt(url, `look-alike ${at}`)))
    const answers = await Promise.all(looks.map((username, at) => people[at]?.rest('POST /api/username', { username })))
    expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(1)
    expect(answers.filter((answer) => answer?.code === 'USERNAME_TAKEN')).toHaveLength(looks.length - 1)
  })

  const directions = [...'\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069']
  test.each(directions)('M14: no name of a person, a room or a friend holds %j', async (sign) => {
    const name = `Sam${sign}x`
    for (const [route, input] of [
      ['PATCH /api/user/profile', { display_name: name }],
      ['POST /api/channels', { name }],
      [`PATCH /api/channels/${channel}`, { name }],
      ['POST /api/groups', { name, memberAddresses: [] }],
      ['PATCH /api/friends', { friendAddress: member.account, nickname: name }],
    ] as const)
      expect((await owner.rest(route, input)).status, route).toBe(400)
  })

  test('a mention is of an id, and stays within the text', async () => {
    const mention = { kind: 'user', id: owner.account, start: 0, len: 6 }
    const send = (mentions: object[]) =>
      member.rest(`POST /api/channels/${channel}/messages`, { content: '@owner look', mentions })
    expect((await send([mention])).status).toBe(200)
    for (const bad of [
      { ...mention, len: 200 },
      { ...mention, start: -1 },
      { ...mention, start: 1e9 },
      { ...mention, id: { $ne: null } },
      { ...mention, kind: '__proto__' },
      { ...mention, extra: 1 },
    ])
      expect((await send([bad])).status).toBe(400)
  })
})

describe('T20: operators where values belong', () => {
  const operators: unknown[] = [
    { $gt: '' },
    { $ne: null },
    { $regex: '.*' },
    { $where: 'sleep(9)' },
    { $in: [''] },
    ['x'],
    [{ $gt: '' }],
  ]
  test.each([
    ['POST /api/auth/session', 'refreshToken'],
    ['POST /api/auth/session', 'token'],
    ['POST /api/auth/verify', 'address'],
    ['POST /api/username', 'username'],
    ['POST /api/dm', 'recipientAddress'],
    ['POST /api/users/block', 'userAddress'],
    ['DELETE /api/users/block', 'userAddress'],
    ['POST /api/users/report', 'reportedAddress'],
    ['DELETE /api/blocked-words', 'id'],
    ['POST /api/moderation/queue/claim', 'item'],
    ['POST /api/chat-rules/ban', 'targetAddress'],
    ['POST /api/moderation/act', 'message_id'],
  ])('%s: %s', async (route, field) => {
    for (const operator of operators) {
      const answer = await owner.rest(route, {
        chatType: 'channel',
        chatId: channel,
        action: route.endsWith('act') ? 'pin' : 'ban',
        room: null,
        reportType: 'spam',
        message: 'x',
        signature: 'x',
        [field]: operator,
      })
      expect([JSON.stringify(operator), answer.status]).toEqual([JSON.stringify(operator), 400])
    }
  })

  test('in a query', async () => {
    for (const query of ['status[$ne]=x', 'status[]=pending', 'status[$gt]=', 'admin[$ne]=1']) {
      const { status, body } = await member.rest(`GET /api/users/report?${query}`)
      if (status === 200) expect(body).toMatchObject({ reports: [], isAdmin: false })
      else expect(status).toBe(400)
    }
    for (const query of ['category[$ne]=x', 'search[$regex]=.*', 'joined[$ne]=1'])
      expect((await call(url, `GET /api/channels?${query}`)).body.channels).toEqual(
        (await call(url, 'GET /api/channels')).body.channels,
      )
  })

  test('a search is for text, never a pattern', async () => {
    const rows = async (search: string) =>
      (await call(url, `GET /api/channels?search=${encodeURIComponent(search)}`)).body.channels as unknown[]
    expect(await rows('Injection')).toHaveLength(1)
    for (const pattern of ['.*', 'I.jection', '[I]njection', 'Injection|Other', '(a+)+$', '\\w+', '$where'])
      expect(await rows(pattern)).toEqual([])
  })
})

describe('T21: prototypes', () => {
  const polluted = () => ({}) as Record<string, unknown>

  test.each([
    '{"name":"x","__proto__":{"polluted":1}}',
    '{"name":"x","constructor":{"prototype":{"polluted":1}}}',
    '{"name":"x","a":{"prototype":{"polluted":1}}}',
    '{"__proto__":null,"name":"x"}',
  ])('in a body: %s', async (body) => {
    const headers = { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' }
    expect((await fetch(`${url}/api/channels`, { method: 'POST', headers, body })).status).toBe(400)
    expect(polluted().polluted).toBeUndefined()
  })

  test.each([
    '__proto__[polluted]=1',
    'constructor[prototype][polluted]=1',
    '__proto__.polluted=1',
    '__proto__=1',
    'constructor=1',
  ])('in a query: %s', async (query) => {
    expect([200, 400]).toContain((await call(url, `GET /api/channels?${query}`)).status)
    expect(polluted().polluted).toBeUndefined()
  })

  test.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'valueOf'])(
    '%s as a value of every kind',
    async (name) => {
      for (const route of [
        `GET /api/channels/${name}`,
        `GET /api/rooms/${name}/x`,
        `GET /api/rooms/channel/${name}`,
        `GET /api/public/user/${name}`,
        `GET /api/username/resolve?username=${name}`,
        `GET /api/chat-rules?chatType=${name}`,
        `GET /api/moderation?action=${name}`,
      ]) {
        const { status } = await owner.rest(route)
        expect([route, status]).toEqual([route, status === 404 ? 404 : 400])
      }
      const sent = await member.rest(`POST /api/channels/${channel}/messages`, { content: name })
      const { id } = Sent.parse(sent.body).message
      const reactions = `POST /api/rooms/channel/${channel}/messages/${id}/reactions`
      for (const emoji of [name, '$where', 'a.b'])
        expect([emoji, (await member.rest(reactions, { emoji, on: true })).status]).toEqual([emoji, 400])
      const counted = await member.rest(reactions, { emoji: '👍', on: true })
      expect(counted.body).toMatchObject({ counts: { '👍': 1 } })
      expect(Object.getPrototypeOf({})).toBe(Object.prototype)
    },
  )
})

describe('T22: parameters twice, or of another type', () => {
  test.each([
    'limit=1&limit=2',
    'limit=1e9',
    'limit=0x10',
    'limit=-1',
    'limit=0',
    'limit=1.5',
    'limit=',
    'limit=abc',
    'limit=NaN',
    'limit=%2010',
    'offset=99999999999999999999',
    'joined=yes',
    'joined=1',
    'joined=TRUE',
    'search=a&search=b',
  ])('GET /api/channels?%s', async (query) => {
    expect(await call(url, `GET /api/channels?${query}`)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })

  test.each([
    ['POST /api/users/mute', { conversationType: 'channel', conversationId: 'x', duration: ['1h'] }],
    ['POST /api/users/mute', { conversationType: ['channel'], conversationId: 'x' }],
    ['POST /api/users/mute', { conversationType: 'channel', conversationId: 7 }],
    ['POST /api/users/mute', { conversationType: 'CHANNEL', conversationId: 'x' }],
    ['POST /api/users/mute', { conversationType: 'channel ', conversationId: 'x' }],
    ['POST /api/users/mute', { conversationType: 'channel', conversationId: 'x', duration: '2h' }],
    ['POST /api/auth/logout', { allDevices: 'false' }],
    ['POST /api/auth/logout', { allDevices: 0 }],
  ])('%s %j', async (route, input) => {
    expect(await member.rest(route, input)).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' })
  })

  test('slow mode, levels and lengths are of their lists', async () => {
    const set = (rules: object) => owner.rest('POST /api/chat-rules', { chatType: 'channel', chatId: channel, rules })
    for (const rules of [
      { slow_mode_seconds: 7 },
      { slow_mode_seconds: '5' },
      { slow_mode_seconds: -5 },
      { links_allowed: 'nobody' },
      { links_allowed: 1 },
      { read_only: 'false' },
      { max_message_length: -1 },
      { max_message_length: 1.5 },
    ])
      expect([rules, (await set(rules)).status]).toEqual([rules, 400])
    expect((await set({ links_allowed: true })).status).toBe(200)
  })
})

describe('T25: media markers', () => {
  const own = () => `http://localhost:3000/files/chat-images/encrypted/${member.account}/a.bin`
  const voice = () => `http://localhost:3000/files/chat-voice/voice/${member.account}/a.bin`

  test('of the own storage and folder are taken', async () => {
    const [app] = server.apps
    for (const url of [own(), voice()]) {
      const key = keyAt('http://localhost:3000/files', url.replace(member.account, member.account.toLowerCase()))
      if (app && key) await storeFile(app.node, member.account, key, new Uint8Array(40))
    }
    expect(await verdictOf(`[ENC_IMAGE:image/png]${own()}`, 'encrypted_image')).toMatchObject({ ok: true })
    expect(await verdictOf(`[VOICE:30]${voice()}`, 'voice')).toMatchObject({ ok: true })
  })

  const bad: [string, () => string][] = [
    ['javascript', () => '[ENC_IMAGE:image/png]javascript:alert(1)'],
    ['a foreign host', () => '[ENC_IMAGE:image/png]https://evil.example/a.bin'],
    ['a longer host', () => `[ENC_IMAGE:image/png]${own().replace(':3000', ':3000.evil.example')}`],
    ['userinfo', () => `[ENC_IMAGE:image/png]${own().replace('http://', 'http://evil@')}`],
    ['the folder of another', () => `[ENC_IMAGE:image/png]${own().replace(member.account, owner.account)}`],
    ['a climb', () => `[ENC_IMAGE:image/png]${own().replace('/a.bin', `/../${owner.account}/a.bin`)}`],
    ['an encoded climb', () => `[ENC_IMAGE:image/png]${own().replace('/a.bin', '/%2e%2e/a.bin')}`],
    ['HTML', () => `[ENC_IMAGE:text/html]${own()}`],
    ['SVG', () => `[ENC_IMAGE:image/svg+xml]${own()}`],
    ['a voice without end', () => `[VOICE:1000000000]${voice()}`],
    ['a negative voice', () => `[VOICE:-1]${voice()}`],
    ['a voice of text', () => `[VOICE:abc]${voice()}`],
    ['a marker in a marker', () => `[ENC_IMAGE:image/png][ENC_IMAGE:image/png]${own()}`],
    ['a marker never closed', () => '[ENC_IMAGE:image/png'],
    ['a blank before it', () => ' [ENC_IMAGE:image/png]https://evil.example/a.bin'],
    ['a byte order mark before it', () => '\ufeff[ENC_IMAGE:image/png]https://evil.example/a.bin'],
    ['a query', () => `[ENC_IMAGE:image/png]${own()}?x=<script>`],
  ]
  test.each(bad)('%s is refused', async (_title, text) => {
    for (const type of ['text', 'encrypted_image']) {
      const { status, code } = await member.rest(`POST /api/channels/${channel}/messages`, { content: text(), type })
      expect([type, status === 400 || status === 403, code === null]).toEqual([type, true, false])
    }
  })

  test('a text that begins with a marker is that media, where media is not allowed', async () => {
    const closed = (await owner.does('rest', rooms.createChannel, { name: 'No photos' })).channel.id
    await member.rest(`POST /api/channels/${closed}/join`, {})
    const rules = { photos_allowed: 'disabled', voice_allowed: 'disabled' }
    await owner.rest('POST /api/chat-rules', { chatType: 'channel', chatId: closed, rules })
    for (const text of [`[ENC_IMAGE:image/png]${own()}`, ` \u200b[ENC_IMAGE:image/png]${own()}`, `[IMAGE]${own()}`])
      expect(await verdictOf(text, 'text', closed)).toMatchObject({
        code: 'CONTENT_NOT_ALLOWED',
        text: 'Photos are not allowed',
      })
    expect(await verdictOf(`[VOICE:3]${voice()}`, 'text', closed)).toMatchObject({ code: 'CONTENT_NOT_ALLOWED' })
  })
})

describe('T26: text that would like to be a page', () => {
  const payloads = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '"><svg/onload=alert(1)>',
    '<iframe srcdoc="<script>alert(1)</script>">',
    '{{constructor.constructor("alert(1)")()}}',
    '<a href="javascript:alert(1)">x</a>',
    '</script><script>alert(1)</script>',
    '<!--<script>-->',
    'x\u2028alert(1)\u2029x',
    '&lt;b&gt;',
  ]
  test('is stored as written, and served as JSON that no browser will read as a page', async () => {
    for (const content of payloads) {
      const sent = await member.rest(`POST /api/channels/${channel}/messages`, { content })
      const { id } = Sent.parse(sent.body).message
      const stored = await mongoose.models.RoomEvents?.findOne({ _id: id }).lean()
      expect(stored).toMatchObject({ body: { text: content } })
    }
    const answer = await fetch(`${url}/api/channels/${channel}/messages?limit=100`)
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    const { messages } = z
      .object({ messages: z.array(z.looseObject({ content: z.string() })) })
      .parse(await answer.json())
    for (const content of payloads) expect(messages.map((message) => message.content)).toContain(content)
  })

  test('names, reasons and descriptions as well', async () => {
    const description = '<script>alert(2)</script>'
    const made = await owner.rest(`PATCH /api/channels/${channel}`, { description })
    expect(made.body).toMatchObject({ channel: { description } })
    const refused = await owner.rest('GET /api/channels/<script>alert(3)<')
    expect(refused.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(JSON.stringify(refused.body)).not.toContain('<script>')
  })
})

describe('T41: objects of others are answered as if they did not exist', () => {
  test('a group, a dm and a room that never was', async () => {
    const made = await owner.rest('POST /api/groups', { name: 'Hidden', memberAddresses: [] })
    const { id } = made.body.group as { id: string }
    for (const rest of ['', '/messages', '/members', '/polls', '/events']) {
      const hidden = await member.rest(`GET /api/rooms/group/${id}${rest}`)
      const absent = await member.rest(`GET /api/rooms/group/${id.slice(0, -4)}0000${rest}`)
      expect([rest, hidden.status, hidden.body]).toEqual([rest, absent.status, absent.body])
      expect(hidden.status).toBe(404)
    }
    const send = (group: string) => member.rest(`POST /api/rooms/group/${group}/messages`, { text: 'let me in' })
    const [hidden, absent] = [await send(id), await send(`${id.slice(0, -4)}0000`)]
    expect([hidden.status, hidden.body]).toEqual([absent.status, absent.body])
    const act = (group: string) =>
      member.rest('POST /api/chat-rules/ban', {
        chatType: 'group',
        chatId: group,
        action: 'ban',
        targetAddress: owner.account,
      })
    const [barred, nowhere] = [await act(id), await act(`${id.slice(0, -4)}0000`)]
    expect([barred.status, barred.body]).toEqual([nowhere.status, nowhere.body])
  })

  test('somebody known and somebody unknown', async () => {
    const unknown = `0x${'12'.repeat(20)}`
    const shape = async (address: string) => {
      const { status, body } = await call(url, `GET /api/username?address=${address}`)
      return [status, Object.keys(body)]
    }
    expect(await shape(owner.account)).toEqual(await shape(unknown))
  })
})
