// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OneTimeCodes } from '#server/domains/people/identity/model'
import { StoredJobs } from '#server/kernel/store/model'
import { type Booted, boot } from '#test/support/boot'
import { codeFor, codeIn, letterAfter, lettersTo, linkIn } from '#test/support/letters'
import { call, signIn, wallet } from '#test/support/wallet'

let server: Booted
beforeAll(async () => {
  server = await boot()
})
afterAll(() => server.close())

const post = (path: string, body: object, token?: string, at = 0) =>
  call(server.urls[at % server.urls.length] ?? server.url, `POST /api/email/${path}`, body, token)
const fifty = Array.from({ length: 50 }, (_, at) => at)
const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).sort()

describe('T36: codes', () => {
  test('of fifty parallel tries with the right code exactly one begins a session', async () => {
    const email = 'fifty@hostile.test'
    const code = await codeFor(server, email)
    const answers = await Promise.all(fifty.map((at) => post('login/verify', { email, code }, undefined, at)))
    expect(statuses(answers)).toEqual([200, ...Array(49).fill(400)])
    expect(answers.filter(({ headers }) => headers.get('set-cookie') !== null)).toHaveLength(1)
  })

  test('of any number of parallel guesses five are judged', async () => {
    const email = 'guessed@hostile.test'
    const code = await codeFor(server, email)
    const guesses = fifty.map((at) => String((Number(code) + 1 + at) % 1_000_000).padStart(6, '0'))
    const answers = await Promise.all(
      guesses.map((guess, at) => post('login/verify', { email, code: guess }, undefined, at)),
    )
    expect(answers.filter((answer) => answer.code === 'INVALID_CODE')).toHaveLength(5)
    expect(answers.filter((answer) => answer.code === 'TOO_MANY_ATTEMPTS')).toHaveLength(45)
    expect(await post('login/verify', { email, code })).toMatchObject({ status: 400, code: 'TOO_MANY_ATTEMPTS' })
  })

  test.each([
    ['12345'],
    ['1234567'],
    ['12345a'],
    ['１２３４５６'],
    ['-12345'],
    ['1e5000'],
    ['12 345'],
    [123456],
    [{ $gt: '' }],
    [['123456']],
    [null],
  ])('%j is no code', async (code) => {
    expect((await post('login/verify', { email: 'shapes@hostile.test', code })).status).toBe(400)
  })

  test('a code of another address, or for another purpose, is of no use', async () => {
    const code = await codeFor(server, 'theirs@hostile.test')
    expect((await post('login/verify', { email: 'mine@hostile.test', code })).status).toBe(400)
    const { sessionToken } = await signIn(server.url, wallet('code-mixer'))
    expect((await post('verify-code', { email: 'theirs@hostile.test', code }, sessionToken)).status).toBe(400)
  })

  test('codes and links are nowhere in the database in clear', async () => {
    const email = 'stored@hostile.test'
    const code = await codeFor(server, email)
    const letter = await letterAfter(server, email, () => post('login/send-link', { email }))
    const token = linkIn(letter).searchParams.get('token') ?? ''
    const kept = JSON.stringify([await OneTimeCodes.find({}).lean(), await StoredJobs.find({}).lean()])
    expect(kept).toContain(email)
    expect(kept).not.toContain(token)
    expect(kept).not.toMatch(new RegExp(`"${code}"`))
  })

  test('of fifty parallel tries to add an address exactly one does', async () => {
    const { sessionToken } = await signIn(server.url, wallet('code-attacher'))
    const email = 'attached@hostile.test'
    const code = codeIn(await letterAfter(server, email, () => post('send-code', { email }, sessionToken)))
    const answers = await Promise.all(fifty.map((at) => post('verify-code', { code }, sessionToken, at)))
    expect(statuses(answers)).toEqual([200, ...Array(49).fill(400)])
  })

  test('of two accounts that add one address at once exactly one has it', async () => {
    const email = 'raced@hostile.test'
    const tokens = await Promise.all(
      ['racer-1', 'racer-2'].map(async (name) => (await signIn(server.url, wallet(name))).sessionToken),
    )
    const codes: string[] = []
    for (const token of tokens)
      codes.push(codeIn(await letterAfter(server, email, () => post('send-code', { email }, token))))
    const answers = await Promise.all(tokens.map((token, at) => post('verify-code', { code: codes[at] }, token, at)))
    expect(answers.map(({ code }) => code).sort()).toEqual(['EMAIL_IN_USE', null])
  })
})

describe('T36: links', () => {
  test('of fifty parallel tries exactly one signs in, and a changed token does not', async () => {
    const email = 'link@hostile.test'
    const token =
      linkIn(await letterAfter(server, email, () => post('login/send-link', { email }))).searchParams.get('token') ?? ''
    const changed = (token.startsWith('A') ? 'B' : 'A') + token.slice(1)
    for (const wrong of [changed, token.toUpperCase(), `${token}=`, token.slice(1), 'x'])
      expect(await post('login/link', { token: wrong })).toMatchObject({ status: 401, code: 'INVALID_LINK' })
    const answers = await Promise.all(fifty.map((at) => post('login/link', { token }, undefined, at)))
    expect(statuses(answers)).toEqual([200, ...Array(49).fill(401)])
  })
})

describe('M15, T77: a link that somebody else asked for', () => {
  const check = (token: string, headers = {}) =>
    call(server.url, 'POST /api/email/login/link/check', { token }, undefined, headers)

  test('is told apart by the browser that asked, and says whom it signs in; checking uses nothing up', async () => {
    const email = 'linked@hostile.test'
    const cookie = { cookie: `app_browser=${'b'.repeat(43)}` }
    const letter = await letterAfter(server, email, () =>
      call(server.url, 'POST /api/email/login/send-link', { email }, undefined, cookie),
    )
    const token = linkIn(letter).searchParams.get('token') ?? ''
    expect((await check(token, cookie)).body).toEqual({ email, asked_here: true })
    for (const other of [{}, { cookie: `app_browser=${'c'.repeat(43)}` }, { cookie: 'app_browser=b' }])
      expect((await check(token, other)).body).toEqual({ email, asked_here: false })
    expect(await check('unknown')).toMatchObject({ status: 401, code: 'INVALID_LINK' })
    expect((await post('login/link', { token })).status).toBe(200)
    expect(await check(token, cookie)).toMatchObject({ status: 401, code: 'INVALID_LINK' })
  })

  test('signs nobody in who only follows it', async () => {
    const email = 'followed@hostile.test'
    const letter = await letterAfter(server, email, () => post('login/send-link', { email }))
    const token = linkIn(letter).searchParams.get('token') ?? ''
    for (const visit of [{ 'sec-fetch-site': 'none' }, { 'sec-fetch-site': 'cross-site' }]) {
      const answer = await call(server.url, `GET /api/email/login/link?token=${token}`, null, undefined, visit)
      expect(answer).toMatchObject({ status: 403, code: 'FORBIDDEN' })
      expect(answer.headers.get('set-cookie')).toBeNull()
    }
    expect((await post('login/link', { token })).status).toBe(200)
  })

  test.each([
    ['by a program that scans letters', {}],
    ['by a page of ours', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }],
    ['in the bar of a browser', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }],
    ['by a page of elsewhere', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['with a token of its own', { authorization: 'Bearer x' }],
  ])('R6: a HEAD %s signs nobody in and uses nothing up', async (_how, headers) => {
    const email = 'scanned@hostile.test'
    const letter = await letterAfter(server, email, () => post('login/send-link', { email }))
    const token = linkIn(letter).searchParams.get('token') ?? ''
    const answer = await fetch(`${server.url}/api/email/login/link?token=${token}`, { method: 'HEAD', headers })
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null])
    expect((await check(token)).status).toBe(200)
    expect((await post('login/link', { token })).status).toBe(200)
  })
})

describe('T36: addresses', () => {
  test.each([
    'a@b.test\r\nBcc: evil@x.test',
    'a@b.test\nBcc: evil@x.test',
    'a@b.test%0d%0aBcc: evil@x.test',
    'a@b.test, evil@x.test',
    'a@b.test; evil@x.test',
    'a@b.test evil@x.test',
    '"a" <evil@x.test>',
    'a <evil@x.test>',
    '<evil@x.test>',
    'group: a@b.test, evil@x.test;',
    'a@b.test\0',
    'a@[127.0.0.1]',
    '"a b"@x.test',
    'a@b@x.test',
    '@x.test',
    'a@localhost',
    'ａ@x.test',
    'a@ｘ.test',
    `${'a'.repeat(250)}@x.test`,
  ])('%j is refused', async (email) => {
    for (const path of ['login/send-code', 'login/send-link', 'send-code'])
      expect((await post(path, { email })).body).toMatchObject({ error: 'Invalid email format' })
  })

  test.each([[['a@b.test']], [{ address: 'a@b.test' }], [{ $ne: '' }], [7], [true]])('%j is refused', async (email) => {
    expect((await post('login/send-code', { email })).status).toBe(400)
  })

  test('nothing was sent to anybody who was smuggled in', async () => {
    expect(await lettersTo(server, 'evil@x.test')).toEqual([])
  })
})

describe('T36, T41: nobody learns who has an account', () => {
  test('a known and an unknown address are answered alike, in about the same time', async () => {
    const known = 'known@hostile.test'
    const code = await codeFor(server, known)
    expect((await post('login/verify', { email: known, code })).status).toBe(200)
    const asked: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
    const bodies = new Set<string>()
    for (let round = 0; round < 40; round++)
      for (const who of ['known', 'unknown'] as const) {
        const email = who === 'known' ? known : 'unknown@hostile.test'
        const begun = performance.now()
        const { status, body } = await post('login/send-code', { email })
        asked[who].push(performance.now() - begun)
        bodies.add(JSON.stringify([status, body]))
      }
    expect([...bodies]).toEqual(['[200,{"success":true,"message":"Verification code sent"}]'])
    const [one, other] = [median(asked.known), median(asked.unknown)]
    expect(Math.abs(one - other)).toBeLessThan(Math.max(5, 0.5 * Math.max(one, other)))
    const wrong = await Promise.all(
      [known, 'unknown@hostile.test', 'never-asked@hostile.test'].map((email) =>
        post('login/verify', { email, code: '000000' }),
      ),
    )
    expect(wrong.map(({ status }) => status)).toEqual([400, 400, 400])
  })
})

const median = (times: readonly number[]) =>
  [...times].sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0
