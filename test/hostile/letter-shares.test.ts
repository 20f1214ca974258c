// Modes: embedded
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Booted, boot } from '#test/support/boot'
import { heavy } from '#test/support/heavy'
import { codeIn, letterAfter, lettersTo } from '#test/support/letters'
import { call, signIn, wallet } from '#test/support/wallet'

let server: Booted
beforeAll(async () => {
  server = await boot({ environment: { RATE_LIMIT_SCALE: '1', TRUSTED_PROXIES: '1' } })
})
afterAll(() => server.close())

describe('M12, T76: strangers cannot use up the limit of letters and texts to somebody', () => {
  const from = (ip: string, cookie = '') => ({
    'x-forwarded-for': ip,
    ...(cookie === '' ? {} : { cookie: `app_browser=${cookie}` }),
  })
  const ways = [
    ['a code', 'email/login/send-code'],
    ['a link', 'email/login/send-link'],
    ['a code to add an address', 'email/send-code'],
    ['a code for a lost passkey', 'passkey/recover/email'],
  ] as const
  const ask = (path: string, email: string, headers: object) =>
    call(server.url, `POST /api/${path}`, { email }, undefined, headers)

  test.each(ways)('%s: each asker is counted alone', async (what, path) => {
    const email = `${what.replaceAll(' ', '-')}@limits.test`
    const at = ways.findIndex(([one]) => one === what)
    for (let time = 0; time < 3; time++) expect((await ask(path, email, from(`10.${at}.0.1`))).status).toBe(200)
    expect((await ask(path, email, from(`10.${at}.0.1`))).status).toBe(429)
    expect((await ask(path, email, from(`10.${at}.0.2`))).status).toBe(200)
  })

  test('a text: each asker is counted alone', async () => {
    const { sessionToken } = await signIn(server.url, wallet('asks for texts'), from('10.7.0.1'))
    const ask = async (ip: string) => {
      const input = { phoneNumber: '+15005557777' }
      return (await call(server.url, 'POST /api/phone/send-code', input, sessionToken, from(ip))).status
    }
    const seen = []
    for (const ip of ['10.7.0.1', '10.7.0.1', '10.7.0.1', '10.7.0.1', '10.7.0.2']) seen.push(await ask(ip))
    expect(seen).toEqual([200, 200, 200, 429, 200])
  })

  test(
    'all strangers together have a limit, and a browser that has proved the address has one of its own',
    heavy,
    async () => {
      const email = 'besieged@limits.test'
      const letter = await letterAfter(server, email, () => ask('email/login/send-code', email, from('10.9.0.1')))
      const body = { email, code: codeIn(letter) }
      const proved = await call(server.url, 'POST /api/email/login/verify', body, undefined, from('10.9.0.1'))
      const cookie = /app_browser=([\w-]{43});.*HttpOnly;.*SameSite=Strict/.exec(
        proved.headers.getSetCookie().join('\n'),
      )?.[1]
      expect(cookie).toBeDefined()
      const strangers = []
      for (let at = 2; at <= 12; at++)
        strangers.push((await ask('email/login/send-code', email, from(`10.9.0.${at}`))).status)
      expect(strangers.filter((status) => status === 200)).toHaveLength(8)
      expect(strangers.at(-1)).toBe(429)
      const own = []
      for (let at = 0; at < 4; at++)
        own.push((await ask('email/login/send-link', email, from('10.9.0.40', cookie))).status)
      expect(own).toEqual([200, 200, 200, 429])
      const other = 'besieged-too@limits.test'
      for (let at = 1; at <= 9; at++) await ask('email/login/send-code', other, from(`10.8.0.${at}`))
      for (const forged of [cookie, 'A'.repeat(43), 'x'])
        expect((await ask('email/login/send-code', other, from('10.8.0.50', forged))).status).toBe(429)
      expect((await lettersTo(server, other)).length).toBeLessThanOrEqual(9)
    },
  )
})
