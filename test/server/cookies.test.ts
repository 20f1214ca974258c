// Modes: embedded
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Booted, boot } from '#test/support/boot'
import { call, signed, wallet } from '#test/support/wallet'

let usual: Booted
let one: Booted
let other: Booted
beforeAll(async () => {
  const at = (port: number) => boot({ environment: { PUBLIC_URL: `http://localhost:${port}` } })
  ;[usual, one, other] = await Promise.all([at(3000), at(4501), at(4502)])
})
afterAll(() => Promise.all([usual, one, other].map((server) => server.close())))

/** A browser, which sends the cookies of a host to all of its ports. */
function browser() {
  const kept = new Map<string, string>()
  const cookie = () => [...kept].map(([name, value]) => `${name}=${value}`).join('; ')
  return {
    kept,
    cookie,
    async asks({ url }: Booted, route: string, input: object | null = null) {
      const answer = await call(url, route, input, undefined, kept.size > 0 ? { cookie: cookie() } : {})
      for (const set of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
        if (/Max-Age=0/.test(set)) kept.delete(name)
        else kept.set(name, value)
      }
      return answer
    },
    async signsIn(server: Booted) {
      expect((await this.asks(server, 'POST /api/auth/verify', await signed(server.url, wallet('roams')))).status).toBe(
        200,
      )
    },
    isIn: async (server: Booted) =>
      (await call(server.url, 'GET /api/auth/session', null, undefined, { cookie: cookie() })).status === 200,
  }
}

test('O33: installations on several ports of a host do not sign each other out, in whatever order', async () => {
  for (const order of [
    [one, other, usual],
    [usual, other, one],
  ]) {
    const here = browser()
    for (const server of order) await here.signsIn(server)
    for (const server of order) expect(await here.isIn(server)).toBe(true)
    // A session that is renewed stays its own.
    for (const server of order) expect((await here.asks(server, 'POST /api/auth/session', {})).status).toBe(200)
    for (const server of order) expect(await here.isIn(server)).toBe(true)
    await here.asks(one, 'POST /api/auth/logout')
    expect([await here.isIn(one), await here.isIn(other), await here.isIn(usual)]).toEqual([false, true, true])
  }
})

test('O33: nobody is signed out by the update, as the documented name is read and set everywhere', async () => {
  const here = browser()
  await here.signsIn(one)
  expect([...here.kept.keys()].sort()).toEqual(['app_session', 'app_session_4501'])
  expect(here.kept.get('app_session')).toBe(here.kept.get('app_session_4501'))
  here.kept.delete('app_session_4501')
  expect(await here.isIn(one)).toBe(true)
  await here.asks(one, 'POST /api/auth/session', {})
  expect(here.kept.get('app_session')).toBe(here.kept.get('app_session_4501'))
  here.kept.delete('app_session_4501')
  await here.asks(one, 'POST /api/auth/logout')
  expect([...here.kept.keys()]).toEqual([])
})

test('O33: at the usual port there is one cookie', async () => {
  const here = browser()
  await here.signsIn(usual)
  expect([...here.kept.keys()]).toEqual(['app_session'])
})
